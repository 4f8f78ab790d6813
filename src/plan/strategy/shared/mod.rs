//! Published strategies for shared objects: whole buffers that tensors take in turns.
//!
//! An object is as large as its largest tensor. Alignments, pins and in-place permissions have no meaning
//! here.

mod greedy_by_breadth;
mod greedy_by_size;
mod greedy_by_size_improved;
mod greedy_in_order;
mod min_cost_flow;
mod naive;
mod search;

use super::super::bound::positional_maxima_of;
use super::super::names::nearest;
use super::super::resolve::{Block, Merging, resolve};
use super::super::{PlanError, Problem, TensorId, Violation};

/// How tensors are dealt out to shared objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SharedStrategy {
    /// One object a tensor.
    Naive,
    /// arXiv 2001.03288: largest first, into the smallest object that is free.
    GreedyBySize,
    /// arXiv 2001.03288: by positional maximum, then by distance to what an object already holds.
    GreedyBySizeImproved,
    /// arXiv 2001.03288: the steps with the most live bytes first.
    GreedyByBreadth,
    /// The TFLite GPU delegate's: in order of first use, the free object of the nearest size.
    GreedyInOrder,
    /// The TFLite GPU delegate's: successors of least additional size, as a flow of least cost.
    MinCostFlow,
    /// The best of the published ones, improved by local search, then by exhausting all ways; says what it
    /// has proven.
    Search,
}

impl SharedStrategy {
    /// Every strategy, in the order in which reports list them.
    pub const ALL: &'static [SharedStrategy] = &[
        SharedStrategy::Naive,
        SharedStrategy::GreedyBySize,
        SharedStrategy::GreedyBySizeImproved,
        SharedStrategy::GreedyByBreadth,
        SharedStrategy::GreedyInOrder,
        SharedStrategy::MinCostFlow,
        SharedStrategy::Search,
    ];

    /// Those that others have published.
    const PUBLISHED: &'static [SharedStrategy] = &[
        SharedStrategy::Naive,
        SharedStrategy::GreedyBySize,
        SharedStrategy::GreedyBySizeImproved,
        SharedStrategy::GreedyByBreadth,
        SharedStrategy::GreedyInOrder,
        SharedStrategy::MinCostFlow,
    ];

    /// Its name in files and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            SharedStrategy::Naive => "naive",
            SharedStrategy::GreedyBySize => "greedy_by_size",
            SharedStrategy::GreedyBySizeImproved => "greedy_by_size_improved",
            SharedStrategy::GreedyByBreadth => "greedy_by_breadth",
            SharedStrategy::GreedyInOrder => "greedy_in_order",
            SharedStrategy::MinCostFlow => "min_cost_flow",
            SharedStrategy::Search => "search",
        }
    }

    fn assign(self, blocks: &[Block]) -> Objects {
        match self {
            SharedStrategy::Naive => naive::assign(blocks),
            SharedStrategy::GreedyBySize => greedy_by_size::assign(blocks),
            SharedStrategy::GreedyBySizeImproved => greedy_by_size_improved::assign(blocks),
            SharedStrategy::GreedyByBreadth => greedy_by_breadth::assign(blocks),
            SharedStrategy::GreedyInOrder => greedy_in_order::assign(blocks),
            SharedStrategy::MinCostFlow => min_cost_flow::assign(blocks),
            SharedStrategy::Search => search::assign(blocks).objects,
        }
    }
}

impl std::fmt::Display for SharedStrategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}

impl std::str::FromStr for SharedStrategy {
    type Err = PlanError;

    /// Takes the name with underscores or hyphens.
    fn from_str(name: &str) -> Result<Self, PlanError> {
        let key = name.replace('-', "_");
        SharedStrategy::ALL.iter().copied().find(|s| s.key() == key).ok_or_else(|| {
            PlanError::UnknownStrategy {
                name: name.to_owned(),
                nearest: nearest(&key, SharedStrategy::ALL.iter().map(|s| s.key()))
                    .unwrap_or("greedy_by_size"),
            }
        })
    }
}

/// Tensors dealt out to shared objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPlan {
    strategy: SharedStrategy,
    objects: Vec<u64>,
    object_of: Vec<Option<usize>>,
    lower_bound_bytes: u64,
}

impl SharedPlan {
    pub(super) fn new(problem: &Problem, strategy: SharedStrategy) -> Self {
        let resolved = resolve(problem, Merging::None);
        let (objects, lower_bound_bytes) = if strategy == SharedStrategy::Search {
            let searched = search::assign(&resolved.blocks);
            (searched.objects, searched.lower_bound_bytes)
        } else {
            (strategy.assign(&resolved.blocks), positional_maxima_of(&resolved.blocks).iter().sum())
        };
        SharedPlan {
            strategy,
            lower_bound_bytes,
            object_of: resolved.slots.iter().map(|s| s.map(|(block, _)| objects.object_of[block])).collect(),
            objects: objects.sizes_bytes,
        }
    }

    /// What made it.
    pub fn strategy(&self) -> SharedStrategy {
        self.strategy
    }

    /// Size of every object, bytes.
    pub fn objects(&self) -> &[u64] {
        &self.objects
    }

    /// Sum of the sizes, bytes.
    pub fn total_bytes(&self) -> u64 {
        self.objects.iter().sum()
    }

    /// What no shared objects can undercut as far as is known, bytes: the sum of the positional maxima of
    /// arXiv 2001.03288, or what the search has proven.
    pub fn lower_bound_bytes(&self) -> u64 {
        self.lower_bound_bytes
    }

    /// Whether the total is proven to be the least.
    pub fn is_optimal(&self) -> bool {
        self.total_bytes() == self.lower_bound_bytes
    }

    /// Judges the plan with code that no strategy shares; an object is told as an arena.
    ///
    /// # Errors
    /// A tensor without room, or two that share an object and meet at a step.
    pub fn validate(&self, problem: &Problem) -> Result<(), Violation> {
        super::super::validate::validate_shared(self, problem)
    }

    /// Index into [`SharedPlan::objects`]; `None` for a tensor of 0 bytes or an id of another problem.
    pub fn object(&self, id: TensorId) -> Option<usize> {
        self.object_of.get(id.index()).copied().flatten()
    }
}

/// Objects under construction.
#[derive(Debug, Default)]
struct Objects {
    sizes_bytes: Vec<u64>,
    /// Per object the intervals it holds, ascending, disjoint.
    busy: Vec<std::collections::BTreeMap<u32, u32>>,
    object_of: Vec<usize>,
}

impl Objects {
    fn new(blocks: &[Block]) -> Self {
        Objects { object_of: vec![usize::MAX; blocks.len()], ..Objects::default() }
    }

    fn len(&self) -> usize {
        self.sizes_bytes.len()
    }

    /// Whether nothing in the object lives at a step of the block.
    fn is_free(&self, object: usize, block: &Block) -> bool {
        self.busy[object].range(..=block.last).next_back().is_none_or(|(_, last)| *last < block.first)
    }

    /// Puts the block into an existing object, which may grow, or into a new one.
    fn put(&mut self, blocks: &[Block], index: usize, object: Option<usize>) -> usize {
        let object = object.unwrap_or_else(|| {
            self.sizes_bytes.push(0);
            self.busy.push(std::collections::BTreeMap::new());
            self.len() - 1
        });
        let block = &blocks[index];
        self.busy[object].insert(block.first, block.last);
        self.sizes_bytes[object] = self.sizes_bytes[object].max(block.size_bytes);
        self.object_of[index] = object;
        object
    }
}
