//! Search for the least total of shared objects.
//!
//! Starts from the best published strategy, trades between two objects at a time, then searches all ways to
//! deal the blocks out for as long as its budget of nodes lasts. All budgets are counted, so the result is
//! the same everywhere. The bound is that of arXiv 2001.03288: the sum of the positional maxima.

mod exhaust;
mod trade;

use super::super::super::bound::positional_maxima_of;
use super::super::super::resolve::Block;
use super::{Objects, SharedStrategy};

/// Beyond this many blocks only the published strategies are compared.
const MOST_BLOCKS: usize = 20_000;
/// The flow's time grows with the cube of the number of blocks.
const MOST_FOR_FLOW: usize = 1_000;
/// Beyond this many blocks nothing is exhausted.
const MOST_FOR_EXHAUSTION: usize = 400;

/// Objects, and what no objects can undercut as far as is known.
pub(super) struct Searched {
    pub objects: Objects,
    pub lower_bound_bytes: u64,
}

/// Which object holds each block, and the sum of their sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Deal {
    object_of: Vec<usize>,
    total_bytes: u64,
}

pub(super) fn assign(blocks: &[Block]) -> Searched {
    let maxima = positional_maxima_of(blocks);
    let lower_bound_bytes = maxima.iter().sum();
    let mut best: Option<Deal> = None;
    for strategy in SharedStrategy::PUBLISHED {
        let is_enough = best.as_ref().is_some_and(|b| b.total_bytes == lower_bound_bytes);
        if is_enough || (*strategy == SharedStrategy::MinCostFlow && blocks.len() > MOST_FOR_FLOW) {
            continue;
        }
        let objects = strategy.assign(blocks);
        let total_bytes = objects.sizes_bytes.iter().sum();
        if best.as_ref().is_none_or(|b| total_bytes < b.total_bytes) {
            best = Some(Deal { object_of: objects.object_of, total_bytes });
        }
    }
    let mut best = best.expect("no reuse at all is always possible");
    let mut proven_bytes = lower_bound_bytes;
    if best.total_bytes > lower_bound_bytes && blocks.len() <= MOST_BLOCKS {
        best = trade::improve(blocks, best, lower_bound_bytes);
    }
    if best.total_bytes > lower_bound_bytes && blocks.len() <= MOST_FOR_EXHAUSTION {
        let (deal, is_exhausted) = exhaust::search(blocks, &maxima, best);
        best = deal;
        if is_exhausted {
            proven_bytes = best.total_bytes;
        }
    }
    Searched { objects: rebuild(blocks, &best.object_of), lower_bound_bytes: proven_bytes }
}

/// Objects without holes in their numbers, in the order of first use by the blocks.
fn rebuild(blocks: &[Block], object_of: &[usize]) -> Objects {
    let mut objects = Objects::new(blocks);
    let mut number = std::collections::HashMap::new();
    for (i, old) in object_of.iter().enumerate() {
        let new = objects.put(blocks, i, number.get(old).copied());
        number.insert(*old, new);
    }
    objects
}

#[cfg(test)]
mod tests;
