//! Twin of `shaders/conv2d_depthwise.wgsl`: one input channel for each group.

use super::conv_params::ConvParams;
use super::conv2d::one_channel;
use super::parallel::over_rows;

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let p = ConvParams::read(params);
    let (x, w) = (&inputs[0][p.bases[0]..], &inputs[1][p.bases[1]..]);
    let in_plane = p.input[0] * p.input[1];
    for n in 0..p.batch {
        let planes = p.planes(output, n);
        let work = planes.len() * p.depth();
        over_rows(planes, p.pixels(), 1, work, |first, planes| {
            for (channel, plane) in (first..).zip(planes.chunks_exact_mut(p.pixels())) {
                let source = n * p.in_channels + channel / p.group_out();
                plane.fill(0.0);
                let image = &x[source * in_plane..][..in_plane];
                one_channel(&p, image, &w[channel * p.depth()..][..p.depth()], plane);
                p.finish(inputs, [n, channel, 0], plane);
            }
        });
    }
}
