//! Dealing blocks out greedily, in several orders, one of which is then varied.

use std::cmp::Reverse;

use super::super::auto::Options;
use super::super::resolve::{Block, Parted};
use super::super::strategy::gap::{Arena, Fit};
use super::super::strategy::{by_breadth, by_size, in_order, steps_by_breadth};
use super::colour::{Sides, Tally};
use super::{Demands, Packed};

/// Work that varying the order may take: rounds times blocks squared.
const SEARCH_WORK: usize = 30_000_000;
const MAX_ROUNDS: usize = 5_000;
const ROUNDS_PER_BLOCK: usize = 40;

/// Spreads blocks over arenas of at most `limit_bytes`, near the plans for one large arena in `singles`.
///
/// Several orders are tried, then one is varied: a block that comes earlier gets a better place. The steps
/// of that search are counted, not timed, and its random numbers have a fixed seed, so the result is the
/// same everywhere.
pub(super) fn best(
    blocks: &[Block],
    singles: &[Vec<u64>],
    sides: &Sides<'_>,
    demands: &Demands<'_>,
    options: &Options,
) -> Packed {
    let limit_bytes = demands.limit_bytes;
    let mut orders: Vec<Vec<usize>> = singles.iter().map(|offsets| by_offset(blocks, offsets)).collect();
    orders.extend([by_size(blocks), by_breadth(blocks), in_order(blocks)]);
    if !sides.is_empty() {
        orders.push(by_degree(blocks, sides));
    }
    let mut best = split(blocks, sides, &orders[0], limit_bytes);
    let (mut order, mut limit) = (&orders[0], limit_bytes);
    for tried in std::iter::once(limit_bytes).chain(lower_limits(blocks, &singles[0], limit_bytes)) {
        for candidate in &orders {
            if options.is_late() {
                return best;
            }
            let packed = split(blocks, sides, candidate, tried);
            if packed.rank() < best.rank() {
                (best, order, limit) = (packed, candidate, tried);
            }
        }
    }
    vary(blocks, sides, order.clone(), Demands { limit_bytes: limit, ..*demands }, options, best)
}

/// Limits below the real one that may leave less unused: heights at which the single arena's fullest step
/// can be cut without cutting a block, and even fractions.
fn lower_limits(blocks: &[Block], offsets: &[u64], limit_bytes: u64) -> Vec<u64> {
    let needed = blocks.iter().map(|b| b.size_bytes + b.pin.unwrap_or(0)).max().unwrap_or(0);
    let useful = |limit: &u64| (needed..limit_bytes).contains(limit);
    let fullest = steps_by_breadth(blocks).first().copied().unwrap_or(0);
    let mut cuts: Vec<u64> = blocks
        .iter()
        .zip(offsets)
        .filter(|(block, _)| (block.first..=block.last).contains(&fullest))
        .map(|(block, offset)| offset + block.size_bytes)
        .filter(useful)
        .collect();
    cuts.sort_unstable_by_key(|cut| Reverse(*cut));
    cuts.dedup();
    cuts.truncate(8);
    cuts.into_iter().chain((4..8).rev().map(|eighths| limit_bytes / 8 * eighths).filter(useful)).collect()
}

/// Moves single blocks to the front of the order for as long as that does not make the plan worse.
fn vary(
    blocks: &[Block],
    sides: &Sides<'_>,
    mut order: Vec<usize>,
    demands: Demands<'_>,
    options: &Options,
    mut best: Packed,
) -> Packed {
    let mut random = options.seed ^ 0x9e37_79b9_7f4a_7c15;
    let mut below = |n: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % n as u64) as usize
    };
    let rounds = if blocks.len() < 2 {
        0
    } else {
        (SEARCH_WORK / blocks.len().pow(2)).min(MAX_ROUNDS).min(ROUNDS_PER_BLOCK * (blocks.len() + 4))
    };
    for _ in 0..rounds {
        if best.peak_bytes() <= demands.bound_bytes || options.is_late() {
            break;
        }
        let from = 1 + below(order.len() - 1);
        let to = below(from);
        order[to..=from].rotate_right(1);
        let packed = split(blocks, sides, &order, demands.limit_bytes);
        if packed.rank() <= best.rank() {
            best = packed;
        } else {
            order[to..=from].rotate_left(1);
        }
    }
    best
}

/// Deals blocks out in that order; pinned ones lie in the first arena. Every block, with its pin, fits
/// `limit_bytes`.
///
/// A block goes where no arena has to grow, into the smallest gap; else where the growth is least; a new
/// arena is opened only where no arena can hold it under the limit.
fn split(blocks: &[Block], sides: &Sides<'_>, order: &[usize], limit_bytes: u64) -> Packed {
    let mut arenas: Vec<Arena> = Vec::new();
    let mut tally = Tally::default();
    let mut places = vec![(0, 0); blocks.len()];
    for (i, block) in blocks.iter().enumerate() {
        if let Some(pin) = block.pin {
            if arenas.is_empty() {
                arenas.push(Arena::default());
            }
            arenas[0].insert(blocks, i, pin);
            tally.enter(sides, i, 0);
            places[i] = (0, pin);
        }
    }
    for i in order.iter().copied().filter(|i| blocks[*i].pin.is_none()) {
        let block = &blocks[i];
        let best = arenas
            .iter()
            .enumerate()
            .filter(|(a, _)| tally.allows(sides, i, *a))
            .map(|(a, arena)| (a, arena.best_fit(blocks, block), arena.top_bytes))
            .filter(|(_, fit, _)| fit.offset_bytes + block.size_bytes <= limit_bytes)
            .min_by_key(|(a, fit, top)| {
                let growth = (fit.offset_bytes + block.size_bytes).saturating_sub(*top);
                (growth, fit.gap_bytes.unwrap_or(u64::MAX), *a)
            });
        let (arena, Fit { offset_bytes, .. }) = match best {
            Some((a, fit, _)) => (a, fit),
            None => {
                arenas.push(Arena::default());
                (arenas.len() - 1, Fit { offset_bytes: 0, gap_bytes: None })
            }
        };
        arenas[arena].insert(blocks, i, offset_bytes);
        tally.enter(sides, i, arena);
        places[i] = (arena, offset_bytes);
    }
    Packed { places, arenas: arenas.iter().map(|a| a.top_bytes).collect() }
}

/// Splits without any reuse: as if every block lived at every step.
pub(crate) fn naive(blocks: &[Block], parted: &[Parted], limit_bytes: u64) -> Packed {
    let always: Vec<Block> = blocks.iter().map(|b| Block { first: 0, last: u32::MAX, ..b.clone() }).collect();
    let order: Vec<usize> = (0..blocks.len()).collect();
    split(&always, &Sides::new(blocks.len(), parted), &order, limit_bytes)
}

/// Blocks by the offset they have in one large arena, ties by size: replays that plan from the bottom up.
fn by_offset(blocks: &[Block], offsets: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|i| (offsets[*i], Reverse(blocks[*i].size_bytes), blocks[*i].first, *i));
    order
}

/// Blocks with many separations first: those with few fit in wherever they come.
fn by_degree(blocks: &[Block], sides: &Sides<'_>) -> Vec<usize> {
    let mut order = by_size(blocks);
    order.sort_by_key(|i| Reverse(sides.degree(*i)));
    order
}
