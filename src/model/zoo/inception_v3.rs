//! Inception v3, 299 x 299 (arXiv 1512.00567, table 1), 1,001 classes, as slim builds it; the two pairs of
//! convolutions at the end of a branch of the last two blocks go straight into the block's concatenation.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

fn conv(kernel: usize, channels: usize) -> Conv {
    Conv::new(kernel, channels)
}

fn rectangle(height: usize, width: usize, channels: usize) -> Conv {
    Conv::rectangle([height, width], channels)
}

/// Convolutions one after another.
fn chain(b: &mut Builder, name: &str, mut x: ValueId, convs: &[Conv]) -> ValueId {
    for (i, layer) in convs.iter().enumerate() {
        x = b.conv(&format!("{name}/conv{i}"), x, *layer);
    }
    x
}

fn pooled(b: &mut Builder, name: &str, x: ValueId, channels: usize) -> ValueId {
    let pool = b.average_pool(&format!("{name}/pool"), x, 3, 1, Padding::Same);
    b.conv(&format!("{name}/pool/conv"), pool, conv(1, channels))
}

/// 35 x 35.
fn block5(b: &mut Builder, name: &str, x: ValueId, pool: usize) -> ValueId {
    let one = chain(b, &format!("{name}/1x1"), x, &[conv(1, 64)]);
    let five = chain(b, &format!("{name}/5x5"), x, &[conv(1, 48), conv(5, 64)]);
    let three = chain(b, &format!("{name}/3x3"), x, &[conv(1, 64), conv(3, 96), conv(3, 96)]);
    let pool = pooled(b, name, x, pool);
    b.concat(name, 1, &[one, five, three, pool])
}

/// 17 x 17, with `width` channels inside the factorised 7 x 7.
fn block6(b: &mut Builder, name: &str, x: ValueId, width: usize) -> ValueId {
    let one = chain(b, &format!("{name}/1x1"), x, &[conv(1, 192)]);
    let once = [conv(1, width), rectangle(1, 7, width), rectangle(7, 1, 192)];
    let seven = chain(b, &format!("{name}/7x7"), x, &once);
    let twice = [
        conv(1, width),
        rectangle(7, 1, width),
        rectangle(1, 7, width),
        rectangle(7, 1, width),
        rectangle(1, 7, 192),
    ];
    let sevens = chain(b, &format!("{name}/7x7x2"), x, &twice);
    let pool = pooled(b, name, x, 192);
    b.concat(name, 1, &[one, seven, sevens, pool])
}

/// 8 x 8.
fn block7(b: &mut Builder, name: &str, x: ValueId) -> ValueId {
    let one = chain(b, &format!("{name}/1x1"), x, &[conv(1, 320)]);
    let three = chain(b, &format!("{name}/3x3"), x, &[conv(1, 384)]);
    let three = [rectangle(1, 3, 384), rectangle(3, 1, 384)]
        .map(|half| b.conv(&format!("{name}/3x3/{}x{}", half.kernel[0], half.kernel[1]), three, half));
    let double = chain(b, &format!("{name}/3x3x2"), x, &[conv(1, 448), conv(3, 384)]);
    let double = [rectangle(1, 3, 384), rectangle(3, 1, 384)]
        .map(|half| b.conv(&format!("{name}/3x3x2/{}x{}", half.kernel[0], half.kernel[1]), double, half));
    let pool = pooled(b, name, x, 192);
    b.concat(name, 1, &[one, three[0], three[1], double[0], double[1], pool])
}

fn stem(b: &mut Builder, input: ValueId) -> ValueId {
    let head = [conv(3, 32).stride(2).valid(), conv(3, 32).valid(), conv(3, 64)];
    let x = chain(b, "stem", input, &head);
    let x = b.max_pool("stem/pool", x, 3, 2, Padding::Valid);
    // A pool of rectified pictures makes them larger.
    let x = chain(b, "stem/narrow", x, &[conv(1, 80).gain(1.0), conv(3, 192).valid()]);
    b.max_pool("stem/narrow/pool", x, 3, 2, Padding::Valid)
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("inception_v3", 0x696e_6365_7074_7633, [1, 3, 299, 299]);
    let mut x = stem(&mut b, input);
    for (name, pool) in [("mixed_5b", 32), ("mixed_5c", 64), ("mixed_5d", 64)] {
        x = block5(&mut b, name, x, pool);
    }
    let three = chain(&mut b, "mixed_6a/3x3", x, &[conv(3, 384).stride(2).valid()]);
    let double = [conv(1, 64), conv(3, 96), conv(3, 96).stride(2).valid()];
    let double = chain(&mut b, "mixed_6a/3x3x2", x, &double);
    let pool = b.max_pool("mixed_6a/pool", x, 3, 2, Padding::Valid);
    x = b.concat("mixed_6a", 1, &[three, double, pool]);
    for (name, width) in [("mixed_6b", 128), ("mixed_6c", 160), ("mixed_6d", 160), ("mixed_6e", 192)] {
        x = block6(&mut b, name, x, width);
    }
    let three = chain(&mut b, "mixed_7a/3x3", x, &[conv(1, 192), conv(3, 320).stride(2).valid()]);
    let seven = [conv(1, 192), rectangle(1, 7, 192), rectangle(7, 1, 192), conv(3, 192).stride(2).valid()];
    let seven = chain(&mut b, "mixed_7a/7x7", x, &seven);
    let pool = b.max_pool("mixed_7a/pool", x, 3, 2, Padding::Valid);
    x = b.concat("mixed_7a", 1, &[three, seven, pool]);
    for name in ["mixed_7b", "mixed_7c"] {
        x = block7(&mut b, name, x);
    }
    x = b.average_pool("pool", x, 8, 1, Padding::Valid);
    x = b.conv("logits", x, Conv::new(1, 1001).linear().gain(LOGITS_GAIN));
    b.classify(x)
}
