//! The exact search: is there a packing below a capacity?
//!
//! One complete search, the corner search, is run in rounds that differ in what they try first. Exhausting it
//! proves that there is none: with pins and any alignment too, since every packing can be pushed down until
//! each piece lies at the lowest multiple of its alignment above what it rests on, and the search visits all
//! packings of that kind.

mod corner;
mod memo;
mod minimise;
mod model;
mod niche;
mod random;
mod section_set;
mod skyline;
mod style;
#[cfg(test)]
mod tests;
mod valley;

use crate::plan::clock::Instant;
use std::sync::atomic::{AtomicBool, Ordering};

#[allow(unused_imports, reason = "the planner does not call it yet")]
pub(crate) use minimise::minimise;

use corner::CornerSearch;
use model::{Built, Model};
use style::Style;

/// A rectangle in steps and bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub size: u64,
    pub first: u32,
    /// Inclusive.
    pub last: u32,
    /// A power of two that its offset is a multiple of.
    pub align: u64,
    pub pin: Option<u64>,
}

/// What is known about a capacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Offsets in the order of the items.
    Fits(Vec<u64>),
    /// The search space is exhausted: a proof.
    Impossible,
    /// Nodes or time ran out.
    Unknown,
}

/// How much a search may spend.
#[derive(Debug)]
pub(crate) struct Effort<'a> {
    /// Nodes left.
    pub nodes: u64,
    pub deadline: Option<Instant>,
    pub cancelled: Option<&'a AtomicBool>,
}

/// Nodes between two looks at the clock.
const NODES_PER_LOOK: u64 = 1 << 10;

impl Effort<'_> {
    /// Takes one node; false where nothing is left.
    fn spend(&mut self) -> bool {
        if self.nodes == 0 {
            return false;
        }
        self.nodes -= 1;
        if self.nodes.is_multiple_of(NODES_PER_LOOK) && self.is_over() {
            self.nodes = 0;
            return false;
        }
        true
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
            || self.cancelled.is_some_and(|c| c.load(Ordering::Relaxed))
    }
}

/// What a search says about a component; offsets in units, in the order of its pieces.
#[derive(Debug)]
enum Verdict {
    Fits(Vec<u64>),
    Impossible,
    Unknown,
}

/// Looks for offsets below a capacity, bytes.
pub(crate) fn fits(items: &[Item], capacity: u64, effort: &mut Effort) -> Answer {
    fits_beside(items, capacity, &[], 0, effort)
}

/// Like [`fits`], with offsets to keep for components that lie below the capacity already; another `salt`
/// looks elsewhere first.
fn fits_beside(items: &[Item], capacity: u64, known: &[u64], salt: u64, effort: &mut Effort) -> Answer {
    let Built::Components(models) = model::build(items, capacity) else { return Answer::Impossible };
    let mut offsets: Vec<u64> = items.iter().map(|item| item.pin.unwrap_or(0)).collect();
    let mut unknown = false;
    for model in &models {
        let below = |i: usize| known.get(i).is_some_and(|at| at + items[i].size <= capacity);
        if model.pieces.iter().all(|p| below(p.item as usize)) {
            model.pieces.iter().for_each(|p| offsets[p.item as usize] = known[p.item as usize]);
            continue;
        }
        match solve(model, salt, lowness(model, items, known), effort) {
            Verdict::Fits(places) => {
                for (piece, place) in model.pieces.iter().zip(places) {
                    offsets[piece.item as usize] = place * model.unit;
                }
            }
            Verdict::Impossible => return Answer::Impossible,
            Verdict::Unknown => unknown = true,
        }
    }
    if unknown { Answer::Unknown } else { Answer::Fits(offsets) }
}

/// Nodes of the shortest rounds: twice as many as there are pieces, and no fewer than this.
const SHORTEST_ROUND: u64 = 500;

fn solve(model: &Model, salt: u64, low: Vec<i64>, effort: &mut Effort) -> Verdict {
    let Some(mut corner) = CornerSearch::new(model) else { return Verdict::Impossible };
    corner.stay_near(low);
    let shortest = SHORTEST_ROUND.max(2 * model.pieces.len() as u64);
    let mut round = 0u64;
    loop {
        // Every other round is a shortest one, every fourth twice as long, and so on: nobody knows which
        // length a problem needs, and each gets the same share.
        let nodes = shortest << (round + 1).trailing_zeros().min(40);
        match corner.round(Style::of_round(round, salt), nodes, effort) {
            Verdict::Unknown if effort.nodes == 0 => return Verdict::Unknown,
            Verdict::Unknown => round += 1,
            verdict => return verdict,
        }
    }
}

/// Per piece how low it lies in a known packing, 0 to 4096.
fn lowness(model: &Model, items: &[Item], known: &[u64]) -> Vec<i64> {
    let peak = items.iter().zip(known).map(|(item, at)| item.size + at).max().unwrap_or(0).max(1);
    let high = |p: &model::Piece| (u128::from(known[p.item as usize]) << 12) / u128::from(peak);
    if known.is_empty() { Vec::new() } else { model.pieces.iter().map(|p| 4096 - high(p) as i64).collect() }
}
