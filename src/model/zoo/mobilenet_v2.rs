//! MobileNet v2, width 1.0, 224 x 224 (arXiv 1801.04381, table 2), 1,001 classes.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::Conv;
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
    let (mut b, input) = Builder::picture("mobilenet_v2", 0x6d6f_6269_6c65_7632, [1, 3, 224, 224]);
    let mut x = b.conv("conv", input, Conv::new(3, 32).stride(2).relu6());
    let mut channels = 32;
    let mut block = 0;
    for (expansion, out, repeats, first_stride) in STAGES {
        for repeat in 0..repeats {
            let stride = if repeat == 0 { first_stride } else { 1 };
            let residual = repeat > 0;
            let mut y = x;
            if expansion > 1 {
                y = b.conv(&format!("block{block}/expand"), y, Conv::new(1, channels * expansion).relu6());
            }
            y = b.conv(&format!("block{block}/depthwise"), y, Conv::depthwise(3).stride(stride).relu6());
            // A branch that is added to its input must not double the variance each time.
            let gain = if residual { 0.5 } else { 1.0 };
            y = b.conv(&format!("block{block}/project"), y, Conv::new(1, out).linear().gain(gain));
            x = if residual { b.add(&format!("block{block}/add"), x, y) } else { y };
            channels = out;
            block += 1;
        }
    }
    x = b.conv("conv_last", x, Conv::new(1, 1280).relu6());
    x = b.global_average("pool", x);
    x = b.conv("logits", x, Conv::new(1, 1001).linear().gain(LOGITS_GAIN));
    b.classify(x)
}
