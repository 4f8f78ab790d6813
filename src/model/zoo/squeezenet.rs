//! SqueezeNet 1.1, 224 x 224 (arXiv 1602.07360; version 1.1 is its authors' own), 1,000 classes.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

/// Channels after the squeeze and of each half of the expansion; whether a pool comes after.
const FIRES: [(usize, usize, bool); 8] = [
    (16, 64, false),
    (16, 64, true),
    (32, 128, false),
    (32, 128, true),
    (48, 192, false),
    (48, 192, false),
    (64, 256, false),
    (64, 256, false),
];

fn fire(b: &mut Builder, name: &str, x: ValueId, squeeze: usize, channels: usize) -> ValueId {
    let x = b.conv(&format!("{name}/squeeze"), x, Conv::new(1, squeeze));
    let one = b.conv(&format!("{name}/expand1x1"), x, Conv::new(1, channels));
    let three = b.conv(&format!("{name}/expand3x3"), x, Conv::new(3, channels));
    b.concat(&format!("{name}/concat"), 1, &[one, three])
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("squeezenet", 0x7371_7565_657a_6531, [1, 3, 224, 224]);
    let mut x = b.conv("conv", input, Conv::new(3, 64).stride(2).valid());
    x = b.max_pool("pool", x, 3, 2, Padding::Valid);
    for (i, (squeeze, channels, pooled)) in FIRES.into_iter().enumerate() {
        x = fire(&mut b, &format!("fire{}", i + 2), x, squeeze, channels);
        if pooled {
            x = b.max_pool(&format!("fire{}/pool", i + 2), x, 3, 2, Padding::Valid);
        }
    }
    // Rectified before the mean, as published.
    x = b.conv("logits", x, Conv::new(1, 1000).gain(2.0 * LOGITS_GAIN));
    x = b.global_average("logits/mean", x);
    b.classify(x)
}
