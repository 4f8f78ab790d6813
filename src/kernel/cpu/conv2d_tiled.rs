//! Twin of `shaders/conv2d_tiled.wgsl`: convolution as a matrix product of weight rows and gathered input
//! patches.

use super::block::{COLUMNS, DEPTH, multiply_add};
use super::conv_params::ConvParams;
use super::parallel::over_rows;

/// A run of pixels of one output row inside a tile.
struct Run {
    column: usize,
    len: usize,
    oy: usize,
    ox: usize,
}

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let p = ConvParams::read(params);
    let x = &inputs[0][p.bases[0]..];
    let group_plane_len = p.group_in() * p.input[0] * p.input[1];
    for n in 0..p.batch {
        let planes = p.planes(output, n);
        for (group, planes) in planes.chunks_exact_mut(p.group_out() * p.pixels()).enumerate() {
            let image = &x[(n * p.groups + group) * group_plane_len..][..group_plane_len];
            let work = planes.len() * p.depth();
            over_rows(planes, p.pixels(), 4, work, |first, planes| {
                rows(&p, image, inputs, [n, group * p.group_out() + first], planes);
            });
        }
    }
}

/// Computes whole output planes of image `n`, the first of which is `channel` of the dispatch.
fn rows(p: &ConvParams, image: &[f32], inputs: &[&[f32]], [n, channel]: [usize; 2], planes: &mut [f32]) {
    let depth = p.depth();
    let weights = &inputs[1][p.bases[1] + channel * depth..];
    let mut tile = vec![0.0; planes.len() / p.pixels() * COLUMNS];
    let mut panel = vec![0.0; DEPTH.min(depth) * COLUMNS];
    for first_pixel in (0..p.pixels()).step_by(COLUMNS) {
        let runs = runs(p, first_pixel);
        tile.fill(0.0);
        for k in (0..depth).step_by(DEPTH) {
            let panel = &mut panel[..DEPTH.min(depth - k) * COLUMNS];
            for (row, k) in panel.chunks_exact_mut(COLUMNS).zip(k..) {
                gather(p, image, k, &runs, row);
            }
            multiply_add(&mut tile, &weights[k..], depth, panel);
        }
        let len = COLUMNS.min(p.pixels() - first_pixel);
        for (r, plane) in planes.chunks_exact_mut(p.pixels()).enumerate() {
            let row = &mut plane[first_pixel..][..len];
            row.copy_from_slice(&tile[r * COLUMNS..][..len]);
            p.finish(inputs, [n, channel + r, first_pixel], row);
        }
    }
}

/// The output rows that a tile of pixels crosses.
fn runs(p: &ConvParams, first_pixel: usize) -> Vec<Run> {
    let end = (first_pixel + COLUMNS).min(p.pixels());
    let mut runs = Vec::new();
    let mut pixel = first_pixel;
    while pixel < end {
        let (oy, ox) = (pixel / p.out[1], pixel % p.out[1]);
        let len = (p.out[1] - ox).min(end - pixel);
        runs.push(Run { column: pixel - first_pixel, len, oy, ox });
        pixel += len;
    }
    runs
}

/// One row of the panel: input element `k` of the patch (channel, tap) under every pixel, 0 in the padding.
fn gather(p: &ConvParams, image: &[f32], k: usize, runs: &[Run], row: &mut [f32]) {
    let taps = p.kernel[0] * p.kernel[1];
    let (channel, ky, kx) = (k / taps, k % taps / p.kernel[1], k % p.kernel[1]);
    row.fill(0.0);
    for run in runs {
        let Some(iy) = p.source(0, run.oy, ky) else { continue };
        let line = &image[(channel * p.input[0] + iy) * p.input[1]..][..p.input[1]];
        let row = &mut row[run.column..][..run.len];
        let shift = kx * p.dilation[1];
        if p.stride[1] == 1 {
            let skip = p.pad[1].saturating_sub(run.ox + shift).min(run.len);
            let from = (run.ox + skip + shift).saturating_sub(p.pad[1]).min(line.len());
            for (to, x) in row[skip..].iter_mut().zip(&line[from..]) {
                *to = *x;
            }
        } else {
            for (to, ox) in row.iter_mut().zip(run.ox..) {
                *to = p.source(1, ox, kx).map_or(0.0, |ix| line[ix]);
            }
        }
    }
}
