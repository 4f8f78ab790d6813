//! The exact search: is there a packing below a capacity?
//!
//! Two complete searches take turns, each for a number of nodes: the corner search and the canonical
//! depth-first search.

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

use super::super::clock::Instant;
use std::sync::atomic::{AtomicBool, Ordering};

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
        match solve(model, items, known, salt, effort) {
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

/// Nodes of the first rounds: twice as many as there are pieces, and no fewer than this.
const FIRST_ROUND: u64 = 500;
/// Rounds after which the nodes of a round double.
const ROUNDS_PER_DOUBLING: u64 = 16;

fn solve(model: &Model, items: &[Item], known: &[u64], salt: u64, effort: &mut Effort) -> Verdict {
    let Some(mut corner) = CornerSearch::new(model) else { return Verdict::Impossible };
    if !known.is_empty() {
        let peak = items.iter().zip(known).map(|(i, k)| i.size + k).max().unwrap_or(1);
        corner.guide = model
            .pieces
            .iter()
            .map(|p| 4096 - (known[p.item as usize] as u128 * 4096 / peak as u128) as i64)
            .collect();
    }
    let first_round = FIRST_ROUND.max(2 * model.pieces.len() as u64);
    let mut round = 0;
    loop {
        let nodes = first_round << (round / ROUNDS_PER_DOUBLING).min(40);
        match corner.round(Style::of_round(round, salt), nodes, effort) {
            Verdict::Unknown if effort.nodes == 0 => return Verdict::Unknown,
            Verdict::Unknown => round += 1,
            verdict => {
                if std::env::var("V").is_ok() {
                    eprintln!("{round} {nodes} {:?}", Style::of_round(round, salt));
                }
                return verdict;
            }
        }
    }
}
