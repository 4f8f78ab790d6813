//! MobileNet v1, width 1.0, 224 x 224 (arXiv 1704.04861, table 1), 1,001 classes.

use super::builder::{Builder, Conv, LOGITS_GAIN};
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
    let (mut b, input) = Builder::new("mobilenet_v1", 0x6d6f_6269_6c65_7631, [1, 3, 224, 224]);
    let relu6 = |kernel, stride, channels, depthwise| Conv {
        kernel,
        stride,
        channels,
        depthwise,
        relu6: true,
        // A rectifier keeps half of the mean square, so 2 would hold it level (He et al., arXiv
        // 1502.01852); zero padding and what ReLU6 cuts cost a little in each of 27 layers (measured).
        gain: 2.2,
    };
    let mut x = b.conv("conv", input, relu6(3, 2, 32, false));
    let mut channels = 32;
    for (i, (out, stride)) in LAYERS.into_iter().enumerate() {
        x = b.conv(&format!("layer{i}/depthwise"), x, relu6(3, stride, channels, true));
        x = b.conv(&format!("layer{i}/pointwise"), x, relu6(1, 1, out, false));
        channels = out;
    }
    x = b.global_average("pool", x);
    let logits =
        Conv { kernel: 1, stride: 1, channels: 1001, depthwise: false, relu6: false, gain: LOGITS_GAIN };
    x = b.conv("logits", x, logits);
    b.finish(x)
}
