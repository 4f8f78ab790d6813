//! Twin of `shaders/pad.wgsl`.

use super::float;

/// Padding of every dimension.
pub fn pad(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let rank = params[3] as usize;
    let (mode, value) = (params[5], float(params, 6));
    let dims = &params[8..8 + rank];
    let sources: Vec<Vec<Option<u32>>> = (0..rank)
        .map(|d| {
            let (extent, before, stride) = (params[16 + d], params[24 + d], params[32 + d]);
            let resolved = (0..dims[d]).map(|i| resolve(i, before, extent, mode));
            resolved.map(|c| (c < extent).then(|| c.wrapping_mul(stride))).collect()
        })
        .collect();
    let Some((inner, outer)) = sources.split_last() else { return };
    let mut coords = vec![0usize; rank - 1];
    for row in output.chunks_exact_mut(inner.len()) {
        let start = coords
            .iter()
            .zip(outer)
            .try_fold(params[4], |sum, (c, source)| source[*c].map(|offset| sum.wrapping_add(offset)));
        for (out, source) in row.iter_mut().zip(inner) {
            *out = match (start, source) {
                (Some(start), Some(offset)) => inputs[0][start.wrapping_add(*offset) as usize],
                _ => value,
            };
        }
        for d in (0..rank - 1).rev() {
            coords[d] = (coords[d] + 1) % outer[d].len();
            if coords[d] != 0 {
                break;
            }
        }
    }
}

/// The shader's index rule: an index in `0..extent`, or `extent` where nothing is read.
fn resolve(i: u32, before: u32, extent: u32, mode: u32) -> u32 {
    if i >= before && i - before < extent {
        return i - before;
    }
    if mode == 0 {
        return extent;
    }
    if mode == 2 || extent == 1 {
        return if i >= before { extent - 1 } else { 0 };
    }
    if mode == 3 {
        return if i >= before { (i - before) % extent } else { (extent - (before - i) % extent) % extent };
    }
    let period = 2 * (extent - 1);
    let distance = i.abs_diff(before) % period;
    distance.min(period - distance)
}
