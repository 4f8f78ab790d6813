//! No reuse: the blocks one after the other.

use super::super::ids::align_up;
use super::super::resolve::Block;

pub(super) fn place(blocks: &[Block]) -> Vec<u64> {
    let mut pins: Vec<(u64, u64)> =
        blocks.iter().filter_map(|b| b.pin.map(|pin| (pin, pin + b.size_bytes))).collect();
    pins.sort_unstable();
    let (mut end, mut passed) = (0, 0);
    blocks
        .iter()
        .map(|block| {
            if let Some(pin) = block.pin {
                return pin;
            }
            let mut offset = align_up(end, block.align_bytes);
            // Offsets only grow, so a pin once passed stays behind.
            while passed < pins.len() && pins[passed].0 < offset + block.size_bytes {
                offset = offset.max(align_up(pins[passed].1, block.align_bytes));
                passed += 1;
            }
            end = offset + block.size_bytes;
            offset
        })
        .collect()
}
