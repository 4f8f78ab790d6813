//! Twin of `shaders/conv_transpose.wgsl`: transposed convolution, any groups.

use super::parallel::over_rows;

/// The parameter block, read; counts are elements.
struct Block {
    bases: [usize; 4],
    batch: usize,
    in_channels: usize,
    input: [usize; 3],
    out_channels: usize,
    out: [usize; 3],
    groups: usize,
    kernel: [usize; 3],
    stride: [usize; 3],
    pad: [usize; 3],
    dilation: [usize; 3],
    has_bias: bool,
}

impl Block {
    fn read(params: &[u32]) -> Block {
        let word = |i: usize| params[i] as usize;
        let triple = |i: usize| [word(i), word(i + 1), word(i + 2)];
        Block {
            bases: [word(0), word(1), word(2), word(3)],
            batch: word(4),
            in_channels: word(5),
            input: triple(6),
            out_channels: word(9),
            out: triple(10),
            groups: word(13),
            kernel: triple(14),
            stride: triple(17),
            pad: triple(20),
            dilation: triple(23),
            has_bias: word(26) != 0,
        }
    }

    /// Input and output index along an axis, for every input that has tap `tap` inside the output.
    fn meetings(&self, axis: usize, tap: usize) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        let place = move |i: usize| {
            let at = i * self.stride[axis] + tap * self.dilation[axis];
            at.checked_sub(self.pad[axis]).filter(|at| *at < self.out[axis]).map(|at| (i, at))
        };
        (0..self.input[axis]).filter_map(place)
    }

    /// Adds one tap of one input channel to an output channel.
    fn add_tap(&self, x: &[f32], weight: f32, [kz, ky, kx]: [usize; 3], plane: &mut [f32]) {
        for (iz, oz) in self.meetings(0, kz) {
            for (iy, oy) in self.meetings(1, ky) {
                let from = &x[(iz * self.input[1] + iy) * self.input[2]..][..self.input[2]];
                let to = &mut plane[(oz * self.out[1] + oy) * self.out[2]..][..self.out[2]];
                for (ix, ox) in self.meetings(2, kx) {
                    to[ox] += weight * from[ix];
                }
            }
        }
    }
}

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let p = Block::read(params);
    let (x, w) = (&inputs[0][p.bases[0]..], &inputs[1][p.bases[1]..]);
    let (in_len, out_len) = (p.input.iter().product::<usize>(), p.out.iter().product::<usize>());
    let (group_in, group_out) = (p.in_channels / p.groups, p.out_channels / p.groups);
    let taps: usize = p.kernel.iter().product();
    let y = &mut output[p.bases[3]..][..p.batch * p.out_channels * out_len];
    let work = p.batch * p.in_channels * in_len * group_out * taps;
    over_rows(y, out_len, 1, work, |first, planes| {
        for (row, plane) in (first..).zip(planes.chunks_exact_mut(out_len)) {
            let (n, channel) = (row / p.out_channels, row % p.out_channels);
            let (group, own) = (channel / group_out, channel % group_out);
            plane.fill(0.0);
            for tap in 0..taps {
                let k = [tap / p.kernel[2] / p.kernel[1], tap / p.kernel[2] % p.kernel[1], tap % p.kernel[2]];
                for ic in group * group_in..(group + 1) * group_in {
                    let image = &x[(n * p.in_channels + ic) * in_len..][..in_len];
                    p.add_tap(image, w[(ic * group_out + own) * taps + tap], k, plane);
                }
            }
            if p.has_bias {
                let bias = inputs[2][p.bases[2] + channel];
                plane.iter_mut().for_each(|v| *v += bias);
            }
        }
    });
}
