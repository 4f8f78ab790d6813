//! Repair: a plan with a few blocks over a capacity is mended by putting each of them where least is in the
//! way, and then whatever was in the way elsewhere.
//!
//! Local however large the problem: the work is that of looking at the neighbours of the blocks that move.
//! A block that was pushed out often gets dear, so that the search leaves the places where it goes in
//! circles. Steps are counted, random numbers have a fixed seed: the result is the same everywhere.

use std::collections::BinaryHeap;

use super::super::ids::align_up;
use super::super::resolve::Block;
use super::board::Board;
use super::budget::Work;

/// A block that is not placed.
pub(crate) const OUT: u64 = u64::MAX;

/// What pushing a pinned block out costs: more than any number of others.
const NEVER: u64 = 1 << 62;
const HEAVIEST: u64 = 1 << 38;

/// State of one repair.
pub(crate) struct Repair<'a> {
    blocks: &'a [Block],
    board: &'a Board,
    offsets: Vec<u64>,
    capacity: u64,
    /// How often each block was pushed out.
    pushed: Vec<u32>,
    queue: BinaryHeap<(u64, u32)>,
    /// Placed neighbours of the block in question: first byte, one past the last, block.
    near: Vec<(u64, u64, u32)>,
    ends: Vec<(u64, u64)>,
    starts: Vec<(u64, u64)>,
    candidates: Vec<u64>,
    random: u64,
    shift: u32,
}

impl<'a> Repair<'a> {
    pub fn new(blocks: &'a [Block], board: &'a Board) -> Self {
        let largest = blocks.iter().map(|b| b.size_bytes).max().unwrap_or(0);
        Repair {
            blocks,
            board,
            offsets: Vec::new(),
            capacity: 0,
            pushed: vec![0; blocks.len()],
            queue: BinaryHeap::new(),
            near: Vec::new(),
            ends: Vec::new(),
            starts: Vec::new(),
            candidates: Vec::new(),
            random: 0x9e37_79b9_7f4a_7c15,
            shift: (64 - largest.leading_zeros()).saturating_sub(20),
        }
    }

    /// Tries to bring everything under `capacity`, from these offsets on; what is [`OUT`] or over it moves
    /// first.
    pub fn run(mut self, offsets: Vec<u64>, capacity: u64, work: &mut Work) -> Option<Vec<u64>> {
        self.offsets = offsets;
        self.capacity = capacity;
        for (i, block) in self.blocks.iter().enumerate() {
            if self.offsets[i] == OUT || self.offsets[i] + block.size_bytes > capacity {
                if block.pin.is_some() || block.size_bytes > capacity {
                    return None;
                }
                self.offsets[i] = OUT;
                self.queue.push((self.weight(i), i as u32));
            }
        }
        while let Some((_, i)) = self.queue.pop() {
            self.settle(i as usize)?;
            if work.spend(self.near.len() as u64 + 16) && !self.queue.is_empty() {
                return None;
            }
        }
        Some(self.offsets)
    }

    fn weight(&self, i: usize) -> u64 {
        let base = ((self.blocks[i].size_bytes >> self.shift) + 1) * u64::from(self.board.crowd[i]).isqrt();
        (base * u64::from(1 + self.pushed[i])).min(HEAVIEST)
    }

    /// Puts a block into the smallest gap under the capacity, else where least is in the way.
    ///
    /// `None` where only pinned blocks are in the way everywhere.
    fn settle(&mut self, i: usize) -> Option<()> {
        let block = &self.blocks[i];
        let (size, align) = (block.size_bytes, block.align_bytes);
        self.near.clear();
        let (offsets, blocks, near) = (&self.offsets, self.blocks, &mut self.near);
        self.board.neighbours(i, |j| {
            if offsets[j as usize] != OUT {
                near.push((offsets[j as usize], offsets[j as usize] + blocks[j as usize].size_bytes, j));
            }
        });
        self.near.sort_unstable();
        let (mut floor, mut best): (u64, Option<(u64, u64)>) = (0, None);
        let ceiling = std::iter::once((self.capacity, self.capacity));
        for (start, end) in self.near.iter().map(|n| (n.0, n.1)).chain(ceiling) {
            if start >= floor && start - floor >= size && best.is_none_or(|b| start - floor < b.0) {
                best = Some((start - floor, floor));
            }
            floor = floor.max(align_up(end, align));
        }
        if let Some((_, offset)) = best {
            self.offsets[i] = offset;
            return Some(());
        }
        let offset = self.cheapest(size, align)?;
        for at in 0..self.near.len() {
            let (start, end, j) = self.near[at];
            if start < offset + size && offset < end {
                self.offsets[j as usize] = OUT;
                self.pushed[j as usize] += 1;
                self.queue.push((self.weight(j as usize), j));
            }
        }
        self.offsets[i] = offset;
        Some(())
    }

    /// The offset at which the blocks in the way weigh least; of equals a random one.
    fn cheapest(&mut self, size: u64, align: u64) -> Option<u64> {
        self.starts.clear();
        self.ends.clear();
        for at in 0..self.near.len() {
            let (start, end, j) = self.near[at];
            let weight = if self.blocks[j as usize].pin.is_some() { NEVER } else { self.weight(j as usize) };
            self.starts.push((start, weight));
            self.ends.push((end, weight));
        }
        self.ends.sort_unstable();
        let highest = (self.capacity - size) / align * align;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend([0, highest]);
        for (start, end, _) in &self.near {
            candidates.push(align_up(*end, align));
            candidates.push(start.saturating_sub(size) / align * align);
        }
        candidates.retain(|c| *c <= highest);
        candidates.sort_unstable();
        candidates.dedup();
        let (mut begun, mut ended, mut chosen, mut equals) = (0, 0, 0, 0);
        let (mut cost, mut least) = (0u128, u128::MAX);
        for candidate in candidates.iter().copied() {
            while begun < self.starts.len() && self.starts[begun].0 < candidate + size {
                cost += u128::from(self.starts[begun].1);
                begun += 1;
            }
            while ended < self.ends.len() && self.ends[ended].0 <= candidate {
                cost -= u128::from(self.ends[ended].1);
                ended += 1;
            }
            equals = if cost < least { 1 } else { equals + u64::from(cost == least) };
            if cost < least || (cost == least && self.random.is_multiple_of(equals)) {
                (least, chosen) = (cost, candidate);
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
            }
        }
        self.candidates = candidates;
        (least < u128::from(NEVER)).then_some(chosen)
    }
}
