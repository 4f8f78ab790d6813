//! Greedy placement without a conflict graph: which bytes are taken while a block lives.
//!
//! A segment tree over the sections. A node keeps the bytes taken throughout its span (`covers`) and the
//! bytes taken at any time of it (`unions`), both as few merged runs: what is dense melts into one run, so
//! that even a block that lives long looks at little. Sections are kept in buckets at the leaves, with
//! the exact spans of what covers a bucket only in part.

use super::super::ids::align_up;
use super::super::resolve::Block;
use super::sections::Sections;

/// Sections to a leaf.
const BUCKET: u32 = 16;

/// Which of the gaps that hold a block is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fit {
    /// The lowest.
    First,
    /// The smallest; of equals the lowest.
    Best,
}

/// Taken bytes, half-open.
type Run = (u64, u64);

/// A placed block that covers a bucket in part.
#[derive(Debug, Clone, Copy)]
struct Cut {
    bytes: Run,
    first: u32,
    last: u32,
}

/// Taken bytes over time.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    sections: u32,
    /// Number of leaves, a power of two; leaf `b` is node `leaves + b`, the root is node 1.
    leaves: usize,
    covers: Vec<Vec<Run>>,
    unions: Vec<Vec<Run>>,
    cuts: Vec<Vec<Cut>>,
    /// Runs met by the block in question.
    met: Vec<Run>,
}

impl Index {
    pub fn new(sections: u32) -> Self {
        let buckets = sections.div_ceil(BUCKET).max(1) as usize;
        let leaves = buckets.next_power_of_two();
        Index {
            sections,
            leaves,
            covers: vec![Vec::new(); 2 * leaves],
            unions: vec![Vec::new(); 2 * leaves],
            cuts: vec![Vec::new(); buckets],
            met: Vec::new(),
        }
    }

    /// The pinned blocks lie in it.
    pub fn with_pins(blocks: &[Block], sections: &Sections) -> Self {
        let mut index = Index::new(sections.count);
        for (block, span) in blocks.iter().zip(&sections.spans) {
            if let Some(pin) = block.pin {
                index.insert(*span, (pin, pin + block.size_bytes));
            }
        }
        index
    }

    /// Takes the bytes in all sections of the span, inclusive.
    pub fn insert(&mut self, (first, last): (u32, u32), bytes: Run) {
        let (from, to) = self.full_leaves(first, last);
        let (head, tail) = (self.leaf(first), self.leaf(last));
        for leaf in [head, tail] {
            if !(from..to).contains(&leaf) {
                let cuts = &mut self.cuts[leaf - self.leaves];
                let at = cuts.partition_point(|c| c.bytes.0 <= bytes.0);
                cuts.insert(at, Cut { bytes, first, last });
            }
            if head == tail {
                break;
            }
        }
        self.spread(head, bytes);
        self.spread(tail, bytes);
        // All nodes above these lie above the head or the tail.
        let (mut left, mut right) = (from, to);
        while left < right {
            if left & 1 == 1 {
                add(&mut self.covers[left], bytes);
                add(&mut self.unions[left], bytes);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                add(&mut self.covers[right], bytes);
                add(&mut self.unions[right], bytes);
            }
            (left, right) = (left / 2, right / 2);
        }
    }

    /// Adds bytes to the unions of a leaf and of all nodes above it.
    fn spread(&mut self, leaf: usize, bytes: Run) {
        let mut node = leaf;
        // Where they were there already, they are in everything above as well.
        while node > 0 && add(&mut self.unions[node], bytes) {
            node /= 2;
        }
    }

    /// Where a block of that size and alignment goes that lives in these sections.
    pub fn find(&mut self, span: (u32, u32), size_bytes: u64, align_bytes: u64, fit: Fit) -> u64 {
        self.gather(span);
        let (mut floor, mut best): (u64, Option<(u64, u64)>) = (0, None);
        for (start, end) in &self.met {
            if *start >= floor {
                let gap = start - floor;
                if gap >= size_bytes && best.is_none_or(|(least, _)| gap < least) {
                    best = Some((gap, floor));
                    if fit == Fit::First || gap == size_bytes {
                        break;
                    }
                }
            }
            if *end > floor {
                floor = align_up(*end, align_bytes);
            }
        }
        best.map_or(floor, |(_, offset)| offset)
    }

    /// Collects what is taken at any time of the span, ascending.
    fn gather(&mut self, (first, last): (u32, u32)) {
        let (from, to) = self.full_leaves(first, last);
        let (head, tail) = (self.leaf(first), self.leaf(last));
        self.met.clear();
        for leaf in [head, tail] {
            if !(from..to).contains(&leaf) {
                let meets = |c: &&Cut| c.first <= last && first <= c.last;
                self.met.extend(self.cuts[leaf - self.leaves].iter().filter(meets).map(|c| c.bytes));
            }
            if head == tail {
                break;
            }
        }
        let (mut left, mut right) = (from, to);
        while left < right {
            if left & 1 == 1 {
                self.met.extend_from_slice(&self.unions[left]);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                self.met.extend_from_slice(&self.unions[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        // Whatever covers a node above the span's ends covers part of the span.
        let (mut left, mut right) = (head, tail);
        while left > 0 {
            self.met.extend_from_slice(&self.covers[left]);
            if right != left {
                self.met.extend_from_slice(&self.covers[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        // Stable, since it is quick on the few sorted lists that this is made of.
        self.met.sort();
    }

    fn leaf(&self, section: u32) -> usize {
        self.leaves + (section / BUCKET) as usize
    }

    /// Leaves that lie in the span whole, half-open.
    fn full_leaves(&self, first: u32, last: u32) -> (usize, usize) {
        let from = first.div_ceil(BUCKET);
        let to = if last + 1 >= self.sections { last / BUCKET + 1 } else { (last + 1) / BUCKET };
        (self.leaves + from as usize, self.leaves + to.max(from) as usize)
    }
}

/// Adds bytes to sorted runs that neither meet nor touch; whether that changed anything.
fn add(runs: &mut Vec<Run>, (start, end): Run) -> bool {
    let from = runs.partition_point(|r| r.1 < start);
    let to = from + runs[from..].partition_point(|r| r.0 <= end);
    if from == to {
        runs.insert(from, (start, end));
        return true;
    }
    if runs[from].0 <= start && end <= runs[from].1 {
        return false;
    }
    runs[from] = (runs[from].0.min(start), runs[to - 1].1.max(end));
    runs.drain(from + 1..to);
    true
}

/// Pinned blocks first, then the others in that order, each into a gap; one offset a block.
pub(crate) fn place(blocks: &[Block], order: &[usize], fit: Fit) -> Vec<u64> {
    let sections = Sections::new(blocks);
    let mut index = Index::with_pins(blocks, &sections);
    let mut offsets: Vec<u64> = blocks.iter().map(|b| b.pin.unwrap_or(0)).collect();
    for i in order.iter().copied().filter(|i| blocks[*i].pin.is_none()) {
        let (block, span) = (&blocks[i], sections.spans[i]);
        offsets[i] = index.find(span, block.size_bytes, block.align_bytes, fit);
        index.insert(span, (offsets[i], offsets[i] + block.size_bytes));
    }
    offsets
}
