//! DeepLab v3 over MobileNet v2 of width 0.5, 257 x 257, output stride 8, 21 classes (arXiv 1706.05587 and
//! 1801.04381, section 6.2).
//!
//! The tables of arXiv 2001.03288 do not say which variant they measure. This one is fitted to them: 12
//! channels in the second stage, and a head of 256 channels whose only branch beside 1 x 1 is the mean of the
//! picture. It is where its records come from, not a copy of a file.

use super::builder::Builder;
use super::conv::Conv;
use crate::graph::Graph;

/// Expansion, output channels, repeats, stride of the first repeat, dilation of the first and of the others.
const STAGES: [(usize, usize, usize, usize, [usize; 2]); 7] = [
    (1, 8, 1, 1, [1, 1]),
    (6, 12, 2, 2, [1, 1]),
    (6, 16, 3, 2, [1, 1]),
    (6, 32, 4, 1, [1, 2]),
    (6, 48, 3, 1, [2, 2]),
    (6, 80, 3, 1, [2, 4]),
    (6, 160, 1, 1, [4, 4]),
];

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("deeplab_v3_257", 0x6465_6570_6c61_6233, [1, 3, 257, 257]);
    let mut x = b.conv("conv", input, Conv::new(3, 16).stride(2).relu6());
    let mut channels = 16;
    let mut block = 0;
    for (expansion, out, repeats, first_stride, dilations) in STAGES {
        for repeat in 0..repeats {
            let first = repeat == 0;
            let (stride, dilation) = if first { (first_stride, dilations[0]) } else { (1, dilations[1]) };
            let mut y = x;
            if expansion > 1 {
                y = b.conv(&format!("block{block}/expand"), y, Conv::new(1, channels * expansion).relu6());
            }
            let depthwise = Conv::depthwise(3).stride(stride).dilation(dilation).relu6();
            y = b.conv(&format!("block{block}/depthwise"), y, depthwise);
            // A branch that is added to its input must not double the variance each time.
            let gain = if first { 1.0 } else { 0.5 };
            y = b.conv(&format!("block{block}/project"), y, Conv::new(1, out).linear().gain(gain));
            x = if first { y } else { b.add(&format!("block{block}/add"), x, y) };
            channels = out;
            block += 1;
        }
    }
    let [_, _, height, width] = b.shape(x);
    let mean = b.global_average("head/mean", x);
    // A mean over the picture is far smaller than what it is the mean of.
    let mean = b.conv("head/mean/conv", mean, Conv::new(1, 256).gain(20.0));
    let mean = b.resize("head/mean/resize", mean, [height, width]);
    let one = b.conv("head/1x1", x, Conv::new(1, 256));
    x = b.concat("head/concat", 1, &[mean, one]);
    x = b.conv("head/conv", x, Conv::new(1, 256));
    x = b.conv("logits", x, Conv::new(1, 21).linear());
    let out = b.resize("predictions", x, [257, 257]);
    b.output(out);
    b.finish()
}
