//! DenseNet-121, 224 x 224 (arXiv 1608.06993, table 1), 1,000 classes.
//!
//! Normalisation in front of a layer cannot be folded into a convolution, since every later layer of the
//! block reads the same channels under statistics of its own: it is a layer here, and so is its rectifier.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

/// Channels that a layer adds.
const GROWTH: usize = 32;
/// Layers of each block.
const BLOCKS: [usize; 4] = [6, 12, 24, 16];

fn normalised(b: &mut Builder, name: &str, x: ValueId) -> ValueId {
    let x = b.batch_norm(&format!("{name}/norm"), x);
    b.relu(&format!("{name}/relu"), x)
}

fn layer(b: &mut Builder, name: &str, x: ValueId) -> ValueId {
    let y = normalised(b, name, x);
    let y = b.conv(&format!("{name}/1x1"), y, Conv::new(1, 4 * GROWTH));
    let y = b.conv(&format!("{name}/3x3"), y, Conv::new(3, GROWTH).linear());
    b.concat(&format!("{name}/concat"), 1, &[x, y])
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("densenet121", 0x6465_6e73_6531_3231, [1, 3, 224, 224]);
    let mut x = b.conv("conv", input, Conv::new(7, 64).stride(2).padded(3));
    x = b.max_pool("pool", x, 3, 2, Padding::Each(1));
    for (block, layers) in BLOCKS.into_iter().enumerate() {
        if block > 0 {
            let name = format!("transition{block}");
            x = normalised(&mut b, &name, x);
            let channels = b.shape(x)[1] / 2;
            x = b.conv(&format!("{name}/conv"), x, Conv::new(1, channels).linear().gain(2.0));
            x = b.average_pool(&format!("{name}/pool"), x, 2, 2, Padding::Valid);
        }
        for i in 0..layers {
            x = layer(&mut b, &format!("block{}/layer{i}", block + 1), x);
        }
    }
    x = normalised(&mut b, "last", x);
    x = b.global_average("last/pool", x);
    // 58 layers of little gain and a mean leave little to spread.
    x = b.conv("logits", x, Conv::new(1, 1000).linear().gain(8.0 * LOGITS_GAIN));
    b.classify(x)
}
