//! U-Net of 32 channels, 256 x 256, one class (arXiv 1505.04597, figure 1, at half its width and with the
//! padding that its ports use, so that the output is as large as the input).

use super::builder::Builder;
use super::conv::{Conv, Padding};
use crate::graph::{Graph, ValueId};

const CHANNELS: [usize; 4] = [32, 64, 128, 256];

fn twice(b: &mut Builder, name: &str, x: ValueId, channels: usize, gain: f32) -> ValueId {
    let x = b.conv(&format!("{name}/conv1"), x, Conv::new(3, channels).gain(gain));
    b.conv(&format!("{name}/conv2"), x, Conv::new(3, channels))
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("unet", 0x756e_6574_3235_3631, [1, 3, 256, 256]);
    let mut x = input;
    let mut skips = Vec::new();
    for (level, channels) in CHANNELS.into_iter().enumerate() {
        // A pool of rectified pictures makes them larger.
        let gain = if level > 0 { 1.2 } else { 2.0 };
        x = twice(&mut b, &format!("down{level}"), x, channels, gain);
        skips.push(x);
        x = b.max_pool(&format!("down{level}/pool"), x, 2, 2, Padding::Valid);
    }
    x = twice(&mut b, "bottom", x, 512, 1.2);
    for (level, channels) in CHANNELS.into_iter().enumerate().rev() {
        let up = b.double(&format!("up{level}"), x, channels);
        x = b.concat(&format!("up{level}/concat"), 1, &[up, skips[level]]);
        x = twice(&mut b, &format!("up{level}"), x, channels, 2.0);
    }
    let out = b.conv("mask", x, Conv::new(1, 1).linear());
    b.output(out);
    b.finish()
}
