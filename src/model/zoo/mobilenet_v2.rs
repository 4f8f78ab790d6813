//! MobileNet v2, width 1.0, 224 x 224 (arXiv 1801.04381, table 2), 1,001 classes.

use super::builder::{Builder, Conv, LOGITS_GAIN};
use crate::graph::Graph;

/// Expansion, output channels, repeats and stride of the first repeat.
const STAGES: [(usize, usize, usize, usize); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::new("mobilenet_v2", 0x6d6f_6269_6c65_7632, [1, 3, 224, 224]);
    let relu6 = |kernel, stride, channels, depthwise| Conv {
        kernel,
        stride,
        channels,
        depthwise,
        relu6: true,
        // A rectifier keeps half of the mean square, so 2 holds it level (He et al., arXiv 1502.01852).
        gain: 2.0,
    };
    let linear =
        |channels, gain| Conv { kernel: 1, stride: 1, channels, depthwise: false, relu6: false, gain };
    let mut x = b.conv("conv", input, relu6(3, 2, 32, false));
    let mut channels = 32;
    let mut block = 0;
    for (expansion, out, repeats, first_stride) in STAGES {
        for repeat in 0..repeats {
            let stride = if repeat == 0 { first_stride } else { 1 };
            let residual = repeat > 0;
            let mut y = x;
            if expansion > 1 {
                y = b.conv(&format!("block{block}/expand"), y, relu6(1, 1, channels * expansion, false));
            }
            y = b.conv(&format!("block{block}/depthwise"), y, relu6(3, stride, channels * expansion, true));
            // A branch that is added to its input must not double the variance each time.
            let gain = if residual { 0.5 } else { 1.0 };
            y = b.conv(&format!("block{block}/project"), y, linear(out, gain));
            x = if residual { b.add(&format!("block{block}/add"), x, y) } else { y };
            channels = out;
            block += 1;
        }
    }
    x = b.conv("conv_last", x, relu6(1, 1, 1280, false));
    x = b.global_average("pool", x);
    x = b.conv("logits", x, linear(1001, LOGITS_GAIN));
    b.finish(x)
}
