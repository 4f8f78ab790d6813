//! Inception-ResNet v2, 299 x 299 (arXiv 1602.07261, figures 15 to 22 as Keras has them), 1,000 classes. The
//! factor that each block's sum is scaled by lies in the weights of the convolution before it.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

fn conv(kernel: usize, channels: usize) -> Conv {
    Conv::new(kernel, channels)
}

fn rectangle(height: usize, width: usize, channels: usize) -> Conv {
    Conv::rectangle([height, width], channels)
}

/// Half as high and as wide, without cells around.
fn halved(channels: usize) -> Conv {
    conv(3, channels).stride(2).valid()
}

/// Branches side by side, each of convolutions one after another.
fn branches(b: &mut Builder, name: &str, x: ValueId, branches: &[&[Conv]]) -> Vec<ValueId> {
    let mut ends = Vec::new();
    for (i, convs) in branches.iter().enumerate() {
        let chain = |(j, x): (usize, ValueId), layer: &Conv| {
            (j + 1, b.conv(&format!("{name}/branch{i}/conv{j}"), x, *layer))
        };
        ends.push(convs.iter().fold((0, x), chain).1);
    }
    ends
}

/// A residual block: branches, joined and brought to the channels of `x`, and added to it.
fn residual(b: &mut Builder, name: &str, x: ValueId, convs: &[&[Conv]]) -> ValueId {
    let [_, channels, _, _] = b.shape(x);
    let ends = branches(b, name, x, convs);
    let joined = b.concat(&format!("{name}/concat"), 1, &ends);
    // What is added is small, so that 40 blocks do not add up.
    let added = b.conv(&format!("{name}/up"), joined, conv(1, channels).linear().gain(0.05));
    b.add(&format!("{name}/add"), x, added)
}

fn rectified(b: &mut Builder, name: &str, x: ValueId, convs: &[&[Conv]]) -> ValueId {
    let sum = residual(b, name, x, convs);
    b.relu(&format!("{name}/relu"), sum)
}

/// Branches and a pool side by side: half as high and as wide.
fn reduction(b: &mut Builder, name: &str, x: ValueId, convs: &[&[Conv]]) -> ValueId {
    let mut ends = branches(b, name, x, convs);
    ends.push(b.max_pool(&format!("{name}/pool"), x, 3, 2, Padding::Valid));
    b.concat(name, 1, &ends)
}

/// Down to 35 x 35, 320 channels.
fn stem(b: &mut Builder, input: ValueId) -> ValueId {
    let head = [conv(3, 32).stride(2).valid(), conv(3, 32).valid(), conv(3, 64)];
    let x = branches(b, "stem", input, &[&head])[0];
    let x = b.max_pool("stem/pool", x, 3, 2, Padding::Valid);
    // A pool of rectified pictures makes them larger.
    let x = branches(b, "stem/narrow", x, &[&[conv(1, 80).gain(1.0), conv(3, 192).valid()]])[0];
    let x = b.max_pool("stem/narrow/pool", x, 3, 2, Padding::Valid);
    let inner: [&[Conv]; 3] =
        [&[conv(1, 96)], &[conv(1, 48), conv(5, 64)], &[conv(1, 64), conv(3, 96), conv(3, 96)]];
    let mut ends = branches(b, "mixed_5b", x, &inner);
    let pool = b.average_pool("mixed_5b/pool", x, 3, 1, Padding::Same);
    ends.push(b.conv("mixed_5b/pool/conv", pool, conv(1, 64)));
    b.concat("mixed_5b", 1, &ends)
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("inception_resnet", 0x696e_6372_6573_7632, [1, 3, 299, 299]);
    let mut x = stem(&mut b, input);
    for i in 1..=10 {
        let inner: [&[Conv]; 3] =
            [&[conv(1, 32)], &[conv(1, 32), conv(3, 32)], &[conv(1, 32), conv(3, 48), conv(3, 64)]];
        x = rectified(&mut b, &format!("block35_{i}"), x, &inner);
    }
    x = reduction(&mut b, "mixed_6a", x, &[&[halved(384)], &[conv(1, 256), conv(3, 256), halved(384)]]);
    for i in 1..=20 {
        let seven = [conv(1, 128), rectangle(1, 7, 160), rectangle(7, 1, 192)];
        x = rectified(&mut b, &format!("block17_{i}"), x, &[&[conv(1, 192)], &seven]);
    }
    let inner: [&[Conv]; 3] = [
        &[conv(1, 256), halved(384)],
        &[conv(1, 256), halved(288)],
        &[conv(1, 256), conv(3, 288), halved(320)],
    ];
    x = reduction(&mut b, "mixed_7a", x, &inner);
    let three = [conv(1, 192), rectangle(1, 3, 224), rectangle(3, 1, 256)];
    for i in 1..=9 {
        x = rectified(&mut b, &format!("block8_{i}"), x, &[&[conv(1, 192)], &three]);
    }
    x = residual(&mut b, "block8_10", x, &[&[conv(1, 192)], &three]);
    x = b.conv("conv_7b", x, conv(1, 1536));
    x = b.global_average("pool", x);
    x = b.conv("logits", x, conv(1, 1000).linear().gain(LOGITS_GAIN));
    b.classify(x)
}
