//! Twin of `shaders/matvec.wgsl`: a few rows times a matrix, each sum in `split` interleaved parts.

use super::matmul_params::MatmulParams;
use super::parallel::over_rows;

/// Most parts of a sum; the shader's workgroup size.
const MOST_PARTS: usize = 64;
/// Columns whose parts are kept at once.
const STRIPE: usize = 256;

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let p = MatmulParams::read(params);
    for batch in 0..p.batches() {
        let [a, b, y] = p.matrix_starts(batch);
        for row in 0..p.m {
            let a_row: Vec<f32> = (0..p.k).map(|k| inputs[0][a + row * p.a[0] + k * p.a[1]]).collect();
            let y = &mut output[y + row * p.y_m..][..p.n];
            over_rows(y, 1, 1, p.n * p.k, |first, y| {
                let b = inputs[1].get(b + first * p.b[1]..).unwrap_or_default();
                for (stripe, y) in y.chunks_mut(STRIPE).enumerate() {
                    let b = b.get(stripe * STRIPE * p.b[1]..).unwrap_or_default();
                    let mut sums = [0.0f32; STRIPE];
                    stripe_sums(&p, &a_row, b, &mut sums[..y.len()]);
                    for (i, (y, sum)) in y.iter_mut().zip(sums).enumerate() {
                        let column = first + stripe * STRIPE + i;
                        *y = p.finish(sum, inputs, [batch, row, column], *y);
                    }
                }
            });
        }
    }
}

/// Sums of the columns that start at `b[0]`.
fn stripe_sums(p: &MatmulParams, a: &[f32], b: &[f32], sums: &mut [f32]) {
    if p.b[0] == 1 && p.split == 16 {
        for (n, sum) in sums.iter_mut().enumerate() {
            *sum = dot::<16>(a, &b[n * p.b[1]..][..p.k]);
        }
        return;
    }
    let mut parts = vec![0.0f32; p.split.min(MOST_PARTS) * sums.len()];
    for (k, a) in a.iter().enumerate() {
        let part = &mut parts[k % p.split * sums.len()..][..sums.len()];
        if p.b[1] == 1 {
            for (part, b) in part.iter_mut().zip(&b[k * p.b[0]..]) {
                *part += a * b;
            }
        } else {
            for (n, part) in part.iter_mut().enumerate() {
                *part += a * b[k * p.b[0] + n * p.b[1]];
            }
        }
    }
    for part in parts.chunks_exact(sums.len()) {
        for (sum, part) in sums.iter_mut().zip(part) {
            *sum += part;
        }
    }
}

/// Product of two contiguous rows in `PARTS` interleaved sums, added up in order.
fn dot<const PARTS: usize>(a: &[f32], b: &[f32]) -> f32 {
    let mut parts = [0.0f32; PARTS];
    let (a_whole, b_whole) = (a.chunks_exact(PARTS), b.chunks_exact(PARTS));
    let (a_rest, b_rest) = (a_whole.remainder(), b_whole.remainder());
    for (a, b) in a_whole.zip(b_whole) {
        for ((part, a), b) in parts.iter_mut().zip(a).zip(b) {
            *part += a * b;
        }
    }
    for ((part, a), b) in parts.iter_mut().zip(a_rest).zip(b_rest) {
        *part += a * b;
    }
    parts.iter().fold(0.0, |sum, part| sum + part)
}
