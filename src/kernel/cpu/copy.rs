//! Twin of `shaders/copy.wgsl`.

use super::rows::{for_each_row, strided};

/// Strided copy; writes only the elements it addresses.
pub fn copy(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let rank = params[3] as usize;
    let dims = &params[8..8 + rank];
    let from_strides = &params[16..16 + rank];
    let to_strides = &params[24..24 + rank];
    let len = dims[rank - 1] as usize;
    let (from_step, to_step) = (from_strides[rank - 1], to_strides[rank - 1]);
    let x = inputs[0];
    for_each_row(dims, [from_strides, to_strides], [params[4], params[5]], |[from, to]| {
        let place = to as usize;
        match (from_step, to_step) {
            (1, 1) => output[place..place + len].copy_from_slice(&x[from as usize..from as usize + len]),
            (0, 1) => output[place..place + len].fill(x[from as usize]),
            (_, 1) => {
                for (out, v) in output[place..place + len].iter_mut().zip(strided(x, from, from_step, len)) {
                    *out = v;
                }
            }
            _ => {
                let mut at = to;
                for v in strided(x, from, from_step, len) {
                    output[at as usize] = v;
                    at = at.wrapping_add(to_step);
                }
            }
        }
    });
}
