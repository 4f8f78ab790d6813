//! The parameter block that the three convolution kernels share.

use super::activation::Activation;

/// Words of the block before padding.
const WORDS: usize = 28;

/// The block, read; counts are elements. Field order is the WGSL struct's.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConvParams {
    pub(super) bases: [usize; 5],
    pub(super) batch: usize,
    pub(super) in_channels: usize,
    pub(super) input: [usize; 2],
    /// Channels of the whole output, of which this dispatch computes `channels` from `first_channel` on.
    pub(super) out_channels: usize,
    pub(super) out: [usize; 2],
    pub(super) groups: usize,
    pub(super) kernel: [usize; 2],
    pub(super) stride: [usize; 2],
    pub(super) pad: [usize; 2],
    pub(super) dilation: [usize; 2],
    pub(super) first_channel: usize,
    pub(super) channels: usize,
    has_bias: bool,
    has_addend: bool,
    pub(super) activation: Activation,
}

impl ConvParams {
    /// Reads a block that `lower_conv` wrote.
    pub(super) fn read(params: &[u32]) -> Self {
        assert!(params.len() >= WORDS, "a convolution block has {WORDS} words, not {}", params.len());
        let word = |i: usize| params[i] as usize;
        let pair = |i: usize| [word(i), word(i + 1)];
        ConvParams {
            bases: [word(0), word(1), word(2), word(3), word(4)],
            batch: word(5),
            in_channels: word(6),
            input: pair(7),
            out_channels: word(9),
            out: pair(10),
            groups: word(12),
            kernel: pair(13),
            stride: pair(15),
            pad: pair(17),
            dilation: pair(19),
            first_channel: word(21),
            channels: word(22),
            has_bias: word(23) != 0,
            activation: Activation::read([params[24], params[25], params[26]]),
            has_addend: word(27) != 0,
        }
    }

    /// Pixels of one output channel.
    pub(super) fn pixels(&self) -> usize {
        self.out[0] * self.out[1]
    }

    /// Input channels that one output channel sees.
    pub(super) fn group_in(&self) -> usize {
        self.in_channels / self.groups
    }

    /// Output channels of one group in this dispatch.
    pub(super) fn group_out(&self) -> usize {
        self.channels / self.groups
    }

    /// Multiply-adds of one output element, and the length of a weight row.
    pub(super) fn depth(&self) -> usize {
        self.group_in() * self.kernel[0] * self.kernel[1]
    }

    /// Input row or column (axis 0 or 1) under tap `tap` of the window at `at`; `None` in the padding.
    pub(super) fn source(&self, axis: usize, at: usize, tap: usize) -> Option<usize> {
        (at * self.stride[axis] + tap * self.dilation[axis])
            .checked_sub(self.pad[axis])
            .filter(|i| *i < self.input[axis])
    }

    /// Adds the bias of a channel of this dispatch and the addend, and applies the activation; `row` are the
    /// pixels of image `n` from `first_pixel` on.
    pub(super) fn finish(&self, inputs: &[&[f32]], [n, channel, first_pixel]: [usize; 3], row: &mut [f32]) {
        let channel = self.first_channel + channel;
        let bias = if self.has_bias { inputs[2][self.bases[2] + channel] } else { 0.0 };
        if !self.has_addend {
            row.iter_mut().for_each(|y| *y = self.activation.apply(*y + bias));
            return;
        }
        let first = self.bases[3] + (n * self.out_channels + channel) * self.pixels() + first_pixel;
        for (y, addend) in row.iter_mut().zip(&inputs[3][first..]) {
            *y = self.activation.apply(*y + bias + addend);
        }
    }

    /// The channels of this dispatch in image `n`, contiguous planes.
    pub(super) fn planes<'a>(&self, output: &'a mut [f32], n: usize) -> &'a mut [f32] {
        let first = self.bases[4] + (n * self.out_channels + self.first_channel) * self.pixels();
        &mut output[first..][..self.channels * self.pixels()]
    }
}
