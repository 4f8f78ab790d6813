//! The search behind `auto`: from effort, deadline and seed to budgets, and back to names and proofs.

use super::clock::Instant;

use super::resolve::Block;
use super::search::{self, Method};
use super::{Effort, Progress, Proof, Strategy};

/// How long and for what to search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub effort: Effort,
    pub deadline: Option<Instant>,
    pub seed: u64,
    pub threads: usize,
    /// Good enough: nothing below it is looked for.
    pub goal_bytes: Option<u64>,
}

impl Options {
    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The same with the least effort.
    pub fn fast(&self) -> Self {
        Options { effort: Effort::Fast, ..*self }
    }

    /// Nodes of the exact searches; the default of the search is the balanced one.
    fn nodes(&self) -> u64 {
        let balanced = search::SearchOptions::default().nodes;
        match self.effort {
            Effort::Fast => balanced / 1_000,
            Effort::Balanced => balanced,
            Effort::Thorough => balanced.saturating_mul(50),
        }
    }
}

/// The best placement found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub offsets: Vec<u64>,
    pub peak_bytes: u64,
    pub lower_bound_bytes: u64,
    pub proof: Option<Proof>,
    pub strategy: Strategy,
}

/// Looks for the lowest peak of blocks in one arena.
pub(crate) fn place(blocks: &[Block], options: &Options, progress: &mut dyn FnMut(Progress)) -> Found {
    let order = shuffled(blocks.len(), options.seed);
    let dealt: Vec<Block> = order.iter().map(|i| blocks[*i].clone()).collect();
    let inner = search::SearchOptions {
        nodes: options.nodes(),
        exact_first: options.effort != Effort::Fast,
        deadline: options.deadline,
        threads: options.threads,
        capacity_goal: options.goal_bytes,
    };
    let found = search::search(&dealt, &inner, progress);
    let mut offsets = vec![0; blocks.len()];
    order.iter().zip(&found.offsets).for_each(|(i, offset)| offsets[*i] = *offset);
    Found {
        offsets,
        peak_bytes: found.peak_bytes,
        lower_bound_bytes: found.lower_bound_bytes,
        proof: found.proof.map(proof),
        strategy: match found.method {
            Method::Naive => Strategy::Naive,
            Method::Published(strategy) => strategy,
            _ => Strategy::Search,
        },
    }
}

/// All ties are broken by position in the end, so another order of the blocks is another start; seed 0 keeps
/// the order of the problem.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    if seed == 0 {
        return order;
    }
    let mut state = seed;
    for i in (1..n).rev() {
        // Splitmix64: good enough from any seed, however few of its bits are set.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(i, ((z ^ (z >> 31)) % (i as u64 + 1)) as usize);
    }
    order
}

fn proof(proof: search::Proof) -> Proof {
    match proof {
        search::Proof::Exhausted => Proof::Exhausted,
        search::Proof::Bound(name) => Proof::from_key(name).unwrap_or(Proof::ExactFill),
    }
}
