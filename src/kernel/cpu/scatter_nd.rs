//! Twin of `shaders/scatter_nd.wgsl`.

use super::words::{combine, place};

/// Writes slices to places that a tensor of indices names, in the order of the updates.
pub fn scatter_nd(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (inner, op) = (params[3] as usize, params[4]);
    let (places, depth) = (params[5] as usize, params[6] as usize);
    let (extents, strides) = (&params[8..8 + depth], &params[16..16 + depth]);
    let (indices, updates) = (inputs[0], inputs[1]);
    for j in 0..places {
        let steps = indices[j * depth..][..depth].iter().zip(extents).zip(strides);
        let goal: usize =
            steps.map(|((index, extent), stride)| place(*index, *extent) as usize * *stride as usize).sum();
        let slice = output[goal..goal + inner].iter_mut();
        slice.zip(&updates[j * inner..]).for_each(|(out, update)| *out = combine(op, *out, *update));
    }
}
