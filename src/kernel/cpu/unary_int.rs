//! Twin of `shaders/unary_int.wgsl`.

use super::words::{int, narrow, word};

/// Element-wise function of one tensor of integers.
pub fn unary_int(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (a, b, wrap) = (params[4] as i32, params[5] as i32, params[6]);
    let f = |v: i32| match params[3] {
        0 => v.wrapping_neg(),
        1 => v.wrapping_abs(),
        2 => v.signum(),
        3 => i32::from(v == 0),
        4 => !v,
        5 => v.max(a).min(b),
        _ => v.max(0),
    };
    for (out, v) in output.iter_mut().zip(inputs[0]) {
        *out = word(narrow(f(int(*v)), wrap));
    }
}
