//! The parameter block that the convolutions over three dimensions share.

/// The block, read; counts are elements. Field order is the WGSL struct's.
#[derive(Debug, Clone, Copy)]
pub(super) struct VolumeParams {
    pub(super) bases: [usize; 4],
    pub(super) batch: usize,
    pub(super) in_channels: usize,
    pub(super) input: [usize; 3],
    pub(super) out_channels: usize,
    pub(super) out: [usize; 3],
    groups: usize,
    kernel: [usize; 3],
    pub(super) stride: [usize; 3],
    pub(super) pad: [usize; 3],
    pub(super) dilation: [usize; 3],
    has_bias: bool,
}

impl VolumeParams {
    pub(super) fn read(params: &[u32]) -> Self {
        let word = |i: usize| params[i] as usize;
        let triple = |i: usize| [word(i), word(i + 1), word(i + 2)];
        VolumeParams {
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

    /// Elements of one input channel.
    pub(super) fn in_len(&self) -> usize {
        self.input.iter().product()
    }

    /// Elements of one output channel.
    pub(super) fn out_len(&self) -> usize {
        self.out.iter().product()
    }

    /// Input channels of one group.
    pub(super) fn group_in(&self) -> usize {
        self.in_channels / self.groups
    }

    /// Output channels of one group.
    pub(super) fn group_out(&self) -> usize {
        self.out_channels / self.groups
    }

    /// Taps of the kernel.
    pub(super) fn taps(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Depth, row and column of a tap.
    pub(super) fn tap(&self, tap: usize) -> [usize; 3] {
        [tap / self.kernel[2] / self.kernel[1], tap / self.kernel[2] % self.kernel[1], tap % self.kernel[2]]
    }

    /// Adds the bias of an output channel to its elements.
    pub(super) fn add_bias(&self, bias: &[f32], channel: usize, plane: &mut [f32]) {
        if self.has_bias {
            let bias = bias[self.bases[2] + channel];
            plane.iter_mut().for_each(|v| *v += bias);
        }
    }
}
