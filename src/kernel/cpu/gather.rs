//! Twin of `shaders/gather.wgsl`.

use super::words::place;

/// Reads slices at places that a tensor of indices names.
pub fn gather(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (places, inner, depth) = (params[4] as usize, params[5] as usize, params[6] as usize);
    let (outer_stride, outer_places) = (params[7] as usize, params[8] as usize);
    let (start, bound, x_start) = (params[9], params[10], params[11] as usize);
    let (extents, strides) = (&params[12..12 + depth], &params[20..20 + depth]);
    let (x, indices) = (inputs[0], inputs[1]);
    for (slice, out) in output.chunks_exact_mut(inner).enumerate() {
        let (o, j) = (slice / places, slice % places);
        let first = (o * outer_places + j) * depth;
        let row = place(indices[first], extents[0]);
        if row < start || row - start >= bound {
            continue;
        }
        let steps = indices[first + 1..first + depth].iter().zip(&extents[1..]).zip(&strides[1..]);
        let inside: usize =
            steps.map(|((index, extent), stride)| place(*index, *extent) as usize * *stride as usize).sum();
        let inside = inside + (row - start) as usize * strides[0] as usize;
        out.copy_from_slice(&x[x_start + o * outer_stride + inside..][..inner]);
    }
}
