//! AlexNet, 227 x 227 (Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional
//! neural networks", 2012), 1,000 classes: two groups of channels, as it was split over two cards. Its dense
//! layers are convolutions over all that is left of the picture.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::Graph;

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("alexnet", 0x616c_6578_6e65_7431, [1, 3, 227, 227]);
    let mut x = b.conv("conv1", input, Conv::new(11, 96).stride(4).valid());
    x = b.lrn("norm1", x);
    x = b.max_pool("pool1", x, 3, 2, Padding::Valid);
    // A pool of rectified pictures makes them larger.
    x = b.conv("conv2", x, Conv::new(5, 256).groups(2).gain(1.0));
    x = b.lrn("norm2", x);
    x = b.max_pool("pool2", x, 3, 2, Padding::Valid);
    x = b.conv("conv3", x, Conv::new(3, 384).gain(1.0));
    x = b.conv("conv4", x, Conv::new(3, 384).groups(2));
    x = b.conv("conv5", x, Conv::new(3, 256).groups(2));
    x = b.max_pool("pool5", x, 3, 2, Padding::Valid);
    x = b.conv("dense6", x, Conv::new(6, 4096).valid().gain(1.0));
    x = b.conv("dense7", x, Conv::new(1, 4096));
    x = b.conv("logits", x, Conv::new(1, 1000).linear().gain(2.0 * LOGITS_GAIN));
    b.classify(x)
}
