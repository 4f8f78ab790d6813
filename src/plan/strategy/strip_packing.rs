//! Strip packing by best fit with lifting, arXiv 1804.10001.
//!
//! A skyline over the steps: take its lowest line (the leftmost of equals) and put onto it the
//! longest-lived block that fits between its ends; where none does, lift the line to its lower neighbour.
//! What lies under a lifted line is lost.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::ids::align_up;
use super::super::resolve::Block;

pub(super) fn place(blocks: &[Block]) -> Vec<u64> {
    let mut todo: Vec<usize> = (0..blocks.len()).filter(|i| blocks[*i].pin.is_none()).collect();
    // Blocks of equal length keep the order of the schedule, as published.
    todo.sort_by_key(|i| (Reverse(length(&blocks[*i])), blocks[*i].first, *i));
    let pinned: Vec<&Block> = blocks.iter().filter(|b| b.pin.is_some()).collect();
    let mut offsets: Vec<u64> = blocks.iter().map(|b| b.pin.unwrap_or(0)).collect();
    let end = blocks.iter().map(|b| u64::from(b.last) + 1).max().unwrap_or(0);
    let mut skyline = Skyline::new(end);
    while !todo.is_empty() {
        let line = skyline.lowest();
        let fitting = todo
            .iter()
            .position(|i| line.start <= u64::from(blocks[*i].first) && u64::from(blocks[*i].last) < line.end);
        match fitting {
            Some(at) => {
                let block = &blocks[todo[at]];
                let offset = above_pins(&pinned, block, line.height);
                offsets[todo[at]] = offset;
                skyline.raise(line, block, offset + block.size_bytes);
                todo.remove(at);
            }
            None => skyline.lift(line),
        }
    }
    offsets
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
