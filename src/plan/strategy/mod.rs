//! Published strategies for offsets: one strategy, one file, one function over the same blocks.

pub(crate) mod gap;
mod greedy_by_breadth;
mod greedy_by_size;
mod greedy_in_order;
mod naive;
pub mod shared;
pub(crate) mod strip_packing;

use std::cmp::Reverse;

use super::names::nearest;
use super::resolve::Block;
use super::{PlanError, Problem};

pub use shared::{SharedPlan, SharedStrategy};

/// How offsets are chosen. Ties are broken by size descending, first step ascending, id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Strategy {
    /// No reuse: every tensor has bytes of its own.
    Naive,
    /// arXiv 2001.03288: largest first, each into the smallest gap that holds it.
    GreedyBySize,
    /// arXiv 2001.03288: the steps with the most live bytes first.
    GreedyByBreadth,
    /// In the order of first use, each into the smallest gap that holds it.
    GreedyInOrder,
    /// arXiv 1804.10001: two-dimensional strip packing, best fit with lifting.
    StripPacking,
    /// The search of `auto`, where no published strategy alone found what it found.
    Search,
    /// No strategy: the offsets came with the records. What has none is placed greedily by size.
    Given,
}

impl Strategy {
    /// Every strategy that can be asked for, in the order in which reports list them.
    pub const ALL: &'static [Strategy] = &[
        Strategy::Naive,
        Strategy::GreedyBySize,
        Strategy::GreedyByBreadth,
        Strategy::GreedyInOrder,
        Strategy::StripPacking,
    ];

    /// Its name in files and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Strategy::Naive => "naive",
            Strategy::GreedyBySize => "greedy_by_size",
            Strategy::GreedyByBreadth => "greedy_by_breadth",
            Strategy::GreedyInOrder => "greedy_in_order",
            Strategy::StripPacking => "strip_packing",
            Strategy::Search => "search",
            Strategy::Given => "given",
        }
    }

    /// The strategy of that name, those included that cannot be asked for.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        Strategy::ALL.iter().chain(&[Strategy::Search, Strategy::Given]).copied().find(|s| s.key() == key)
    }

    /// One offset a block, in one arena without a limit.
    pub(crate) fn place(self, blocks: &[Block]) -> Vec<u64> {
        match self {
            Strategy::Naive => naive::place(blocks),
            Strategy::GreedyBySize | Strategy::Search | Strategy::Given => greedy_by_size::place(blocks),
            Strategy::GreedyByBreadth => greedy_by_breadth::place(blocks),
            Strategy::GreedyInOrder => greedy_in_order::place(blocks),
            Strategy::StripPacking => strip_packing::place(blocks),
        }
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}

impl std::str::FromStr for Strategy {
    type Err = PlanError;

    /// Takes the name with underscores or hyphens.
    fn from_str(name: &str) -> Result<Self, PlanError> {
        let key = name.replace('-', "_");
        Strategy::ALL.iter().copied().find(|s| s.key() == key).ok_or_else(|| PlanError::UnknownStrategy {
            name: name.to_owned(),
            nearest: nearest(&key, Strategy::ALL.iter().map(|s| s.key())).unwrap_or("greedy_by_size"),
        })
    }
}

/// Indices of the blocks, size descending, first step ascending, index.
pub(crate) fn by_size(blocks: &[Block]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|i| (Reverse(blocks[*i].size_bytes), blocks[*i].first, *i));
    order
}

/// Sum of live bytes at every step at which a block is born, highest first, ties by step.
///
/// At any other step the live blocks are some of those of the step of birth before it, whose breadth is no
/// smaller.
pub(crate) fn steps_by_breadth(blocks: &[Block]) -> Vec<u32> {
    let mut breadths: Vec<(u64, u32)> = Vec::new();
    each_breadth(blocks, |step, breadth| breadths.push((breadth, step)));
    breadths.sort_by_key(|(breadth, step)| (std::cmp::Reverse(*breadth), *step));
    breadths.into_iter().map(|(_, step)| step).collect()
}

/// Visits every step at which a block is born with the sum of live bytes there, in the order of time.
fn each_breadth(blocks: &[Block], mut visit: impl FnMut(u32, u64)) {
    let mut births: Vec<(u32, u64)> = blocks.iter().map(|b| (b.first, b.size_bytes)).collect();
    let mut deaths: Vec<(u32, u64)> = blocks.iter().map(|b| (b.last, b.size_bytes)).collect();
    births.sort_unstable();
    deaths.sort_unstable();
    let (mut live, mut dead) = (0u64, 0);
    for born in births.chunk_by(|a, b| a.0 == b.0) {
        while deaths[dead].0 < born[0].0 {
            live -= deaths[dead].1;
            dead += 1;
        }
        live += born.iter().map(|(_, size_bytes)| size_bytes).sum::<u64>();
        visit(born[0].0, live);
    }
}

/// The most live bytes at any step, and where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LoadProfile {
    pub highest_bytes: u64,
    /// The first step with so many.
    pub first_step: u32,
    /// Number of steps of birth with so many.
    pub steps: usize,
}

impl LoadProfile {
    /// Lower is better.
    pub fn rank(&self) -> (u64, usize) {
        (self.highest_bytes, self.steps)
    }
}

/// The load of blocks; none at all have none.
pub(crate) fn load_profile(blocks: &[Block]) -> LoadProfile {
    let mut profile = LoadProfile::default();
    each_breadth(blocks, |step, breadth| {
        if breadth > profile.highest_bytes {
            profile = LoadProfile { highest_bytes: breadth, first_step: step, steps: 1 };
        } else if breadth == profile.highest_bytes {
            profile.steps += 1;
        }
    });
    profile
}

/// The blocks in the order of greedy by breadth: step by step, inside a step those not yet placed by size.
pub(crate) fn by_breadth(blocks: &[Block]) -> Vec<usize> {
    let steps = steps_by_breadth(blocks);
    let mut births: Vec<(u32, u32)> = steps.iter().enumerate().map(|(rank, s)| (*s, rank as u32)).collect();
    births.sort_unstable();
    // Minima over the births in the order of time: node `i` of a bottom-up tree holds those of `2i, 2i + 1`.
    let n = births.len();
    let mut ranks = vec![u32::MAX; n];
    ranks.extend(births.iter().map(|(_, rank)| *rank));
    for i in (1..n).rev() {
        ranks[i] = ranks[2 * i].min(ranks[2 * i + 1]);
    }
    let earliest = |block: &Block| {
        let mut left = n + births.partition_point(|(step, _)| *step < block.first);
        let mut right = n + births.partition_point(|(step, _)| *step <= block.last);
        let mut least = u32::MAX;
        while left < right {
            if left & 1 == 1 {
                least = least.min(ranks[left]);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                least = least.min(ranks[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        least
    };
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_cached_key(|i| {
        (earliest(&blocks[*i]), Reverse(blocks[*i].size_bytes), blocks[*i].first, *i)
    });
    order
}

/// Blocks in the order of first use; ties by size descending, index.
pub(crate) fn in_order(blocks: &[Block]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|i| (blocks[*i].first, Reverse(blocks[*i].size_bytes), *i));
    order
}

impl Problem {
    /// What a strategy for shared objects makes of this problem.
    pub fn shared_objects(&self, strategy: SharedStrategy) -> SharedPlan {
        SharedPlan::new(self, strategy)
    }
}
