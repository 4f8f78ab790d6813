//! The tile that the tiled kernels keep in registers: rows of one operand times a panel of the other.

/// Columns of a tile, as in the shaders.
pub(super) const COLUMNS: usize = 64;
/// Depth of a panel: 32 KiB, so that it stays in the first-level cache.
pub(super) const DEPTH: usize = 128;

/// Rows and columns that stay in registers.
const ROWS: usize = 4;
const LANES: usize = 8;

/// `tile[r][c] += sum over k of a[r * a_stride + k] * panel[k][c]`, each element in ascending k. `tile` and
/// `panel` have [`COLUMNS`] columns; `panel` holds `depth` rows.
pub(super) fn multiply_add(tile: &mut [f32], a: &[f32], a_stride: usize, panel: &[f32]) {
    let depth = panel.len() / COLUMNS;
    for (block, rows) in tile.chunks_mut(ROWS * COLUMNS).enumerate() {
        let row = |r: usize| &a[(block * ROWS + r) * a_stride..][..depth];
        if rows.len() == ROWS * COLUMNS {
            four_rows(rows, [row(0), row(1), row(2), row(3)], panel);
        } else {
            for (r, tile_row) in rows.chunks_exact_mut(COLUMNS).enumerate() {
                one_row(tile_row, row(r), panel);
            }
        }
    }
}

fn four_rows(tile: &mut [f32], a: [&[f32]; ROWS], panel: &[f32]) {
    for column in (0..COLUMNS).step_by(LANES) {
        let mut sum = [[0.0f32; LANES]; ROWS];
        for (r, lanes) in sum.iter_mut().enumerate() {
            lanes.copy_from_slice(&tile[r * COLUMNS + column..][..LANES]);
        }
        let columns = panel.chunks_exact(COLUMNS);
        for ((((b, a0), a1), a2), a3) in columns.zip(a[0]).zip(a[1]).zip(a[2]).zip(a[3]) {
            let b = &b[column..column + LANES];
            for lane in 0..LANES {
                sum[0][lane] += a0 * b[lane];
                sum[1][lane] += a1 * b[lane];
                sum[2][lane] += a2 * b[lane];
                sum[3][lane] += a3 * b[lane];
            }
        }
        for (r, lanes) in sum.iter().enumerate() {
            tile[r * COLUMNS + column..][..LANES].copy_from_slice(lanes);
        }
    }
}

fn one_row(tile: &mut [f32], a: &[f32], panel: &[f32]) {
    for (b, a) in panel.chunks_exact(COLUMNS).zip(a) {
        for (y, b) in tile.iter_mut().zip(b) {
            *y += a * b;
        }
    }
}
