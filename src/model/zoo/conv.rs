//! Convolutions and pools: how they are laid out, and what comes of a picture's size.

use crate::graph::{UnaryOp, Window};

/// Cells around a picture.
#[derive(Clone, Copy)]
pub(super) enum Padding {
    /// TensorFlow's SAME: as many as make the output the input's size over the stride, an odd one at the end.
    Same,
    /// None: every window lies inside.
    Valid,
    /// So many on each side.
    Each(usize),
}

/// How a convolution is laid out: SAME padding and a fused ReLU unless said otherwise.
#[derive(Clone, Copy)]
pub(super) struct Conv {
    pub kernel: [usize; 2],
    pub stride: usize,
    pub dilation: usize,
    /// Output channels; of a depthwise convolution those of its input.
    pub channels: usize,
    pub depthwise: bool,
    pub groups: usize,
    pub padding: Padding,
    pub activation: Option<UnaryOp>,
    /// Variance of the output over the mean square of the input, before the activation.
    pub gain: f32,
}

impl Conv {
    pub(super) fn new(kernel: usize, channels: usize) -> Conv {
        Conv::rectangle([kernel; 2], channels)
    }

    pub(super) fn rectangle(kernel: [usize; 2], channels: usize) -> Conv {
        Conv {
            kernel,
            stride: 1,
            dilation: 1,
            channels,
            depthwise: false,
            groups: 1,
            padding: Padding::Same,
            activation: Some(UnaryOp::Relu),
            // A rectifier keeps half of the mean square, so 2 holds it level (He et al., arXiv 1502.01852).
            gain: 2.0,
        }
    }

    pub(super) fn depthwise(kernel: usize) -> Conv {
        Conv { depthwise: true, ..Conv::new(kernel, 0) }
    }

    pub(super) fn stride(self, stride: usize) -> Conv {
        Conv { stride, ..self }
    }

    pub(super) fn dilation(self, dilation: usize) -> Conv {
        Conv { dilation, ..self }
    }

    pub(super) fn groups(self, groups: usize) -> Conv {
        Conv { groups, ..self }
    }

    pub(super) fn valid(self) -> Conv {
        Conv { padding: Padding::Valid, ..self }
    }

    pub(super) fn padded(self, cells: usize) -> Conv {
        Conv { padding: Padding::Each(cells), ..self }
    }

    pub(super) fn relu6(self) -> Conv {
        Conv { activation: Some(UnaryOp::Clip { min: 0.0, max: 6.0 }), ..self }
    }

    /// Without an activation, so that a gain of 1 holds the mean square level.
    pub(super) fn linear(self) -> Conv {
        Conv { activation: None, gain: 1.0, ..self }
    }

    pub(super) fn gain(self, gain: f32) -> Conv {
        Conv { gain, ..self }
    }

    /// The window over a picture of that height and width, and the output's.
    pub(super) fn window(&self, size: [usize; 2]) -> (Window, [usize; 2]) {
        window(size, self.kernel, self.stride, self.dilation, self.padding)
    }
}

/// The window over a picture of that height and width, and the output's height and width.
pub(super) fn window(
    size: [usize; 2],
    kernel: [usize; 2],
    stride: usize,
    dilation: usize,
    padding: Padding,
) -> (Window, [usize; 2]) {
    let [(height, top, bottom), (width, left, right)] =
        [0, 1].map(|d| extent(size[d], (kernel[d] - 1) * dilation + 1, stride, padding));
    let window =
        Window { kernel, strides: [stride; 2], pads: [top, left, bottom, right], dilations: [dilation; 2] };
    (window, [height, width])
}

/// Output size, cells before and cells after.
fn extent(size: usize, reach: usize, stride: usize, padding: Padding) -> (usize, usize, usize) {
    match padding {
        Padding::Same => {
            let out = size.div_ceil(stride);
            let total = ((out - 1) * stride + reach).saturating_sub(size);
            (out, total / 2, total - total / 2)
        }
        Padding::Valid => ((size - reach) / stride + 1, 0, 0),
        Padding::Each(cells) => ((size + 2 * cells - reach) / stride + 1, cells, cells),
    }
}
