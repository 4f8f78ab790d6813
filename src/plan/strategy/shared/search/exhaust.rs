//! All ways to deal blocks out, largest block first.
//!
//! In that order an object's size is that of the block that opens it, so only opening costs. What is still
//! to come needs at least the positional maxima beyond the objects already open: those are the largest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::super::super::resolve::Block;
use super::Deal;

const NODES: usize = 400_000;

/// A better deal if there is one, and whether all were searched.
pub(super) fn search(blocks: &[Block], maxima: &[u64], best: Deal) -> (Deal, bool) {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|i| (Reverse(blocks[*i].size_bytes), blocks[*i].first, blocks[*i].last, *i));
    let mut to_come = vec![0; maxima.len() + 1];
    for at in (0..maxima.len()).rev() {
        to_come[at] = to_come[at + 1] + maxima[at];
    }
    let mut search =
        Search { blocks, order, to_come, open: Vec::new(), object_of: vec![0; blocks.len()], best, nodes: 0 };
    search.visit(0, 0);
    (search.best, search.nodes < NODES)
}

struct Search<'a> {
    blocks: &'a [Block],
    order: Vec<usize>,
    /// Sum of the positional maxima from that one on.
    to_come: Vec<u64>,
    /// Per open object its intervals, first step to last.
    open: Vec<BTreeMap<u32, u32>>,
    object_of: Vec<usize>,
    best: Deal,
    nodes: usize,
}

impl Search<'_> {
    fn visit(&mut self, at: usize, cost_bytes: u64) {
        self.nodes += 1;
        let least = cost_bytes + self.to_come.get(self.open.len()).copied().unwrap_or(0);
        if self.nodes >= NODES || least >= self.best.total_bytes {
            return;
        }
        let Some(i) = self.order.get(at).copied() else {
            self.best = Deal { object_of: self.object_of.clone(), total_bytes: cost_bytes };
            return;
        };
        let block = &self.blocks[i];
        // Twins in a row go to objects in ascending order: the other way round is the same deal.
        let twin = at.checked_sub(1).map(|before| self.order[before]).filter(|t| self.blocks[*t] == *block);
        let from = twin.map_or(0, |twin| self.object_of[twin] + 1);
        for object in self.candidates(block, from) {
            self.open[object].insert(block.first, block.last);
            self.object_of[i] = object;
            self.visit(at + 1, cost_bytes);
            self.open[object].remove(&block.first);
        }
        self.open.push(BTreeMap::from([(block.first, block.last)]));
        self.object_of[i] = self.open.len() - 1;
        self.visit(at + 1, cost_bytes + block.size_bytes);
        self.open.pop();
    }

    /// Objects that are free for the block, the tightest gap first.
    fn candidates(&self, block: &Block, from: usize) -> Vec<usize> {
        let free = |o: &usize| {
            self.open[*o].range(..=block.last).next_back().is_none_or(|(_, last)| *last < block.first)
        };
        let mut objects: Vec<usize> = (from..self.open.len()).filter(free).collect();
        objects.sort_by_key(|o| {
            let (first, last) = self.gap(block, *o);
            (last - first, *o)
        });
        objects
    }

    /// The free steps around the block in an object.
    fn gap(&self, block: &Block, object: usize) -> (u32, u32) {
        let before = self.open[object].range(..block.first).next_back().map_or(0, |(_, last)| last + 1);
        let after = self.open[object].range(block.last..).next().map_or(u32::MAX, |(first, _)| *first);
        (before, after)
    }
}
