//! GoogLeNet (Inception v1), 224 x 224 (arXiv 1409.4842, table 1), 1,000 classes, with the pads of its port
//! to Caffe and without the two classifiers that only training needs.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

/// A block: channels of 1 x 1; of 3 x 3 and 5 x 5, each with those that it reads; after the pool.
type Block = (&'static str, usize, [usize; 2], [usize; 2], usize);

const BLOCKS: [&[Block]; 3] = [
    &[("3a", 64, [96, 128], [16, 32], 32), ("3b", 128, [128, 192], [32, 96], 64)],
    &[
        ("4a", 192, [96, 208], [16, 48], 64),
        ("4b", 160, [112, 224], [24, 64], 64),
        ("4c", 128, [128, 256], [24, 64], 64),
        ("4d", 112, [144, 288], [32, 64], 64),
        ("4e", 256, [160, 320], [32, 128], 128),
    ],
    &[("5a", 256, [160, 320], [32, 128], 128), ("5b", 384, [192, 384], [48, 128], 128)],
];

fn block(b: &mut Builder, x: ValueId, (name, one, three, five, pooled): Block) -> ValueId {
    let one = b.conv(&format!("{name}/1x1"), x, Conv::new(1, one));
    let [narrow, wide] = three;
    let three = b.conv(&format!("{name}/3x3/reduce"), x, Conv::new(1, narrow));
    let three = b.conv(&format!("{name}/3x3"), three, Conv::new(3, wide));
    let [narrow, wide] = five;
    let five = b.conv(&format!("{name}/5x5/reduce"), x, Conv::new(1, narrow));
    let five = b.conv(&format!("{name}/5x5"), five, Conv::new(5, wide));
    let pool = b.max_pool(&format!("{name}/pool"), x, 3, 1, Padding::Same);
    // A pool of rectified pictures makes them larger, and nine blocks hand it on.
    let pool = b.conv(&format!("{name}/pool/conv"), pool, Conv::new(1, pooled).gain(0.8));
    b.concat(&format!("{name}/concat"), 1, &[one, three, five, pool])
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("googlenet", 0x676f_6f67_6c65_6e31, [1, 3, 224, 224]);
    let mut x = b.conv("conv1", input, Conv::new(7, 64).stride(2).padded(3));
    x = b.max_pool("pool1", x, 3, 2, Padding::Valid);
    x = b.lrn("norm1", x);
    x = b.conv("conv2/reduce", x, Conv::new(1, 64).gain(0.8));
    x = b.conv("conv2", x, Conv::new(3, 192));
    x = b.lrn("norm2", x);
    x = b.max_pool("pool2", x, 3, 2, Padding::Valid);
    for (i, blocks) in BLOCKS.into_iter().enumerate() {
        if i > 0 {
            x = b.max_pool(&format!("pool{}", i + 2), x, 3, 2, Padding::Valid);
        }
        for one in blocks {
            x = block(&mut b, x, *one);
        }
    }
    x = b.global_average("pool5", x);
    x = b.conv("logits", x, Conv::new(1, 1000).linear().gain(LOGITS_GAIN));
    b.classify(x)
}
