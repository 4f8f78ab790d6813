//! From a problem to a plan: limits, the choice of strategy, the result.

use std::sync::Arc;
use std::time::Duration;

use super::auto::{Options, place as place_lowest};
use super::clock::Instant;
use super::pack::{self, Demands, Packed};
use super::resolve::{Block, Merging, Resolved, resolve};
use super::{Effort, Plan, PlanError, Problem, Progress, Proof, Strategy, bound, capacity, inplace};

/// Makes plans: which strategies, within which limits of the device, at what effort.
#[derive(Debug, Clone, Default)]
pub struct Planner {
    strategy: Option<Strategy>,
    max_buffer_bytes: Option<u64>,
    max_binding_bytes: Option<u64>,
    capacity_bytes: Option<u64>,
    /// Good enough: nothing below it is looked for.
    goal_bytes: Option<u64>,
    deadline: Option<Duration>,
    effort: Effort,
    seed: u64,
    threads: Option<usize>,
    progress: Option<Callback>,
}

/// What is told of a search under way.
#[derive(Clone)]
struct Callback(Arc<dyn Fn(Progress) + Send + Sync>);

impl std::fmt::Debug for Callback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Callback")
    }
}

impl Planner {
    /// Searches for the lowest peak: greedy placement in many orders, then exact search; stops where the
    /// lower bound is reached.
    pub fn auto() -> Self {
        Planner::default()
    }

    /// Uses that strategy alone.
    pub fn new(strategy: Strategy) -> Self {
        Planner { strategy: Some(strategy), ..Planner::default() }
    }

    /// No arena may be larger than this, rounded down to a multiple of the alignment; larger plans get
    /// several, as few as are found, and of those the ones of the least total.
    pub fn max_buffer_bytes(mut self, bytes: u64) -> Self {
        self.max_buffer_bytes = Some(bytes);
        self
    }

    /// No tensor may be larger than this.
    pub fn max_binding_bytes(mut self, bytes: u64) -> Self {
        self.max_binding_bytes = Some(bytes);
        self
    }

    /// The peak, over all arenas, must not exceed this: where no such plan is found, [`Planner::plan`]
    /// answers with [`PlanError::OverCapacity`] and tensors that do not fit together.
    pub fn capacity_bytes(mut self, bytes: u64) -> Self {
        self.capacity_bytes = Some(bytes);
        self
    }

    /// Bounds the time that [`Planner::plan`] takes, from its start; the best plan so far is returned then.
    /// One greedy placement always finishes; without a deadline the result does not depend on the machine.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How much to try before giving up.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// Where the search's random numbers start (0): another seed may find another plan, the same seed finds
    /// the same.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Most threads to use (1; 0 counts as 1). Changes how long a plan takes, never which plan it is, unless
    /// there is a deadline.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Calls back whenever the search enters a phase or has found something better, from the thread that
    /// plans.
    pub fn progress(mut self, callback: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Callback(Arc::new(callback)));
        self
    }

    /// Gives every tensor its arena and offset.
    ///
    /// # Errors
    /// A tensor over a limit, two pins that meet, tensors that exceed the capacity: named, with both numbers.
    pub fn plan(&self, problem: &Problem) -> Result<Plan, PlanError> {
        // A deadline beyond what the clock can hold is none.
        let deadline = self.deadline.and_then(|deadline| Instant::now().checked_add(deadline));
        let limit_bytes = self.check_limits(problem)?;
        check_pins(problem)?;
        let run = Run {
            planner: self,
            problem,
            limit_bytes,
            options: Options {
                effort: self.effort,
                deadline,
                seed: self.seed,
                threads: self.threads.unwrap_or(1).max(1),
                goal_bytes: self.goal_bytes,
            },
        };
        let plan = run.best();
        log::info!(
            "planned {} tensors by {}: peak {} bytes in {} arenas, lower bound {}, naive total {}",
            problem.len(),
            plan.strategy,
            plan.peak_bytes(),
            plan.arenas.len(),
            plan.lower_bound_bytes,
            problem.naive_bytes()
        );
        match self.capacity_bytes {
            Some(capacity) if plan.peak_bytes() > capacity => {
                let misfit = capacity::explain(self, problem, &plan, capacity, deadline);
                Err(PlanError::OverCapacity(Box::new(misfit)))
            }
            _ => Ok(plan),
        }
    }

    /// The same for parts of a problem, which only need to come down to `goal_bytes`.
    pub(super) fn for_subproblems(&self, goal_bytes: u64) -> Planner {
        Planner {
            capacity_bytes: None,
            goal_bytes: Some(goal_bytes),
            effort: Effort::Fast,
            progress: None,
            ..self.clone()
        }
    }

    /// The limit of one arena, if there is one.
    fn check_limits(&self, problem: &Problem) -> Result<Option<u64>, PlanError> {
        let tensors = problem.tensors();
        if let Some(limit_bytes) = self.max_binding_bytes
            && let Some(tensor) = tensors.iter().find(|t| t.size_bytes > limit_bytes)
        {
            return Err(PlanError::OverBinding {
                tensor: tensor.label.clone(),
                size_bytes: tensor.size_bytes,
                limit_bytes,
            });
        }
        let Some(max_buffer_bytes) = self.max_buffer_bytes else { return Ok(None) };
        let align = tensors.iter().filter_map(|t| t.alignment).fold(problem.alignment(), Ord::max);
        let limit_bytes = max_buffer_bytes & !(align.bytes() - 1);
        let needed = |t: &super::Tensor| t.size_bytes + t.pin.unwrap_or(0);
        match tensors.iter().find(|t| t.size_bytes > 0 && needed(t) > limit_bytes) {
            None => Ok(Some(limit_bytes)),
            Some(t) => {
                Err(PlanError::OverBuffer { tensor: t.label.clone(), needed_bytes: needed(t), limit_bytes })
            }
        }
    }
}

/// One call of [`Planner::plan`].
struct Run<'a> {
    planner: &'a Planner,
    problem: &'a Problem,
    limit_bytes: Option<u64>,
    options: Options,
}

/// What a strategy made of one way to use the in-place permissions.
struct Candidate {
    strategy: Strategy,
    variant: usize,
    packed: Packed,
    /// What no placement of the variant in one arena can undercut, and why.
    searched: Option<(u64, Option<Proof>)>,
}

impl Run<'_> {
    /// The best plan over all ways to use the permissions; of equal ones the first.
    fn best(&self) -> Plan {
        let (bound_bytes, _) = bound::lower_bound(self.problem, 1);
        let mut variants = inplace::variants(self.problem);
        if let Some(limit_bytes) = self.limit_bytes {
            // A small pinned output in the bytes of a large input may reach past the limit with it.
            let fits = |b: &Block| b.pin.is_none_or(|pin| pin + b.size_bytes <= limit_bytes);
            variants.retain(|v| v.blocks.iter().all(fits));
        }
        if self.planner.strategy == Some(Strategy::Naive) {
            variants = vec![resolve(self.problem, Merging::None)];
        }
        let mut best: Option<Candidate> = None;
        for (at, variant) in variants.iter().enumerate() {
            if let Some(best) = &best {
                // Variants come by load, and no packing of one is below its load.
                let load = super::strategy::load_profile(&variant.blocks).highest_bytes;
                let is_best =
                    best.packed.arenas.len() <= 1 && best.packed.peak_bytes() <= bound_bytes.max(load);
                if is_best || self.options.is_late() {
                    break;
                }
            }
            let candidate = self.candidate(at, variant, bound_bytes);
            if best.as_ref().is_none_or(|b| candidate.packed.rank() < b.packed.rank()) {
                best = Some(candidate);
            }
        }
        let best = best.expect("there is always a way to use no permission");
        let resolved = &variants[best.variant];
        let all_given = !resolved.blocks.is_empty() && resolved.blocks.iter().all(|b| b.pin.is_some());
        let strategy = if all_given { Strategy::Given } else { best.strategy };
        let mut plan = Plan::new(self.problem, strategy, resolved, best.packed);
        // Where there are permissions, what holds for one way to use them proves nothing.
        let is_free = self.problem.tensors().iter().any(|t| !t.in_place().is_empty());
        if let Some((lower_bound_bytes, proof)) = best.searched.filter(|_| !is_free) {
            plan.learn(lower_bound_bytes, proof);
        }
        plan
    }

    fn candidate(&self, variant: usize, resolved: &Resolved, bound_bytes: u64) -> Candidate {
        let blocks = &resolved.blocks;
        let mut progress = |progress| {
            if let Some(Callback(callback)) = &self.planner.progress {
                callback(progress);
            }
        };
        let (strategy, offsets, searched) = match self.planner.strategy {
            Some(strategy) => (strategy, strategy.place(blocks), None),
            None => {
                let found = place_lowest(blocks, &self.options, &mut progress);
                (found.strategy, found.offsets, Some((found.lower_bound_bytes, found.proof)))
            }
        };
        let single = Packed::single(blocks, offsets.clone());
        let limit_bytes = self.limit_bytes.unwrap_or(u64::MAX);
        if resolved.parted.is_empty() && single.peak_bytes() <= limit_bytes {
            return Candidate { strategy, variant, packed: single, searched };
        }
        let packed = if strategy == Strategy::Naive {
            pack::naive(blocks, &resolved.parted, limit_bytes)
        } else {
            let demands = Demands { parted: &resolved.parted, limit_bytes, bound_bytes };
            pack::several(blocks, &offsets, &demands, &self.options, &mut progress)
        };
        Candidate { strategy, variant, packed, searched: None }
    }
}

fn check_pins(problem: &Problem) -> Result<(), PlanError> {
    let resolved = resolve(problem, Merging::None);
    let label = |block: usize| {
        let tensor = resolved.slots.iter().position(|s| *s == Some((block, 0)));
        tensor.map_or_else(String::new, |t| problem.tensors()[t].label.clone())
    };
    let mut pinned: Vec<(u64, usize)> =
        resolved.blocks.iter().enumerate().filter_map(|(i, b)| b.pin.map(|pin| (pin, i))).collect();
    pinned.sort_unstable();
    for (at, (pin, i)) in pinned.iter().enumerate() {
        let block = &resolved.blocks[*i];
        let reached = pinned[at + 1..].iter().take_while(|(other, _)| *other < pin + block.size_bytes);
        for (byte, j) in reached {
            let other = &resolved.blocks[*j];
            if block.meets(other) {
                return Err(PlanError::PinsOverlap {
                    first: label(*i),
                    second: label(*j),
                    step: block.first.max(other.first),
                    byte: *byte,
                });
            }
        }
    }
    Ok(())
}
