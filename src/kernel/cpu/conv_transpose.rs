//! Twin of `shaders/conv_transpose.wgsl`: transposed convolution, any groups.

use super::parallel::over_rows;
use super::volume_params::VolumeParams;

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let p = VolumeParams::read(params);
    let (x, w) = (&inputs[0][p.bases[0]..], &inputs[1][p.bases[1]..]);
    let (in_len, out_len) = (p.in_len(), p.out_len());
    let (group_in, group_out, taps) = (p.group_in(), p.group_out(), p.taps());
    let y = &mut output[p.bases[3]..][..p.batch * p.out_channels * out_len];
    let work = p.batch * p.in_channels * in_len * group_out * taps;
    over_rows(y, out_len, 1, work, |first, planes| {
        for (row, plane) in (first..).zip(planes.chunks_exact_mut(out_len)) {
            let (n, channel) = (row / p.out_channels, row % p.out_channels);
            let (group, own) = (channel / group_out, channel % group_out);
            plane.fill(0.0);
            for tap in 0..taps {
                for ic in group * group_in..(group + 1) * group_in {
                    let image = &x[(n * p.in_channels + ic) * in_len..][..in_len];
                    add_tap(&p, image, w[(ic * group_out + own) * taps + tap], p.tap(tap), plane);
                }
            }
            p.add_bias(inputs[2], channel, plane);
        }
    });
}

/// Adds one tap of one input channel to an output channel.
fn add_tap(p: &VolumeParams, x: &[f32], weight: f32, [kz, ky, kx]: [usize; 3], plane: &mut [f32]) {
    // Input and output index of every input that has the tap inside the output.
    let meetings = |axis: usize, tap: usize| {
        (0..p.input[axis]).filter_map(move |i| {
            let at = (i * p.stride[axis] + tap * p.dilation[axis]).checked_sub(p.pad[axis]);
            at.filter(|o| *o < p.out[axis]).map(|o| (i, o))
        })
    };
    for (iz, oz) in meetings(0, kz) {
        for (iy, oy) in meetings(1, ky) {
            let line = &x[(iz * p.input[1] + iy) * p.input[2]..][..p.input[2]];
            let to = &mut plane[(oz * p.out[1] + oy) * p.out[2]..][..p.out[2]];
            for (ix, ox) in meetings(2, kx) {
                to[ox] += weight * line[ix];
            }
        }
    }
}
