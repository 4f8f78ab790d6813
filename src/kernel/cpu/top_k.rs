//! Twin of `shaders/top_k.wgsl`.

use super::words::{key, word};

/// The k largest (or least) elements of each row, in order, or where they stand.
pub fn top_k(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (count, axis, inner, k) =
        (params[2] as usize, params[3] as usize, params[4] as usize, params[5] as usize);
    let (floats, largest, places) = (params[6] == 1, params[7] == 1, params[8] == 1);
    let x = inputs[0];
    for i in 0..count {
        let (n, at, o) = (i % inner, i / inner % axis, i / inner / axis);
        let row = o * axis * inner + n;
        let own = key(x[i], floats);
        let before = |j: &usize| {
            let other = key(x[row + j * inner], floats);
            (if largest { other > own } else { other < own }) || (other == own && *j < at)
        };
        let rank = (0..axis).filter(before).count();
        if rank < k {
            output[(o * k + rank) * inner + n] = if places { word(at as i32) } else { x[i] };
        }
    }
}
