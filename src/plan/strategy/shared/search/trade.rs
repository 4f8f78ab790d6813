//! Trading between two objects: a block changes over, whatever it meets there comes back, and so on until
//! nothing meets (a Kempe chain). Kept where the total is no higher than what was accepted some trades ago.

use super::super::super::super::resolve::Block;
use super::Deal;

/// Blocks looked at in all trades together.
const WORK: usize = 60_000_000;
const MOST_TRADES: usize = 400_000;
/// How many trades ago.
const LATENESS: usize = 200;

pub(super) fn improve(blocks: &[Block], start: Deal, lower_bound_bytes: u64) -> Deal {
    let mut table = Table::new(blocks, &start);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut history = [start.total_bytes; LATENESS];
    let mut best = start;
    let (mut work, mut turn) = (0, 0);
    while work < WORK && turn < MOST_TRADES && best.total_bytes > lower_bound_bytes {
        turn += 1;
        let block = random.below(blocks.len());
        let from = table.object_of[block];
        let to = random.below(table.held.len());
        work += 1 + table.held[from].len() + table.held[to].len();
        if to == from {
            continue;
        }
        let chain = table.chain(block, from, to);
        let before = table.total_bytes;
        table.trade(&chain, from, to);
        let slot = &mut history[turn % LATENESS];
        if table.total_bytes > before && table.total_bytes > *slot {
            // What changed over changes back.
            table.trade(&chain, from, to);
            continue;
        }
        *slot = (*slot).min(table.total_bytes).max(best.total_bytes);
        if table.total_bytes < best.total_bytes {
            best = Deal { object_of: table.object_of.clone(), total_bytes: table.total_bytes };
        }
    }
    best
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

struct Table<'a> {
    blocks: &'a [Block],
    object_of: Vec<usize>,
    /// Per object its blocks by first step; one object more than needed is empty.
    held: Vec<Vec<usize>>,
    sizes_bytes: Vec<u64>,
    total_bytes: u64,
}

impl<'a> Table<'a> {
    fn new(blocks: &'a [Block], deal: &Deal) -> Self {
        let objects = deal.object_of.iter().max().map_or(0, |most| most + 1);
        let mut held = vec![Vec::new(); objects + 1];
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|i| blocks[*i].first);
        order.into_iter().for_each(|i| held[deal.object_of[i]].push(i));
        let size = |held: &Vec<usize>| held.iter().map(|i| blocks[*i].size_bytes).max().unwrap_or(0);
        let sizes_bytes: Vec<u64> = held.iter().map(size).collect();
        let total_bytes = sizes_bytes.iter().sum();
        Table { blocks, object_of: deal.object_of.clone(), held, sizes_bytes, total_bytes }
    }

    /// The blocks of the two objects that are connected with `block` by meeting one another.
    fn chain(&self, block: usize, from: usize, to: usize) -> Vec<usize> {
        let mut chain = vec![block];
        let mut at = 0;
        while at < chain.len() {
            let block = &self.blocks[chain[at]];
            let other = if self.object_of[chain[at]] == from { to } else { from };
            let held = &self.held[other];
            // Blocks of one object are disjoint, so those that a block meets are neighbours.
            let met = held.partition_point(|i| self.blocks[*i].last < block.first);
            for i in held[met..].iter().take_while(|i| self.blocks[**i].first <= block.last) {
                if !chain.contains(i) {
                    chain.push(*i);
                }
            }
            at += 1;
        }
        chain
    }

    fn trade(&mut self, chain: &[usize], from: usize, to: usize) {
        for i in chain {
            self.object_of[*i] = if self.object_of[*i] == from { to } else { from };
        }
        let mut all: Vec<usize> = self.held[from].iter().chain(&self.held[to]).copied().collect();
        all.sort_by_key(|i| (self.blocks[*i].first, *i));
        let (here, there) = all.into_iter().partition(|i| self.object_of[*i] == from);
        (self.held[from], self.held[to]) = (here, there);
        for object in [from, to] {
            let size = self.held[object].iter().map(|i| self.blocks[*i].size_bytes).max().unwrap_or(0);
            self.total_bytes = self.total_bytes - self.sizes_bytes[object] + size;
            self.sizes_bytes[object] = size;
        }
    }
}
