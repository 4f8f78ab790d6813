//! BlazeFace, short range, 128 x 128 (arXiv 1907.05047), as MediaPipe ships it: 896 anchors, each with a
//! score and 16 coordinates.
//!
//! Rectifiers are layers of their own, as in the file. The outputs hold the numbers of an anchor along the
//! first axis, `[1, 1, 896]` and `[1, 16, 896]`, so that no transposition is needed; the anchors of a cell
//! lie apart. The tables of arXiv 2001.03288 measure another network of that name.

use super::builder::Builder;
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

/// Output channels and stride of the 16 blocks.
const BLOCKS: [(usize, usize); 16] = [
    (24, 1),
    (28, 1),
    (32, 2),
    (36, 1),
    (42, 1),
    (48, 2),
    (56, 1),
    (64, 1),
    (72, 1),
    (80, 1),
    (88, 1),
    (96, 2),
    (96, 1),
    (96, 1),
    (96, 1),
    (96, 1),
];

/// The last block of 16 x 16 cells.
const FINE: usize = 10;
/// Anchors of a cell of 16 x 16 and of one of 8 x 8.
const ANCHORS: [usize; 2] = [2, 6];

fn block(b: &mut Builder, name: &str, x: ValueId, channels: usize, stride: usize) -> ValueId {
    let [_, in_channels, _, _] = b.shape(x);
    let depthwise = b.conv(&format!("{name}/depthwise"), x, Conv::depthwise(3).stride(stride).linear());
    let mut skip = x;
    if stride > 1 {
        skip = b.max_pool(&format!("{name}/pool"), x, stride, stride, Padding::Valid);
    }
    // What is added is small, so that 16 blocks do not add up.
    let y = b.conv(&format!("{name}/project"), depthwise, Conv::new(1, channels).linear().gain(0.25));
    if channels > in_channels {
        skip = b.pad_channels(&format!("{name}/pad"), skip, channels);
    }
    let sum = b.add(&format!("{name}/add"), skip, y);
    b.relu(&format!("{name}/relu"), sum)
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("blazeface", 0x626c_617a_6566_6163, [1, 3, 128, 128]);
    let x = b.conv("conv", input, Conv::new(5, 24).stride(2).linear().gain(2.0));
    let mut x = b.relu("relu", x);
    let mut cells = [x; 2];
    for (i, (channels, stride)) in BLOCKS.into_iter().enumerate() {
        x = block(&mut b, &format!("block{i}"), x, channels, stride);
        cells[usize::from(i > FINE)] = x;
    }
    let head = |b: &mut Builder, name: &str, numbers: usize| {
        let name = |i: usize| format!("{name}/{}", ["fine", "coarse"][i]);
        [0, 1].map(|i| b.conv(&name(i), cells[i], Conv::new(1, numbers * ANCHORS[i]).linear()))
    };
    let heads = [("scores", 1), ("boxes", 16)].map(|(name, n)| (name, n, head(&mut b, name, n)));
    let flat = heads.map(|(name, numbers, parts)| {
        let flat = parts.map(|part| {
            let anchors = b.dims(part).iter().product::<usize>() / numbers;
            b.reshape(&format!("{name}/{anchors}"), part, &[1, numbers, anchors])
        });
        (name, flat)
    });
    for (name, parts) in flat {
        let out = b.concat(name, 2, &parts);
        b.output(out);
    }
    b.finish()
}
