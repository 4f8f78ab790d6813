//! A few orders grown side by side, one node a round, where there are too many sets for the exact search.

use std::collections::HashSet;

use super::exact::Budget;
use super::model::{Model, State};

/// Most orders side by side.
const WIDTH: usize = 128;
/// Nodes copied in the time that one is weighed.
const COPIED: usize = 16;

/// One order under way.
struct Entry {
    state: State,
    peak_bytes: u64,
    /// Identifies the set of executed nodes.
    set: u128,
    /// Its last node in the list of all that were taken.
    last: usize,
}

/// The next node of an order: what decides first comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Move {
    peak_bytes: u64,
    after_bytes: u64,
    node: u32,
    entry: usize,
}

/// An order with a low peak below `limit_bytes`, if one is found; peaks up to `floor_bytes` are all the same.
/// Takes about `work`: how many orders stand side by side depends on it.
pub(super) fn search(
    model: &Model,
    floor_bytes: u64,
    limit_bytes: u64,
    work: &mut Budget,
) -> Option<Vec<u32>> {
    let n = model.len();
    let mut taken: Vec<(usize, u32)> = vec![(0, 0)];
    let mut beam = vec![Entry { state: model.start().clone(), peak_bytes: floor_bytes, set: 0, last: 0 }];
    for left in (1..=n).rev() {
        let mut moves = Vec::new();
        for (entry, e) in beam.iter().enumerate() {
            let next = |node: u32| {
                let cost = model.cost(&e.state, node);
                let peak_bytes = e.peak_bytes.max(cost.during_bytes);
                Move { peak_bytes, after_bytes: cost.after_bytes, node, entry }
            };
            match model.forced(&e.state, e.peak_bytes) {
                Some(node) => moves.push(next(node)),
                None => moves.extend(e.state.ready().iter().map(|n| next(*n))),
            }
        }
        // A state that is kept costs a copy and the next nodes weighed.
        let one = moves.len() / beam.len().max(1) + n / COPIED + 1;
        let width = (work.share(left) / one).clamp(1, WIDTH);
        work.spend(beam.len() * one);
        moves.retain(|m| m.peak_bytes < limit_bytes);
        moves.sort_unstable();
        let mut seen = HashSet::new();
        moves.retain(|m| seen.len() < width && seen.insert(beam[m.entry].set ^ mark(m.node)));
        beam = moves.iter().map(|m| grown(model, &beam[m.entry], m, &mut taken)).collect();
    }
    let mut last = beam.iter().min_by_key(|e| (e.peak_bytes, e.last))?.last;
    let mut order = Vec::with_capacity(n);
    while last != 0 {
        order.push(taken[last].1);
        last = taken[last].0;
    }
    order.reverse();
    Some(order)
}

fn grown(model: &Model, entry: &Entry, by: &Move, taken: &mut Vec<(usize, u32)>) -> Entry {
    let mut state = entry.state.clone();
    model.execute(&mut state, by.node);
    taken.push((entry.last, by.node));
    Entry { state, peak_bytes: by.peak_bytes, set: entry.set ^ mark(by.node), last: taken.len() - 1 }
}

/// A number for every node such that those of two sets hardly ever add up to the same; where they do, an
/// order is lost, not wrong.
fn mark(node: u32) -> u128 {
    let half = |salt: u64| {
        // Splitmix64.
        let mut z = (u64::from(node) + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    u128::from(half(1)) << 64 | u128::from(half(1 << 40))
}
