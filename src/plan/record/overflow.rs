//! Free ranges of one region: where what no plan foresees finds its bytes, in constant time.
//!
//! Two-level segregated fit (Masmano et al. 2004): free ranges hang in lists by size, eight to each power of
//! two, with a bitmap over the lists. Sizes are `u64` and every offset is a multiple of the alignment, since
//! every size is rounded up to one.

use super::block::MAX_NODES;

/// No node.
const NONE: u32 = u32::MAX;
/// Lists to each power of two.
const LEAVES: usize = 8;

/// A free or taken range, linked to its neighbours by place and, where free, to others of its size.
#[derive(Debug, Clone, Copy)]
struct Node {
    offset: u64,
    size: u64,
    before: u32,
    after: u32,
    previous: u32,
    next: u32,
    taken: bool,
}

/// The ranges of one region; offsets and sizes in units of the alignment.
#[derive(Debug)]
pub struct Overflow {
    unit_bytes: u64,
    units: u64,
    taken: usize,
    nodes: Vec<Node>,
    unused: Vec<u32>,
    heads: Vec<[u32; LEAVES]>,
    /// Which powers of two have a list, and which of their lists.
    tops: u64,
    leaves: Vec<u8>,
}

/// A range taken: its first byte and the node to give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// First byte in the region.
    pub offset_bytes: u64,
    /// What [`Overflow::give_back`] takes.
    pub node: u32,
}

impl Overflow {
    /// All of a region of `bytes` free; what is less than one `unit_bytes` at its end stays unused.
    pub fn new(bytes: u64, unit_bytes: u64) -> Self {
        let units = bytes / unit_bytes;
        let mut overflow = Overflow {
            unit_bytes,
            units,
            taken: 0,
            nodes: Vec::new(),
            unused: Vec::new(),
            heads: vec![[NONE; LEAVES]; 64],
            tops: 0,
            leaves: vec![0; 64],
        };
        if units > 0 {
            let whole = overflow.node(0, units);
            overflow.hang(whole);
        }
        overflow
    }

    /// Whether nothing is taken.
    pub fn is_empty(&self) -> bool {
        self.taken == 0
    }

    /// Takes a range of at least `size_bytes`; `None` where no free range is as large. A range of no bytes
    /// takes one unit, so that it can be given back like any other.
    pub fn take(&mut self, size_bytes: u64) -> Option<Taken> {
        if self.unused.is_empty() && self.nodes.len() >= MAX_NODES as usize {
            return None;
        }
        let size = size_bytes.div_ceil(self.unit_bytes).max(1);
        let found = self.find(size)?;
        self.unhang(found);
        let Node { offset, size: held, after, .. } = self.nodes[found as usize];
        if held > size {
            let rest = self.node(offset + size, held - size);
            self.link(rest, after);
            self.link(found, rest);
            self.nodes[found as usize].size = size;
            self.hang(rest);
        }
        self.nodes[found as usize].taken = true;
        self.taken += 1;
        Some(Taken { offset_bytes: offset * self.unit_bytes, node: found })
    }

    /// Makes a range free again, joined with its free neighbours.
    pub fn give_back(&mut self, node: u32) {
        let Some(Node { taken: true, before, after, .. }) = self.nodes.get(node as usize).copied() else {
            return;
        };
        self.taken -= 1;
        self.nodes[node as usize].taken = false;
        let mut joined = node;
        for neighbour in [before, after] {
            if neighbour != NONE && !self.nodes[neighbour as usize].taken {
                self.unhang(neighbour);
                let (low, high) = if neighbour == before { (neighbour, joined) } else { (joined, neighbour) };
                let Node { size, after, .. } = self.nodes[high as usize];
                self.nodes[low as usize].size += size;
                self.link(low, after);
                self.unused.push(high);
                joined = low;
            }
        }
        self.hang(joined);
    }

    /// A free range of at least `size`: the smallest list whose every range is that large, else the first
    /// that fits in the list that may hold one.
    fn find(&self, size: u64) -> Option<u32> {
        if size > self.units {
            return None;
        }
        let (top, leaf) = list_above(size);
        let in_top = self.leaves.get(top)? & (u8::MAX << leaf);
        if in_top != 0 {
            return Some(self.heads[top][in_top.trailing_zeros() as usize]);
        }
        let tops = if top == 63 { 0 } else { self.tops & (u64::MAX << (top + 1)) };
        if tops != 0 {
            let top = tops.trailing_zeros() as usize;
            return Some(self.heads[top][self.leaves[top].trailing_zeros() as usize]);
        }
        let (top, leaf) = list_of(size);
        let mut at = self.heads[top][leaf];
        while at != NONE && self.nodes[at as usize].size < size {
            at = self.nodes[at as usize].next;
        }
        (at != NONE).then_some(at)
    }

    fn node(&mut self, offset: u64, size: u64) -> u32 {
        let node = Node { offset, size, before: NONE, after: NONE, previous: NONE, next: NONE, taken: false };
        match self.unused.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Makes `low` and `high` neighbours by place.
    fn link(&mut self, low: u32, high: u32) {
        self.nodes[low as usize].after = high;
        if high != NONE {
            self.nodes[high as usize].before = low;
        }
    }

    fn hang(&mut self, node: u32) {
        let (top, leaf) = list_of(self.nodes[node as usize].size);
        let head = std::mem::replace(&mut self.heads[top][leaf], node);
        self.nodes[node as usize].previous = NONE;
        self.nodes[node as usize].next = head;
        if head != NONE {
            self.nodes[head as usize].previous = node;
        }
        self.leaves[top] |= 1 << leaf;
        self.tops |= 1 << top;
    }

    fn unhang(&mut self, node: u32) {
        let Node { size, previous, next, .. } = self.nodes[node as usize];
        let (top, leaf) = list_of(size);
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
        if previous != NONE {
            self.nodes[previous as usize].next = next;
            return;
        }
        self.heads[top][leaf] = next;
        if next == NONE {
            self.leaves[top] &= !(1 << leaf);
            if self.leaves[top] == 0 {
                self.tops &= !(1 << top);
            }
        }
    }
}

/// The list that a range of `size` hangs in: its power of two, and the three bits below the highest.
fn list_of(size: u64) -> (usize, usize) {
    let top = size.max(1).ilog2();
    let leaf = if top >= 3 { size >> (top - 3) } else { size << (3 - top) };
    (top as usize, leaf as usize % LEAVES)
}

/// The first list in which every range holds `size`.
fn list_above(size: u64) -> (usize, usize) {
    let top = size.max(1).ilog2();
    let slack = if top >= 3 { (1u64 << (top - 3)) - 1 } else { 0 };
    list_of(size.saturating_add(slack))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_they_say() {
        for size in (1..5000).chain([1 << 40, (1 << 40) + 1, u64::MAX / 2]) {
            assert!(list_above(size) >= list_of(size));
            // Nothing smaller than `size` hangs in the list above it, or in one after that.
            assert!(size == 1 || list_of(size - 1) < list_above(size), "{size}");
        }
    }

    #[test]
    fn a_region_can_be_taken_whole_in_parts_and_whole_again() {
        let mut overflow = Overflow::new(10_007, 256);
        let whole = overflow.take(39 * 256).expect("it is all free");
        assert_eq!((whole.offset_bytes, overflow.take(1)), (0, None));
        overflow.give_back(whole.node);
        let parts: Vec<Taken> = (0..39).map(|_| overflow.take(200).expect("a unit each")).collect();
        assert_eq!(overflow.take(0), None);
        for part in parts.iter().step_by(2).chain(parts.iter().skip(1).step_by(2)) {
            overflow.give_back(part.node);
        }
        assert!(overflow.is_empty());
        assert_eq!(overflow.take(39 * 256), Some(Taken { offset_bytes: 0, node: whole.node }));
        overflow.give_back(77);
        assert!(!overflow.is_empty(), "an unknown node gives nothing back");
    }

    #[test]
    fn what_is_taken_never_meets() {
        let mut overflow = Overflow::new(1 << 20, 64);
        let mut live: Vec<(Taken, u64)> = Vec::new();
        let (mut state, mut given) = (1u64, 0);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let dice = state >> 33;
            if dice.is_multiple_of(3) && !live.is_empty() {
                let (taken, _) = live.swap_remove(dice as usize / 3 % live.len());
                overflow.give_back(taken.node);
            } else if let Some(taken) = overflow.take(dice % 40_000) {
                let end = taken.offset_bytes + dice % 40_000;
                assert!(taken.offset_bytes.is_multiple_of(64) && end <= 1 << 20);
                let apart = |(other, size): &(Taken, u64)| {
                    end <= other.offset_bytes || other.offset_bytes + size <= taken.offset_bytes
                };
                assert!(live.iter().all(apart));
                live.push((taken, dice % 40_000));
                given += 1;
            }
        }
        assert!(given > 5_000, "{given}");
    }
}
