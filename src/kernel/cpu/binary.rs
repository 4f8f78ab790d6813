//! Twin of `shaders/binary.wgsl`.

use super::rows::for_each_pair;

/// Element-wise function of two tensors with broadcasting.
pub fn binary(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    match params[4] {
        0 => for_each_pair(params, 8, inputs, output, |v, w| v + w),
        1 => for_each_pair(params, 8, inputs, output, |v, w| v - w),
        2 => for_each_pair(params, 8, inputs, output, |v, w| v * w),
        3 => for_each_pair(params, 8, inputs, output, |v, w| v / w),
        4 => for_each_pair(params, 8, inputs, output, power),
        5 => for_each_pair(params, 8, inputs, output, |v, w| if v < 0.0 { v * w } else { v }),
        6 => for_each_pair(params, 8, inputs, output, |v, w| if v < w || v.is_nan() { v } else { w }),
        7 => for_each_pair(params, 8, inputs, output, |v, w| if v > w || v.is_nan() { v } else { w }),
        _ => for_each_pair(params, 8, inputs, output, |v, w| v - w * (v / w).trunc()),
    }
}

/// The shader's power, case by case.
fn power(v: f32, e: f32) -> f32 {
    let whole = e.floor() == e;
    if whole && e.abs() <= 8.0 {
        let mut product = 1.0;
        for _ in 0..e.abs() as u32 {
            product *= v;
        }
        return if e < 0.0 { 1.0 / product } else { product };
    }
    if e == 0.5 {
        return v.sqrt();
    }
    if v == 0.0 {
        return if e > 0.0 { 0.0 } else { 1.0 / v.abs() };
    }
    let magnitude = v.abs().powf(e);
    if v >= 0.0 {
        return magnitude;
    }
    if !whole {
        return v.sqrt();
    }
    let odd = (e * 0.5).floor() != e * 0.5;
    if odd { -magnitude } else { magnitude }
}
