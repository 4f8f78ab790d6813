//! VGG-16, 224 x 224 (arXiv 1409.1556, table 1, column D), 1,000 classes. Its dense layers are convolutions
//! over all that is left of the picture.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::Graph;

/// Channels and convolutions between two pools.
const STAGES: [(usize, usize); 5] = [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)];

pub(super) fn build() -> Graph {
    let (mut b, mut x) = Builder::picture("vgg16", 0x7667_6731_3600_0001, [1, 3, 224, 224]);
    for (stage, (channels, convs)) in STAGES.into_iter().enumerate() {
        for i in 0..convs {
            // A pool of rectified pictures makes them larger.
            let gain = if stage > 0 && i == 0 { 1.2 } else { 2.0 };
            let name = format!("conv{}_{}", stage + 1, i + 1);
            x = b.conv(&name, x, Conv::new(3, channels).gain(gain));
        }
        x = b.max_pool(&format!("pool{}", stage + 1), x, 2, 2, Padding::Valid);
    }
    x = b.conv("dense6", x, Conv::new(7, 4096).valid());
    x = b.conv("dense7", x, Conv::new(1, 4096));
    x = b.conv("logits", x, Conv::new(1, 1000).linear().gain(LOGITS_GAIN));
    b.classify(x)
}
