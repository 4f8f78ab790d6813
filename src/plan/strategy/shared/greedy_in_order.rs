//! Greedy in order, as in the TFLite GPU delegate: by first use, each block takes the free object whose
//! size differs least, a larger one where two differ equally; that object may grow.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::super::super::resolve::Block;
use super::Objects;

pub(super) fn assign(blocks: &[Block]) -> Objects {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    // The delegate takes records as they come; in a problem they may come in any order, in a schedule they
    // do not.
    order.sort_by_key(|i| (blocks[*i].first, *i));
    let mut objects = Objects::new(blocks);
    let mut pool: BTreeSet<(u64, usize)> = BTreeSet::new();
    let mut in_use: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
    for i in order {
        let block = &blocks[i];
        while let Some(Reverse((last, object))) = in_use.peek().copied() {
            if last >= block.first {
                break;
            }
            in_use.pop();
            pool.insert((objects.sizes_bytes[object], object));
        }
        let larger = pool.range((block.size_bytes, 0)..).next().copied();
        let smaller = pool.range(..(block.size_bytes, 0)).next_back().copied();
        let best = match (smaller, larger) {
            (Some(s), Some(l)) if block.size_bytes - s.0 < l.0 - block.size_bytes => Some(s),
            (smaller, larger) => larger.or(smaller),
        };
        if let Some(record) = best {
            pool.remove(&record);
        }
        let object = objects.put(blocks, i, best.map(|(_, object)| object));
        in_use.push(Reverse((block.last, object)));
    }
    objects
}
