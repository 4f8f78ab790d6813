//! Splitting over several arenas where one would exceed the device's largest buffer.

use std::cmp::Reverse;

use super::resolve::Block;
use super::strategy::gap::{Arena, Fit};

/// Blocks dealt out to arenas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packed {
    /// Arena and offset of each block.
    pub places: Vec<(usize, u64)>,
    /// Bytes of each arena.
    pub arenas: Vec<u64>,
}

impl Packed {
    /// One arena, as high as its highest block.
    pub fn single(blocks: &[Block], offsets: Vec<u64>) -> Self {
        let top = blocks.iter().zip(&offsets).map(|(b, o)| o + b.size_bytes).max();
        Packed { places: offsets.into_iter().map(|o| (0, o)).collect(), arenas: top.into_iter().collect() }
    }

    pub fn peak_bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }
}

/// Deals blocks out in that order; pinned ones lie in the first arena. Every block, with its pin, fits `limit_bytes`.
///
/// A block goes where no arena has to grow, into the smallest gap; else where the growth is least; a new arena is
/// opened only where no arena can hold it under the limit.
pub(crate) fn split(blocks: &[Block], order: &[usize], limit_bytes: u64) -> Packed {
    let mut arenas: Vec<Arena> = Vec::new();
    let mut places = vec![(0, 0); blocks.len()];
    for (i, block) in blocks.iter().enumerate() {
        if let Some(pin) = block.pin {
            if arenas.is_empty() {
                arenas.push(Arena::default());
            }
            arenas[0].insert(blocks, i, pin);
            places[i] = (0, pin);
        }
    }
    for i in order.iter().copied().filter(|i| blocks[*i].pin.is_none()) {
        let block = &blocks[i];
        let best = arenas
            .iter()
            .enumerate()
            .map(|(a, arena)| (a, arena.best_fit(blocks, block), arena.top_bytes))
            .filter(|(_, fit, _)| fit.offset_bytes + block.size_bytes <= limit_bytes)
            .min_by_key(|(a, fit, top)| {
                let growth = (fit.offset_bytes + block.size_bytes).saturating_sub(*top);
                (growth, fit.gap_bytes.unwrap_or(u64::MAX), *a)
            });
        let (arena, Fit { offset_bytes, .. }) = match best {
            Some((a, fit, _)) => (a, fit),
            None => {
                arenas.push(Arena::default());
                (arenas.len() - 1, Fit { offset_bytes: 0, gap_bytes: None })
            }
        };
        arenas[arena].insert(blocks, i, offset_bytes);
        places[i] = (arena, offset_bytes);
    }
    Packed { places, arenas: arenas.iter().map(|a| a.top_bytes).collect() }
}

/// Blocks by the offset they have in one large arena, ties by size: replays that plan from the bottom up.
pub(crate) fn by_offset(blocks: &[Block], offsets: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|i| (offsets[*i], Reverse(blocks[*i].size_bytes), blocks[*i].first, *i));
    order
}
