//! Twin of `shaders/binary.wgsl`.

use super::rows::{for_each_row, strided};

/// Element-wise function of two tensors with broadcasting.
pub fn binary(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    match params[4] {
        0 => map(params, inputs, output, |v, w| v + w),
        1 => map(params, inputs, output, |v, w| v - w),
        2 => map(params, inputs, output, |v, w| v * w),
        3 => map(params, inputs, output, |v, w| v / w),
        4 => map(params, inputs, output, power),
        _ => map(params, inputs, output, |v, w| if v < 0.0 { v * w } else { v }),
    }
}

fn map(params: &[u32], inputs: &[&[f32]], output: &mut [f32], f: impl Fn(f32, f32) -> f32) {
    let rank = params[5] as usize;
    let dims = &params[8..8 + rank];
    let (a_strides, b_strides) = (&params[16..16 + rank], &params[24..24 + rank]);
    let (a_step, b_step) = (a_strides[rank - 1], b_strides[rank - 1]);
    let (a, b) = (inputs[0], inputs[1]);
    let len = dims[rank - 1] as usize;
    let mut place = 0;
    for_each_row(dims, [a_strides, b_strides], [params[6], params[7]], |[left, right]| {
        let row = &mut output[place..place + len];
        place += len;
        let (l, r) = (left as usize, right as usize);
        match (a_step, b_step) {
            (1, 1) => {
                for ((out, v), w) in row.iter_mut().zip(&a[l..l + len]).zip(&b[r..r + len]) {
                    *out = f(*v, *w);
                }
            }
            (1, 0) => row.iter_mut().zip(&a[l..l + len]).for_each(|(out, v)| *out = f(*v, b[r])),
            (0, 1) => row.iter_mut().zip(&b[r..r + len]).for_each(|(out, w)| *out = f(a[l], *w)),
            _ => {
                let pairs = strided(a, left, a_step, len).zip(strided(b, right, b_step, len));
                row.iter_mut().zip(pairs).for_each(|(out, (v, w))| *out = f(v, w));
            }
        }
    });
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
