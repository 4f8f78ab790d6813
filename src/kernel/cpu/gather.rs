//! Twin of `shaders/gather.wgsl`.

use super::words::place;

/// Reads slices at places that a tensor of indices names.
pub fn gather(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (places, inner, depth) = (params[4] as usize, params[5] as usize, params[6] as usize);
    let (outer_stride, outer_places) = (params[7] as usize, params[8] as usize);
    let (extents, strides) = (&params[12..12 + depth], &params[20..20 + depth]);
    let (x, indices) = (inputs[0], inputs[1]);
    for (slice, out) in output.chunks_exact_mut(inner).enumerate() {
        let (o, j) = (slice / places, slice % places);
        let first = (o * outer_places + j) * depth;
        let steps = indices[first..first + depth].iter().zip(extents).zip(strides);
        let inside: usize =
            steps.map(|((index, extent), stride)| place(*index, *extent) as usize * *stride as usize).sum();
        out.copy_from_slice(&x[o * outer_stride + inside..][..inner]);
    }
}
