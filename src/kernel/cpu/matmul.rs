//! Twin of `shaders/matmul.wgsl`: batched matrix product by tiles.

use super::block::{COLUMNS, DEPTH, multiply_add};
use super::matmul_params::MatmulParams;
use super::parallel::over_rows;

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let p = MatmulParams::read(params);
    for batch in 0..p.batches() {
        let [a, b, y] = p.matrix_starts(batch);
        // The last row ends where the matrix does, though a column segment's rows are y_m apart.
        let y = &mut output[y..][..(p.m - 1) * p.y_m + p.n];
        over_rows(y, p.y_m, 4, p.m * p.n * p.k, |first, rows| {
            let a = inputs[0].get(a + first * p.a[0]..).unwrap_or_default();
            let b = inputs[1].get(b..).unwrap_or_default();
            some_rows(&p, [a, b], inputs, [batch, first], rows);
        });
    }
}

/// Computes output rows `first..` of matrix `batch`, whose first element of `a` is `a[0]`.
fn some_rows(
    p: &MatmulParams,
    [a, b]: [&[f32]; 2],
    inputs: &[&[f32]],
    [batch, first]: [usize; 2],
    rows: &mut [f32],
) {
    let count = rows.len().div_ceil(p.y_m);
    let mut tile = vec![0.0; count * COLUMNS];
    let mut panel = vec![0.0; DEPTH.min(p.k) * COLUMNS];
    let mut a_rows = vec![0.0; DEPTH.min(p.k) * count];
    for column in (0..p.n).step_by(COLUMNS) {
        let len = COLUMNS.min(p.n - column);
        tile.fill(0.0);
        for k in (0..p.k).step_by(DEPTH) {
            let depth = DEPTH.min(p.k - k);
            let panel = &mut panel[..depth * COLUMNS];
            gather_b(p, b, k, column..column + len, panel);
            if p.a[1] == 1 {
                multiply_add(&mut tile, &a[k..], p.a[0], panel);
            } else {
                for (r, a_row) in a_rows.chunks_exact_mut(depth).take(count).enumerate() {
                    for (to, k) in a_row.iter_mut().zip(k..) {
                        *to = a[r * p.a[0] + k * p.a[1]];
                    }
                }
                multiply_add(&mut tile, &a_rows, depth, panel);
            }
        }
        for (r, row) in rows.chunks_mut(p.y_m).enumerate() {
            for ((y, sum), n) in row[column..][..len].iter_mut().zip(&tile[r * COLUMNS..]).zip(column..) {
                *y = p.finish(*sum, inputs, [batch, first + r, n], *y);
            }
        }
    }
}

/// The panel of `b`: `COLUMNS` columns, 0 past the last.
fn gather_b(p: &MatmulParams, b: &[f32], k: usize, columns: std::ops::Range<usize>, panel: &mut [f32]) {
    panel.fill(0.0);
    if p.b[1] == 1 {
        for (row, k) in panel.chunks_exact_mut(COLUMNS).zip(k..) {
            row[..columns.len()].copy_from_slice(&b[k * p.b[0] + columns.start..][..columns.len()]);
        }
        return;
    }
    for (column, n) in columns.enumerate() {
        for (row, k) in panel.chunks_exact_mut(COLUMNS).zip(k..) {
            row[column] = b[k * p.b[0] + n * p.b[1]];
        }
    }
}
