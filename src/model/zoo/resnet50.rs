//! ResNet-50, 224 x 224 (arXiv 1512.03385, table 1), 1,000 classes; the stride is in the 3 x 3, as most ports
//! have it.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

/// Channels inside a block, blocks, stride of the first.
const STAGES: [(usize, usize, usize); 4] = [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)];

fn block(b: &mut Builder, name: &str, x: ValueId, channels: usize, stride: usize) -> ValueId {
    let [_, in_channels, _, _] = b.shape(x);
    let y = b.conv(&format!("{name}/conv1"), x, Conv::new(1, channels));
    let y = b.conv(&format!("{name}/conv2"), y, Conv::new(3, channels).stride(stride).padded(1));
    // What is added is small, so that 16 blocks do not add up.
    let y = b.conv(&format!("{name}/conv3"), y, Conv::new(1, 4 * channels).linear().gain(0.1));
    let mut skip = x;
    if in_channels != 4 * channels {
        let shortcut = Conv::new(1, 4 * channels).stride(stride).valid().linear().gain(1.8);
        skip = b.conv(&format!("{name}/shortcut"), x, shortcut);
    }
    let sum = b.add(&format!("{name}/add"), y, skip);
    b.relu(&format!("{name}/relu"), sum)
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("resnet50", 0x7265_736e_6574_3530, [1, 3, 224, 224]);
    let mut x = b.conv("conv1", input, Conv::new(7, 64).stride(2).padded(3).gain(1.0));
    x = b.max_pool("pool1", x, 3, 2, Padding::Each(1));
    for (stage, (channels, blocks, first_stride)) in STAGES.into_iter().enumerate() {
        for i in 0..blocks {
            let stride = if i == 0 { first_stride } else { 1 };
            x = block(&mut b, &format!("stage{}/block{i}", stage + 1), x, channels, stride);
        }
    }
    x = b.global_average("pool5", x);
    x = b.conv("logits", x, Conv::new(1, 1000).linear().gain(LOGITS_GAIN));
    b.classify(x)
}
