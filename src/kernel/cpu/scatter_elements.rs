//! Twin of `shaders/scatter_elements.wgsl`.

use super::rows::for_each_row;
use super::words::{combine, place};

/// Writes one element for each index; updates of one element count in their order along the axis.
pub fn scatter_elements(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (op, rank) = (params[4], params[5] as usize);
    let (length, step) = (params[6] as usize, params[7] as usize);
    let (extent, axis_stride) = (params[8], params[9] as usize);
    let dims = &params[12..12 + rank];
    let strides = [&params[20..20 + rank], &params[28..28 + rank]];
    let row = [strides[0][rank - 1] as usize, strides[1][rank - 1] as usize];
    for_each_row(dims, strides, [0, 0], |[update, start]| {
        for i in 0..dims[rank - 1] as usize {
            let (update, start) = (update as usize + i * row[0], start as usize + i * row[1]);
            for at in (0..length).map(|j| update + j * step) {
                let goal = start + place(inputs[0][at], extent) as usize * axis_stride;
                output[goal] = combine(op, output[goal], inputs[1][at]);
            }
        }
    });
}
