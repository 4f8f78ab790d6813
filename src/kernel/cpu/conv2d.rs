//! Twin of `shaders/conv2d.wgsl`: direct convolution, any groups.

use super::conv_params::ConvParams;
use super::parallel::over_rows;

/// Taps of a longer row are summed in chunks of this many.
const CHUNK: usize = 8;

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let p = ConvParams::read(params);
    let (x, w) = (&inputs[0][p.bases[0]..], &inputs[1][p.bases[1]..]);
    let plane_len = p.input[0] * p.input[1];
    for n in 0..p.batch {
        let planes = p.planes(output, n);
        let work = planes.len() * p.depth();
        over_rows(planes, p.pixels(), 1, work, |first, planes| {
            for (channel, plane) in (first..).zip(planes.chunks_exact_mut(p.pixels())) {
                let group = channel / p.group_out();
                let image =
                    &x[(n * p.in_channels + group * p.group_in()) * plane_len..][..p.group_in() * plane_len];
                plane.fill(0.0);
                let row = &w[channel * p.depth()..][..p.depth()];
                if p.kernel[1] > CHUNK {
                    in_chunks(&p, image, row, plane);
                } else {
                    one_channel(&p, image, row, plane);
                }
                p.finish(inputs, [n, channel, 0], plane);
            }
        });
    }
}

/// As [`one_channel`], each chunk of a row of taps summed by itself.
fn in_chunks(p: &ConvParams, image: &[f32], w: &[f32], plane: &mut [f32]) {
    let mut sum = vec![0.0; plane.len()];
    for row in (0..w.len()).step_by(p.kernel[1]) {
        for first in (row..row + p.kernel[1]).step_by(CHUNK) {
            sum.fill(0.0);
            let end = (first + CHUNK).min(row + p.kernel[1]);
            for (tap, weight) in w.iter().enumerate().take(end).skip(first) {
                one_tap(p, image, tap, *weight, &mut sum);
            }
            for (total, sum) in plane.iter_mut().zip(&sum) {
                *total += sum;
            }
        }
    }
}

/// Adds every tap of every input channel to one output plane: channel by channel, tap by tap, as the shader
/// does.
pub(super) fn one_channel(p: &ConvParams, image: &[f32], w: &[f32], plane: &mut [f32]) {
    for (tap, weight) in w.iter().enumerate() {
        one_tap(p, image, tap, *weight, plane);
    }
}

/// Adds one tap, counted through the input channels, under every output pixel.
fn one_tap(p: &ConvParams, image: &[f32], tap: usize, weight: f32, plane: &mut [f32]) {
    let in_plane = p.input[0] * p.input[1];
    let taps = p.kernel[0] * p.kernel[1];
    let channel = &image[tap / taps * in_plane..][..in_plane];
    let (ky, kx) = (tap % taps / p.kernel[1], tap % p.kernel[1]);
    let columns = inside(p, kx);
    if columns.is_empty() {
        return;
    }
    for (oy, row) in plane.chunks_exact_mut(p.out[1]).enumerate() {
        if let Some(iy) = p.source(0, oy, ky) {
            let from = columns.start * p.stride[1] + kx * p.dilation[1] - p.pad[1];
            let source = &channel[iy * p.input[1]..][from..p.input[1]];
            add_scaled(&mut row[columns.clone()], weight, source, p.stride[1]);
        }
    }
}

/// Output columns whose tap `kx` lies inside the input.
fn inside(p: &ConvParams, kx: usize) -> std::ops::Range<usize> {
    let shift = kx * p.dilation[1];
    let start = p.pad[1].saturating_sub(shift).div_ceil(p.stride[1]);
    let end = (p.input[1] + p.pad[1]).saturating_sub(shift).div_ceil(p.stride[1]).min(p.out[1]);
    start.min(end)..end
}

/// `row[i] += weight * source[i * stride]`.
fn add_scaled(row: &mut [f32], weight: f32, source: &[f32], stride: usize) {
    if stride == 1 {
        for (y, x) in row.iter_mut().zip(source) {
            *y += weight * x;
        }
    } else {
        for (y, x) in row.iter_mut().zip(source.iter().step_by(stride)) {
            *y += weight * x;
        }
    }
}
