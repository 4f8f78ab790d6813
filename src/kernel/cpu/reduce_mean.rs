//! Twin of `shaders/reduce_mean.wgsl`.

use super::rows::for_each_row;

/// Mean over any axes.
pub fn reduce_mean(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (reduced, lanes) = (params[3] as usize, params[4] as usize);
    let (kept_rank, reduced_rank) = (params[5] as usize, params[6] as usize);
    let x = inputs[0];
    let kept = offsets(&params[8..8 + kept_rank], &params[16..16 + kept_rank]);
    let taps = offsets(&params[24..24 + reduced_rank], &params[32..32 + reduced_rank]);
    let contiguous = reduced_rank == 1 && params[32] == 1;
    let mut partial = vec![0.0f32; lanes];
    for (out, start) in output.iter_mut().zip(kept) {
        partial.fill(0.0);
        if contiguous {
            let start = start as usize;
            for chunk in x[start..start + reduced].chunks(lanes) {
                partial.iter_mut().zip(chunk).for_each(|(sum, v)| *sum += v);
            }
        } else {
            for chunk in taps.chunks(lanes) {
                for (sum, tap) in partial.iter_mut().zip(chunk) {
                    *sum += x[start.wrapping_add(*tap) as usize];
                }
            }
        }
        *out = tree_sum(&mut partial) / reduced as f32;
    }
}

/// Every offset of a strided space, in row-major order.
fn offsets(dims: &[u32], strides: &[u32]) -> Vec<u32> {
    let (len, step) = (dims[dims.len() - 1], strides[strides.len() - 1]);
    let mut all = Vec::new();
    for_each_row(dims, [strides], [0], |[start]| {
        all.extend((0..len).map(|i| start.wrapping_add(i.wrapping_mul(step))));
    });
    all
}

/// Adds a power of two of lanes in the shader's order: the upper half onto the lower half, again and again.
pub(super) fn tree_sum(partial: &mut [f32]) -> f32 {
    let mut half = partial.len() / 2;
    while half > 0 {
        let (low, high) = partial.split_at_mut(half);
        low.iter_mut().zip(high).for_each(|(sum, v)| *sum += *v);
        half /= 2;
    }
    partial[0]
}
