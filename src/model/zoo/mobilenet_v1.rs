//! MobileNet v1, width 1.0, 224 x 224 (arXiv 1704.04861, table 1), 1,001 classes.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::Conv;
use crate::graph::Graph;

/// Output channels and stride of the 13 depthwise separable layers.
const LAYERS: [(usize, usize); 13] = [
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    (512, 1),
    (512, 1),
    (512, 1),
    (512, 1),
    (512, 1),
    (1024, 2),
    (1024, 1),
];

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("mobilenet_v1", 0x6d6f_6269_6c65_7631, [1, 3, 224, 224]);
    // Zero padding and what ReLU6 cuts cost a little in each of 27 layers (measured).
    let relu6 = |conv: Conv| conv.relu6().gain(2.2);
    let mut x = b.conv("conv", input, relu6(Conv::new(3, 32).stride(2)));
    for (i, (out, stride)) in LAYERS.into_iter().enumerate() {
        x = b.conv(&format!("layer{i}/depthwise"), x, relu6(Conv::depthwise(3).stride(stride)));
        x = b.conv(&format!("layer{i}/pointwise"), x, relu6(Conv::new(1, out)));
    }
    x = b.global_average("pool", x);
    x = b.conv("logits", x, Conv::new(1, 1001).linear().gain(LOGITS_GAIN));
    b.classify(x)
}
