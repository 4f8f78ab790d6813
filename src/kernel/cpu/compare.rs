//! Twin of `shaders/compare.wgsl`.

use super::rows::for_each_pair;
use super::words::word;

/// Compares two tensors of floats with broadcasting.
pub fn compare(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let holds = |v: f32, w: f32| match params[4] {
        15 => v == w,
        16 => v < w,
        17 => v > w,
        18 => v <= w,
        _ => v >= w,
    };
    for_each_pair(params, 8, inputs, output, |v, w| word(i32::from(holds(v, w))));
}
