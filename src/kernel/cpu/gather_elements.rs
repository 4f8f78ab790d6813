//! Twin of `shaders/gather_elements.wgsl`.

use super::rows::for_each_row;
use super::words::place;

/// Reads one element for each index.
pub fn gather_elements(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let rank = params[4] as usize;
    let (extent, axis_stride) = (params[5], params[6] as usize);
    let (dims, strides) = (&params[8..8 + rank], &params[16..16 + rank]);
    let len = dims[rank - 1] as usize;
    let mut rows = output.chunks_exact_mut(len.max(1)).zip(inputs[1].chunks_exact(len.max(1)));
    for_each_row(dims, [strides], [0], |[start]| {
        let Some((row, indices)) = rows.next() else { return };
        let mut source = start as usize;
        for (out, index) in row.iter_mut().zip(indices) {
            *out = inputs[0][source + place(*index, extent) as usize * axis_stride];
            source += strides[rank - 1] as usize;
        }
    });
}
