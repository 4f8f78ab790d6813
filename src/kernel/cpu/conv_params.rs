//! The parameter block that the three convolution kernels share.

use super::activation::Activation;

/// Words of the block before padding.
const WORDS: usize = 26;

/// The block, read; counts are elements. Field order is the WGSL struct's.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConvParams {
    pub(super) bases: [usize; 4],
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
    pub(super) activation: Activation,
}

impl ConvParams {
    /// Reads a block that `lower_conv` wrote.
    pub(super) fn read(params: &[u32]) -> Self {
        assert!(params.len() >= WORDS, "a convolution block has {WORDS} words, not {}", params.len());
        let word = |i: usize| params[i] as usize;
        let pair = |i: usize| [word(i), word(i + 1)];
        ConvParams {
            bases: [word(0), word(1), word(2), word(3)],
            batch: word(4),
            in_channels: word(5),
            input: pair(6),
            out_channels: word(8),
            out: pair(9),
            groups: word(11),
            kernel: pair(12),
            stride: pair(14),
            pad: pair(16),
            dilation: pair(18),
            first_channel: word(20),
            channels: word(21),
            has_bias: word(22) != 0,
            activation: Activation::read([params[23], params[24], params[25]]),
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

    /// Adds the bias of a channel of this dispatch and applies the activation.
    pub(super) fn finish(&self, bias: &[f32], channel: usize, row: &mut [f32]) {
        let bias = if self.has_bias { bias[self.bases[2] + self.first_channel + channel] } else { 0.0 };
        for y in row {
            *y = self.activation.apply(*y + bias);
        }
    }

    /// The channels of this dispatch in image `n`, contiguous planes.
    pub(super) fn planes<'a>(&self, output: &'a mut [f32], n: usize) -> &'a mut [f32] {
        let first = self.bases[3] + (n * self.out_channels + self.first_channel) * self.pixels();
        &mut output[first..][..self.channels * self.pixels()]
    }
}
