//! Twin of `shaders/cum_sum.wgsl`.

use super::words::{int, word};

/// Running sums along one axis.
pub fn cum_sum(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (count, axis, inner) = (params[2] as usize, params[3] as usize, params[4] as usize);
    let (floats, exclusive, reverse) = (params[5] == 1, params[6] == 1, params[7] == 1);
    for i in 0..count {
        let row = i / inner * axis * inner + i % inner;
        let mut sum = 0.0;
        for j in 0..axis {
            let at = row + if reverse { axis - 1 - j } else { j } * inner;
            let (former, element) = (sum, inputs[0][at]);
            sum = if floats { sum + element } else { word(int(sum).wrapping_add(int(element))) };
            output[at] = if exclusive { former } else { sum };
        }
    }
}
