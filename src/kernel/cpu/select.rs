//! Twin of `shaders/select.wgsl`.

use super::rows::{for_each_row, strided};

/// Chooses between two tensors with broadcasting.
pub fn select(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let rank = params[5] as usize;
    let strides = |k: usize| &params[20 + 8 * k..20 + 8 * k + rank];
    let dims = &params[12..12 + rank];
    let len = dims[rank - 1] as usize;
    let starts = [params[6], params[7], params[8]];
    let mut rows = output.chunks_exact_mut(len.max(1));
    for_each_row(dims, [strides(0), strides(1), strides(2)], starts, |at| {
        let Some(row) = rows.next() else { return };
        let [c, a, b] = [0, 1, 2].map(|k| strided(inputs[k], at[k], strides(k)[rank - 1], len));
        for ((out, c), (a, b)) in row.iter_mut().zip(c).zip(a.zip(b)) {
            *out = if c.to_bits() != 0 { a } else { b };
        }
    });
}
