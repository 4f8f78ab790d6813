//! Search for the lowest peak of blocks in one arena.

use crate::plan::clock::Instant;

use super::resolve::Block;
use super::strategy::{self, Strategy};
use super::{Effort, Phase, Progress, Proof};

/// How long and for what to search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchOptions {
    pub effort: Effort,
    pub deadline: Option<Instant>,
    pub seed: u64,
    pub threads: usize,
    /// Good enough: nothing below it is looked for.
    pub capacity_goal: Option<u64>,
}

impl SearchOptions {
    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The same with the least effort.
    pub fn fast(&self) -> Self {
        SearchOptions { effort: Effort::Fast, ..*self }
    }
}

/// The best placement found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub offsets: Vec<u64>,
    pub peak_bytes: u64,
    pub lower_bound_bytes: u64,
    pub proof: Option<Proof>,
    pub method: Strategy,
}

/// What is tried, in this order; of equally good placements the first stays.
const PORTFOLIO: &[Strategy] =
    &[Strategy::GreedyBySize, Strategy::StripPacking, Strategy::GreedyByBreadth, Strategy::GreedyInOrder];

pub(crate) fn search(blocks: &[Block], options: &SearchOptions, progress: &mut dyn FnMut(Progress)) -> Found {
    let lower_bound_bytes = strategy::load_profile(blocks).highest_bytes;
    let mut best: Option<Found> = None;
    for method in PORTFOLIO {
        let late = options.is_late();
        let goal = options.capacity_goal.unwrap_or(0).max(lower_bound_bytes);
        if best.as_ref().is_some_and(|b| late || b.peak_bytes <= goal) {
            break;
        }
        let offsets = method.place(blocks);
        let peak_bytes = blocks.iter().zip(&offsets).map(|(b, o)| o + b.size_bytes).max().unwrap_or(0);
        if best.as_ref().is_none_or(|b| peak_bytes < b.peak_bytes) {
            let proof = (peak_bytes == lower_bound_bytes).then_some(Proof::MaxLoad);
            best = Some(Found { offsets, peak_bytes, lower_bound_bytes, proof, method: *method });
            progress(Progress { phase: Phase::Portfolio, best_peak_bytes: peak_bytes, lower_bound_bytes });
        }
    }
    best.expect("the first strategy always finishes")
}
