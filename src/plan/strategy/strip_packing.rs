//! Strip packing by best fit with lifting, arXiv 1804.10001.
//!
//! A skyline over the steps: take its lowest line (the leftmost of equals) and put onto it the
//! longest-lived block that fits between its ends; where none does, lift the line to its lower neighbour.
//! What lies under a lifted line is lost.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::ids::align_up;
use super::super::resolve::Block;

pub(super) fn place(blocks: &[Block]) -> Vec<u64> {
    place_until(blocks, &|| false).expect("it is never late")
}

/// Blocks between two looks at the clock.
const CLOCK_EVERY: usize = 256;

/// As [`place`]; `None` where it got late.
pub(crate) fn place_until(blocks: &[Block], is_late: &dyn Fn() -> bool) -> Option<Vec<u64>> {
    let mut todo = Waiting::new(blocks);
    let pinned: Vec<&Block> = blocks.iter().filter(|b| b.pin.is_some()).collect();
    let mut offsets: Vec<u64> = blocks.iter().map(|b| b.pin.unwrap_or(0)).collect();
    let end = blocks.iter().map(|b| u64::from(b.last) + 1).max().unwrap_or(0);
    let mut skyline = Skyline::new(end);
    while !todo.is_empty() {
        let line = skyline.lowest();
        match todo.longest_within(line) {
            Some(i) => {
                let block = &blocks[i];
                offsets[i] = above_pins(&pinned, block, line.height);
                skyline.raise(line, block, offsets[i] + block.size_bytes);
                todo.remove(i);
                if todo.left.is_multiple_of(CLOCK_EVERY) && is_late() {
                    return None;
                }
            }
            None => skyline.lift(line),
        }
    }
    Some(offsets)
}

/// The blocks not yet placed, so that the longest between two steps is quickly found.
///
/// Leaves of a tree in the order of first steps; a node holds the least rank (0 is the longest block) and
/// the least last step below it. Only blocks that reach past the right end of a line are looked at in vain.
struct Waiting {
    /// Block and first step of each leaf.
    leaves: Vec<(usize, u32)>,
    leaf_of: Vec<usize>,
    width: usize,
    /// Rank and last step; `u32::MAX` twice where nothing waits.
    nodes: Vec<(u32, u32)>,
    by_rank: Vec<usize>,
    left: usize,
}

const NOTHING: (u32, u32) = (u32::MAX, u32::MAX);

impl Waiting {
    fn new(blocks: &[Block]) -> Self {
        let mut by_rank: Vec<usize> = (0..blocks.len()).filter(|i| blocks[*i].pin.is_none()).collect();
        let mut leaves: Vec<(usize, u32)> = by_rank.iter().map(|i| (*i, blocks[*i].first)).collect();
        leaves.sort_unstable_by_key(|(i, first)| (*first, *i));
        // Blocks of equal length keep the order of the schedule, as published.
        by_rank.sort_by_key(|i| (Reverse(length(&blocks[*i])), blocks[*i].first, *i));
        let mut leaf_of = vec![usize::MAX; blocks.len()];
        leaves.iter().enumerate().for_each(|(leaf, (i, _))| leaf_of[*i] = leaf);
        let width = leaves.len().next_power_of_two();
        let mut nodes = vec![NOTHING; 2 * width];
        for (rank, i) in by_rank.iter().enumerate() {
            nodes[width + leaf_of[*i]] = (rank as u32, blocks[*i].last);
        }
        let left = by_rank.len();
        let mut waiting = Waiting { leaves, leaf_of, width, nodes, by_rank, left };
        (1..width).rev().for_each(|node| waiting.join(node));
        waiting
    }

    fn is_empty(&self) -> bool {
        self.left == 0
    }

    fn join(&mut self, node: usize) {
        let (a, b) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        self.nodes[node] = (a.0.min(b.0), a.1.min(b.1));
    }

    fn remove(&mut self, block: usize) {
        let mut node = self.width + self.leaf_of[block];
        self.nodes[node] = NOTHING;
        self.left -= 1;
        while node > 1 {
            node /= 2;
            self.join(node);
        }
    }

    fn longest_within(&self, line: Line) -> Option<usize> {
        let from = self.leaves.partition_point(|(_, first)| u64::from(*first) < line.start);
        let to = self.leaves.partition_point(|(_, first)| u64::from(*first) < line.end);
        let mut best = u32::MAX;
        self.visit(1, 0..self.width, from..to, line.end, &mut best);
        self.by_rank.get(best as usize).copied()
    }

    /// Lowers `best` to the least rank below `node`, of those in `wanted` that end before `end`.
    fn visit(&self, node: usize, span: Range<usize>, wanted: Range<usize>, end: u64, best: &mut u32) {
        let (rank, last) = self.nodes[node];
        let apart = span.end <= wanted.start || wanted.end <= span.start;
        if apart || rank >= *best || u64::from(last) >= end {
            return;
        }
        if node >= self.width {
            *best = rank;
            return;
        }
        let middle = span.start.midpoint(span.end);
        let halves = [(2 * node, span.start..middle), (2 * node + 1, middle..span.end)];
        let swap = self.nodes[2 * node + 1].0 < self.nodes[2 * node].0;
        for (child, half) in if swap { [halves[1].clone(), halves[0].clone()] } else { halves } {
            self.visit(child, half, wanted.clone(), end, best);
        }
    }
}

fn length(block: &Block) -> u32 {
    block.last - block.first
}

/// The lowest aligned offset from `height` on at which the block touches no pinned one.
fn above_pins(pinned: &[&Block], block: &Block, height: u64) -> u64 {
    let mut offset = align_up(height, block.align_bytes);
    let mut moved = true;
    while moved {
        moved = false;
        for other in pinned.iter().filter(|p| p.meets(block)) {
            let start = other.pin.unwrap_or(0);
            let end = start + other.size_bytes;
            if start < offset + block.size_bytes && offset < end {
                offset = align_up(end, block.align_bytes);
                moved = true;
            }
        }
    }
    offset
}

/// A span of steps, half-open, with everything up to `height` taken.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: u64,
    end: u64,
    height: u64,
}

struct Skyline {
    /// Start to end and height.
    lines: BTreeMap<u64, (u64, u64)>,
    /// Height and start, to find the lowest.
    heights: BTreeSet<(u64, u64)>,
}

impl Skyline {
    fn new(end: u64) -> Self {
        let mut skyline = Skyline { lines: BTreeMap::new(), heights: BTreeSet::new() };
        skyline.insert(Line { start: 0, end, height: 0 });
        skyline
    }

    fn insert(&mut self, line: Line) {
        if line.start < line.end {
            self.lines.insert(line.start, (line.end, line.height));
            self.heights.insert((line.height, line.start));
        }
    }

    fn remove(&mut self, line: Line) {
        self.lines.remove(&line.start);
        self.heights.remove(&(line.height, line.start));
    }

    fn lowest(&self) -> Line {
        let (height, start) = self.heights.first().expect("a skyline covers all steps");
        Line { start: *start, end: self.lines[start].0, height: *height }
    }

    /// Cuts a line into what is left of the block, the block at `height`, and what is right of it.
    fn raise(&mut self, line: Line, block: &Block, height: u64) {
        let (first, end) = (u64::from(block.first), u64::from(block.last) + 1);
        self.remove(line);
        self.insert(Line { end: first, ..line });
        self.insert(Line { start: first, end, height });
        self.insert(Line { start: end, ..line });
    }

    /// Joins a line to its lower neighbour, or to both where they are equally high.
    fn lift(&mut self, line: Line) {
        let left = self.lines.range(..line.start).next_back().map(|(s, (e, h))| Line {
            start: *s,
            end: *e,
            height: *h,
        });
        let right =
            self.lines.range(line.end..).next().map(|(s, (e, h))| Line { start: *s, end: *e, height: *h });
        let height = match (left, right) {
            (Some(left), Some(right)) => left.height.min(right.height),
            (Some(only), None) | (None, Some(only)) => only.height,
            (None, None) => unreachable!("a line over all steps holds any block"),
        };
        self.remove(line);
        let mut joined = Line { height, ..line };
        for neighbour in [left, right].into_iter().flatten().filter(|n| n.height == height) {
            self.remove(neighbour);
            joined.start = joined.start.min(neighbour.start);
            joined.end = joined.end.max(neighbour.end);
        }
        self.insert(joined);
    }
}
