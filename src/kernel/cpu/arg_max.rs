//! Twin of `shaders/arg_max.wgsl`.

use super::words::{key, word};

/// Where the largest (or least) element of each row stands.
pub fn arg_max(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (axis, inner) = (params[3] as usize, params[4] as usize);
    let (floats, largest, last) = (params[5] == 1, params[6] == 1, params[7] == 1);
    for (i, out) in output.iter_mut().enumerate() {
        let row = i / inner * axis * inner + i % inner;
        let (mut best, mut at) = (key(inputs[0][row], floats), 0);
        for j in 1..axis {
            let other = key(inputs[0][row + j * inner], floats);
            let better = if largest { other > best } else { other < best };
            if better || (other == best && last) {
                (best, at) = (other, j);
            }
        }
        *out = word(at as i32);
    }
}
