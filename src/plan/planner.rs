//! From a problem to a plan: limits, the choice of strategy, the result.

use std::time::Duration;

use super::clock::Instant;
use super::ids::align_up;
use super::pack::{Packed, split_best, split_naive};
use super::resolve::{Block, Merging, Resolved, resolve};
use super::{ArenaId, Fingerprint, PlanError, Problem, Report, Strategy, TensorId, Violation, bound};

/// What `auto` tries, in this order; of equally good plans the first stays.
const PORTFOLIO: &[Strategy] =
    &[Strategy::GreedyBySize, Strategy::StripPacking, Strategy::GreedyByBreadth, Strategy::GreedyInOrder];

/// Makes plans: which strategies, within which limits of the device.
#[derive(Debug, Clone, Default)]
pub struct Planner {
    strategy: Option<Strategy>,
    max_buffer_bytes: Option<u64>,
    max_binding_bytes: Option<u64>,
    deadline: Option<Duration>,
}

impl Planner {
    /// Tries several strategies and keeps the best plan; stops where the lower bound is reached.
    pub fn auto() -> Self {
        Planner::default()
    }

    /// Uses that strategy alone.
    pub fn new(strategy: Strategy) -> Self {
        Planner { strategy: Some(strategy), ..Planner::default() }
    }

    /// No arena may be larger than this, rounded down to a multiple of the alignment; larger plans get
    /// several.
    pub fn max_buffer_bytes(mut self, bytes: u64) -> Self {
        self.max_buffer_bytes = Some(bytes);
        self
    }

    /// No tensor may be larger than this.
    pub fn max_binding_bytes(mut self, bytes: u64) -> Self {
        self.max_binding_bytes = Some(bytes);
        self
    }

    /// After that long no further strategy is tried. The first one always finishes; without a deadline the
    /// result does not depend on the machine.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Gives every tensor its arena and offset.
    ///
    /// # Errors
    /// A tensor over a limit, or two pins that meet: named, with both numbers.
    pub fn plan(&self, problem: &Problem) -> Result<Plan, PlanError> {
        // No clock is asked where there is no deadline: not every target has one.
        let started = self.deadline.map(|deadline| (Instant::now(), deadline));
        let limit_bytes = self.check_limits(problem)?;
        check_pins(problem)?;
        let chosen = self.strategy.as_ref().map_or(PORTFOLIO, std::slice::from_ref);
        let variants = variants(problem);
        let bound_bytes = bound::lower_bound_bytes(problem, 1);
        let mut best: Option<Candidate> = None;
        'search: for strategy in chosen {
            for resolved in &variants[..if *strategy == Strategy::Naive { 1 } else { variants.len() }] {
                let late = started.is_some_and(|(started, deadline)| started.elapsed() >= deadline);
                if best.is_some() && late {
                    break 'search;
                }
                let packed = pack(*strategy, &resolved.blocks, limit_bytes, bound_bytes);
                let rank = (packed.peak_bytes(), packed.arenas.len());
                if best.as_ref().is_none_or(|b| rank < (b.packed.peak_bytes(), b.packed.arenas.len())) {
                    let all_given =
                        !resolved.blocks.is_empty() && resolved.blocks.iter().all(|b| b.pin.is_some());
                    let strategy = if all_given { Strategy::Given } else { *strategy };
                    best = Some(Candidate { strategy, resolved: resolved.clone(), packed });
                }
                if rank.0 <= bound_bytes {
                    break 'search;
                }
            }
        }
        let plan = Plan::new(problem, best.expect("the first strategy always finishes"));
        log::info!(
            "planned {} tensors by {}: peak {} bytes in {} arenas, lower bound {}, naive total {}",
            problem.len(),
            plan.strategy,
            plan.peak_bytes(),
            plan.arenas.len(),
            plan.lower_bound_bytes,
            problem.naive_bytes()
        );
        Ok(plan)
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

struct Candidate {
    strategy: Strategy,
    resolved: Resolved,
    packed: Packed,
}

/// The ways to use the in-place permissions that differ, plainest first.
fn variants(problem: &Problem) -> Vec<Resolved> {
    let mut variants = vec![resolve(problem, Merging::None)];
    if problem.tensors().iter().any(|t| !t.in_place.is_empty()) {
        for merging in [Merging::EqualSize, Merging::All] {
            let resolved = resolve(problem, merging);
            if variants.iter().all(|v| v.blocks != resolved.blocks || v.slots != resolved.slots) {
                variants.push(resolved);
            }
        }
    }
    variants
}

/// One arena where it fits, else as many as it takes.
fn pack(strategy: Strategy, blocks: &[Block], limit_bytes: Option<u64>, bound_bytes: u64) -> Packed {
    let offsets = strategy.place(blocks);
    let single = Packed::single(blocks, offsets.clone());
    let Some(limit_bytes) = limit_bytes.filter(|limit| single.peak_bytes() > *limit) else { return single };
    if strategy == Strategy::Naive {
        return split_naive(blocks, limit_bytes);
    }
    split_best(blocks, &offsets, limit_bytes, bound_bytes)
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

/// Where every tensor of a problem lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) strategy: Strategy,
    pub(crate) places: Vec<(ArenaId, u64)>,
    pub(crate) arenas: Vec<u64>,
    pub(crate) lower_bound_bytes: u64,
    pub(crate) padding_bytes: u64,
}

impl Plan {
    fn new(problem: &Problem, candidate: Candidate) -> Self {
        let Candidate { strategy, resolved, packed } = candidate;
        let places = resolved
            .slots
            .iter()
            .zip(problem.tensors())
            .map(|(slot, tensor)| match slot {
                Some((block, byte)) => {
                    let (arena, offset) = packed.places[*block];
                    (ArenaId::new(arena as u32), offset + byte)
                }
                None => (ArenaId::new(0), zero_size_offset(problem, tensor)),
            })
            .collect();
        let mut arenas = packed.arenas;
        if arenas.is_empty() && !problem.is_empty() {
            arenas.push(0);
        }
        Plan {
            fingerprint: problem.fingerprint(),
            strategy,
            places,
            lower_bound_bytes: bound::lower_bound_bytes(problem, arenas.len()),
            padding_bytes: padding_bytes(problem),
            arenas,
        }
    }

    /// A plan that came from elsewhere, unjudged.
    pub(crate) fn given(
        problem: &Problem,
        strategy: Strategy,
        places: Vec<(ArenaId, u64)>,
        arenas: Vec<u64>,
    ) -> Self {
        Plan {
            fingerprint: problem.fingerprint(),
            strategy,
            places,
            lower_bound_bytes: bound::lower_bound_bytes(problem, arenas.len()),
            padding_bytes: padding_bytes(problem),
            arenas,
        }
    }

    /// Offset of a tensor in its arena, bytes.
    ///
    /// # Panics
    /// Like a slice, where `id` is no tensor of the plan's problem; [`Plan::place`] does not.
    pub fn offset_bytes(&self, id: TensorId) -> u64 {
        self.places[id.index()].1
    }

    /// The arena of a tensor.
    ///
    /// # Panics
    /// Like a slice, where `id` is no tensor of the plan's problem; [`Plan::place`] does not.
    pub fn arena(&self, id: TensorId) -> ArenaId {
        self.places[id.index()].0
    }

    /// Arena and offset in bytes of a tensor; `None` for an id of another problem.
    pub fn place(&self, id: TensorId) -> Option<(ArenaId, u64)> {
        self.places.get(id.index()).copied()
    }

    /// Number of tensors.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it is the plan of a problem without tensors.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes of every arena; at least one entry where there is a tensor.
    pub fn arenas(&self) -> &[u64] {
        &self.arenas
    }

    /// Sum of all arenas, bytes: what must be allocated.
    pub fn peak_bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }

    /// The strategy that made it.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// What no plan of this problem with as many arenas can undercut, bytes.
    pub fn lower_bound_bytes(&self) -> u64 {
        self.lower_bound_bytes
    }

    /// Whether the peak is proven to be the lowest: it meets the lower bound.
    pub fn is_optimal(&self) -> bool {
        self.peak_bytes() == self.lower_bound_bytes
    }

    /// Fingerprint of the problem it was made for.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Bytes that rounding up to the alignment takes at the step at which they are most.
    pub fn padding_bytes(&self) -> u64 {
        self.padding_bytes
    }

    /// Judges the plan: a sweep over the steps that shares no code with any strategy.
    ///
    /// # Errors
    /// The first rule that is broken: two tensors that meet in steps and bytes, a wrong alignment, ...
    pub fn validate(&self, problem: &Problem) -> Result<(), Violation> {
        super::validate::validate(self, problem)
    }

    /// The numbers of the plan beside those of its problem.
    pub fn report(&self, problem: &Problem) -> Report {
        Report::new(self, problem)
    }

    /// The same plan with one tensor elsewhere, unchecked: for tests of whatever should notice. An unknown
    /// id changes nothing.
    pub fn with_offset(&self, id: TensorId, arena: ArenaId, offset_bytes: u64) -> Plan {
        let mut plan = self.clone();
        if let Some(place) = plan.places.get_mut(id.index()) {
            *place = (arena, offset_bytes);
        }
        plan
    }
}

/// A tensor of 0 bytes lies at its pin or its base's, else at 0.
fn zero_size_offset(problem: &Problem, tensor: &super::Tensor) -> u64 {
    let mut root = tensor;
    while let Some(base) = root.alias.and_then(|alias| problem.get(alias.base)) {
        root = base;
    }
    root.pin.unwrap_or(0)
}

/// Most bytes of rounding at any step; says what the alignment costs whatever the plan.
fn padding_bytes(problem: &Problem) -> u64 {
    let blocks = resolve(problem, Merging::None).blocks;
    let padding = |b: &Block| align_up(b.size_bytes, b.align_bytes) - b.size_bytes;
    let mut births: Vec<(u32, u64)> = blocks.iter().map(|b| (b.first, padding(b))).collect();
    let mut deaths: Vec<(u32, u64)> = blocks.iter().map(|b| (b.last, padding(b))).collect();
    births.sort_unstable();
    deaths.sort_unstable();
    let (mut live, mut most, mut dead) = (0, 0, 0);
    for (step, bytes) in births {
        while deaths[dead].0 < step {
            live -= deaths[dead].1;
            dead += 1;
        }
        live += bytes;
        most = most.max(live);
    }
    most
}
