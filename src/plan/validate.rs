//! The judge: a sweep over the steps that shares no code with any strategy, packing or block.
//!
//! It knows tensors, not blocks: closed usage intervals, kept tensors, views (bytes of their base by
//! meaning, held for as long as any of them is used) and in-place permissions (an output may start at the
//! very byte at which a dying input starts, in the one step in which the two meet).

use std::collections::BTreeMap;

use super::{ArenaId, Fingerprint, Plan, Problem, SharedPlan, StepId, TensorId};

/// The first rule that a plan breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// The plan was made for another problem.
    #[error("the plan belongs to the problem with fingerprint {planned}, this one has {found}")]
    OtherProblem {
        /// Fingerprint in the plan.
        planned: Fingerprint,
        /// Fingerprint of the problem.
        found: Fingerprint,
    },
    /// The plan places more or fewer tensors than there are.
    #[error("the plan places {placed} tensors, the problem has {tensors}")]
    Count {
        /// Number of places.
        placed: usize,
        /// Number of tensors.
        tensors: usize,
    },
    /// A tensor that reaches past its arena, or names one that does not exist.
    #[error(
        "tensor '{tensor}' takes bytes {begin_bytes}..{end_bytes} of arena {arena}, which has {arena_bytes}"
    )]
    OutsideArena {
        /// The tensor.
        tensor: String,
        /// Its arena.
        arena: ArenaId,
        /// Its first byte.
        begin_bytes: u64,
        /// One past its last byte.
        end_bytes: u64,
        /// Size of the arena, 0 where there is none of that number.
        arena_bytes: u64,
    },
    /// An offset that is no multiple of the alignment.
    #[error("tensor '{tensor}' lies at byte {offset_bytes}, which is no multiple of {align_bytes}")]
    Misaligned {
        /// The tensor.
        tensor: String,
        /// Its offset.
        offset_bytes: u64,
        /// Its alignment.
        align_bytes: u64,
    },
    /// A pinned tensor that lies elsewhere.
    #[error(
        "tensor '{tensor}' is pinned at byte {pin_bytes} of arena 0 but \
         lies at byte {offset_bytes} of arena {arena}"
    )]
    MovedPin {
        /// The tensor.
        tensor: String,
        /// Where it is pinned.
        pin_bytes: u64,
        /// Where it lies.
        offset_bytes: u64,
        /// In which arena.
        arena: ArenaId,
    },
    /// A view that does not lie in its base.
    #[error(
        "view '{view}' must lie at byte {expected_bytes} of arena {expected_arena}, \
         inside '{base}', but lies at byte {offset_bytes} of arena {arena}"
    )]
    MovedView {
        /// The view.
        view: String,
        /// Its base.
        base: String,
        /// Where it must lie.
        expected_bytes: u64,
        /// The base's arena.
        expected_arena: ArenaId,
        /// Where it lies.
        offset_bytes: u64,
        /// In which arena.
        arena: ArenaId,
    },
    /// Two tensors in one arena that must not share one.
    #[error("tensors '{first}' and '{second}' must not share an arena but both lie in arena {arena}")]
    NotSeparated {
        /// One tensor.
        first: String,
        /// The other.
        second: String,
        /// Where both lie.
        arena: ArenaId,
    },
    /// Two tensors that meet in steps and bytes.
    #[error(
        "tensors '{first}' and '{second}' both hold bytes {begin_bytes}..{end_bytes} of arena {arena} \
         at step {step}"
    )]
    Overlap {
        /// The tensor that was there.
        first: String,
        /// The tensor that came.
        second: String,
        /// The first step at which both live.
        step: StepId,
        /// The arena.
        arena: ArenaId,
        /// First common byte.
        begin_bytes: u64,
        /// One past the last common byte.
        end_bytes: u64,
    },
}

impl Violation {
    /// The tensor to blame; of two, the one that came later.
    pub fn tensor(&self) -> Option<&str> {
        match self {
            Violation::OutsideArena { tensor, .. }
            | Violation::Misaligned { tensor, .. }
            | Violation::MovedPin { tensor, .. } => Some(tensor),
            Violation::MovedView { view, .. } => Some(view),
            Violation::Overlap { second, .. } | Violation::NotSeparated { second, .. } => Some(second),
            Violation::OtherProblem { .. } | Violation::Count { .. } => None,
        }
    }

    /// The step at which it goes wrong, where there is one.
    pub fn step(&self) -> Option<StepId> {
        match self {
            Violation::Overlap { step, .. } => Some(*step),
            _ => None,
        }
    }
}

pub(super) fn validate(plan: &Plan, problem: &Problem) -> Result<(), Violation> {
    check_arenas(plan, problem)?;
    for id in problem.ids() {
        check_place(plan, problem, id)?;
    }
    check_separations(plan, problem)?;
    sweep(plan, problem)
}

/// What has to hold before anybody may look where a tensor lies: the plan speaks of this problem, and each
/// tensor is within an arena. Plans with planted faults keep to it.
pub(super) fn check_arenas(plan: &Plan, problem: &Problem) -> Result<(), Violation> {
    let found = problem.fingerprint();
    if plan.fingerprint != found {
        return Err(Violation::OtherProblem { planned: plan.fingerprint, found });
    }
    if plan.len() != problem.len() {
        return Err(Violation::Count { placed: plan.len(), tensors: problem.len() });
    }
    problem.ids().try_for_each(|id| check_arena(plan, problem, id))
}

fn check_arena(plan: &Plan, problem: &Problem, id: TensorId) -> Result<(), Violation> {
    let tensor = &problem.tensors()[id.index()];
    let (arena, offset_bytes) = plan.places[id.index()];
    let arena_bytes = plan.arenas.get(arena.index()).copied().unwrap_or(0);
    let end_bytes = offset_bytes.saturating_add(tensor.size_bytes());
    let in_no_arena = arena.index() >= plan.arenas.len();
    if tensor.size_bytes() > 0 && (in_no_arena || end_bytes > arena_bytes || end_bytes == u64::MAX) {
        return Err(Violation::OutsideArena {
            tensor: tensor.label().to_owned(),
            arena,
            begin_bytes: offset_bytes,
            end_bytes,
            arena_bytes,
        });
    }
    Ok(())
}

/// The other rules that concern one tensor.
fn check_place(plan: &Plan, problem: &Problem, id: TensorId) -> Result<(), Violation> {
    let tensor = &problem.tensors()[id.index()];
    let (arena, offset_bytes) = plan.places[id.index()];
    if let Some(pin_bytes) = tensor.pin()
        && (arena.index(), offset_bytes) != (0, pin_bytes)
    {
        let tensor = tensor.label().to_owned();
        return Err(Violation::MovedPin { tensor, pin_bytes, offset_bytes, arena });
    }
    if let Some(alias) = tensor.alias() {
        let (expected_arena, base_bytes) = plan.places[alias.base.index()];
        let expected_bytes = base_bytes.saturating_add(alias.byte_offset);
        if (arena, offset_bytes) != (expected_arena, expected_bytes) {
            return Err(Violation::MovedView {
                view: tensor.label().to_owned(),
                base: problem.tensors()[alias.base.index()].label().to_owned(),
                expected_bytes,
                expected_arena,
                offset_bytes,
                arena,
            });
        }
        return Ok(());
    }
    let align_bytes = tensor.alignment().unwrap_or(problem.alignment()).bytes();
    if offset_bytes % align_bytes != 0 {
        let tensor = tensor.label().to_owned();
        return Err(Violation::Misaligned { tensor, offset_bytes, align_bytes });
    }
    Ok(())
}

/// Arenas of the one side must not be among those of the other; tensors of 0 bytes lie nowhere.
fn check_separations(plan: &Plan, problem: &Problem) -> Result<(), Violation> {
    let label = |id: TensorId| problem.tensors()[id.index()].label().to_owned();
    for separation in problem.separations() {
        let placed = |side: &[TensorId]| -> BTreeMap<ArenaId, TensorId> {
            let has_bytes = |id: &&TensorId| problem.tensors()[id.index()].size_bytes() > 0;
            side.iter().rev().filter(has_bytes).map(|id| (plan.places[id.index()].0, *id)).collect()
        };
        let right = placed(separation.right());
        for (arena, left) in placed(separation.left()) {
            if let Some(right) = right.get(&arena) {
                return Err(Violation::NotSeparated { first: label(left), second: label(*right), arena });
            }
        }
    }
    Ok(())
}

/// A tensor that is no view, with everything that is a view of it.
struct Storage {
    /// First byte with its arena: sorts by place.
    start: (ArenaId, u64),
    end_bytes: u64,
    first: u32,
    last: u32,
    root: usize,
    family: Vec<usize>,
}

fn storages(plan: &Plan, problem: &Problem) -> Vec<Storage> {
    let tensors = problem.tensors();
    let mut storages: BTreeMap<usize, Storage> = BTreeMap::new();
    for (i, tensor) in tensors.iter().enumerate() {
        let mut root = i;
        while let Some(alias) = tensors[root].alias() {
            root = alias.base.index();
        }
        let last = if tensor.is_kept() { problem.steps() - 1 } else { tensor.last() };
        let (arena, offset_bytes) = plan.places[root];
        let storage = storages.entry(root).or_insert_with(|| Storage {
            start: (arena, offset_bytes),
            end_bytes: offset_bytes + tensors[root].size_bytes(),
            first: tensor.first(),
            last,
            root,
            family: Vec::new(),
        });
        storage.first = storage.first.min(tensor.first());
        storage.last = storage.last.max(last);
        storage.family.push(i);
    }
    storages.into_values().filter(|s| s.end_bytes > s.start.1).collect()
}

/// Walks the steps; what lives is disjoint, so a newcomer need only be compared with its neighbours.
fn sweep(plan: &Plan, problem: &Problem) -> Result<(), Violation> {
    let mut births = storages(plan, problem);
    births.sort_by_key(|s| (s.first, s.start, s.root));
    let mut deaths: Vec<&Storage> = births.iter().collect();
    deaths.sort_by_key(|s| s.last);
    let mut live: BTreeMap<(ArenaId, u64, usize), &Storage> = BTreeMap::new();
    let mut dead = 0;
    for newcomers in births.chunk_by(|a, b| a.first == b.first) {
        let step = newcomers[0].first;
        while dead < deaths.len() && deaths[dead].last < step {
            live.remove(&(deaths[dead].start.0, deaths[dead].start.1, deaths[dead].root));
            dead += 1;
        }
        for newcomer in newcomers {
            let (arena, begin) = newcomer.start;
            let below = live.range(..(arena, begin, 0)).next_back();
            let within = live.range((arena, begin, 0)..(arena, newcomer.end_bytes, 0));
            for (_, holder) in below.into_iter().chain(within) {
                meet(problem, plan, holder, newcomer, step)?;
            }
        }
        meet_each_other(problem, plan, newcomers, step)?;
        for newcomer in newcomers {
            live.insert((newcomer.start.0, newcomer.start.1, newcomer.root), newcomer);
        }
    }
    Ok(())
}

/// Newcomers of one step come sorted by place; each is compared with those before it that reach its first
/// byte.
fn meet_each_other(
    problem: &Problem,
    plan: &Plan,
    newcomers: &[Storage],
    step: u32,
) -> Result<(), Violation> {
    let mut reaching: Vec<&Storage> = Vec::new();
    for newcomer in newcomers {
        reaching.retain(|r| r.start.0 == newcomer.start.0 && r.end_bytes > newcomer.start.1);
        for holder in &reaching {
            let (a, b) =
                if permits(problem, newcomer, holder) { (newcomer, *holder) } else { (*holder, newcomer) };
            meet(problem, plan, a, b, step)?;
        }
        reaching.push(newcomer);
    }
    Ok(())
}

fn permits(problem: &Problem, input: &Storage, output: &Storage) -> bool {
    let tensors = problem.tensors();
    output.family.iter().any(|o| tensors[*o].in_place().iter().any(|i| input.family.contains(&i.index())))
}

/// Whether `newcomer` may share bytes with `holder` at that step.
fn meet(
    problem: &Problem,
    plan: &Plan,
    holder: &Storage,
    newcomer: &Storage,
    step: u32,
) -> Result<(), Violation> {
    let begin_bytes = holder.start.1.max(newcomer.start.1);
    let end_bytes = holder.end_bytes.min(newcomer.end_bytes);
    if holder.start.0 != newcomer.start.0 || begin_bytes >= end_bytes {
        return Ok(());
    }
    let overlap = |first: usize, second: usize, begin_bytes, end_bytes| Violation::Overlap {
        first: problem.tensors()[first].label().to_owned(),
        second: problem.tensors()[second].label().to_owned(),
        step: StepId::new(step),
        arena: holder.start.0,
        begin_bytes,
        end_bytes,
    };
    // In place: the one dies in the step in which the other is born, and there is a permission at all.
    if holder.last != step || newcomer.first != step || !permits(problem, holder, newcomer) {
        return Err(overlap(holder.root, newcomer.root, begin_bytes, end_bytes));
    }
    let tensors = problem.tensors();
    let range = |t: usize| (plan.places[t].1, plan.places[t].1 + tensors[t].size_bytes());
    let used_now = |t: &&usize| {
        let tensor = &tensors[**t];
        tensor.first() <= step && (step <= tensor.last() || tensor.is_kept())
    };
    for output in newcomer.family.iter().filter(used_now) {
        for input in holder.family.iter().filter(used_now) {
            let ((in_begin, in_end), (out_begin, out_end)) = (range(*input), range(*output));
            let (begin, end) = (in_begin.max(out_begin), in_end.min(out_end));
            let allowed = tensors[*output].in_place().iter().any(|id| id.index() == *input);
            if begin < end && !(allowed && in_begin == out_begin) {
                return Err(overlap(*input, *output, begin, end));
            }
        }
    }
    Ok(())
}

/// Judges shared objects: every tensor that has bytes lies in an object that is large enough, alone at
/// every step.
pub(super) fn validate_shared(plan: &SharedPlan, problem: &Problem) -> Result<(), Violation> {
    let tensors = problem.tensors();
    let mut holders: BTreeMap<usize, BTreeMap<usize, (u32, u32)>> = BTreeMap::new();
    for (i, id) in problem.ids().enumerate() {
        let mut root = i;
        while let Some(alias) = tensors[root].alias() {
            root = alias.base.index();
        }
        let object = plan.object(id);
        let object_bytes = object.and_then(|o| plan.objects().get(o)).copied().unwrap_or(0);
        let size_bytes = tensors[root].size_bytes();
        if size_bytes > object_bytes {
            return Err(Violation::OutsideArena {
                tensor: tensors[i].label().to_owned(),
                arena: ArenaId::new(object.map_or(u32::MAX, |o| o as u32)),
                begin_bytes: 0,
                end_bytes: size_bytes,
                arena_bytes: object_bytes,
            });
        }
        let Some(object) = object else { continue };
        let interval = (tensors[i].first(), problem.last(&tensors[i]));
        let hull = holders.entry(object).or_default().entry(root).or_insert(interval);
        *hull = (hull.0.min(interval.0), hull.1.max(interval.1));
    }
    for (object, roots) in holders {
        let mut intervals: Vec<(u32, u32, usize)> = roots.iter().map(|(r, (f, l))| (*f, *l, *r)).collect();
        intervals.sort_unstable();
        if let Some(pair) = intervals.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
            let (holder, newcomer) = (&tensors[pair[0].2], &tensors[pair[1].2]);
            return Err(Violation::Overlap {
                first: holder.label().to_owned(),
                second: newcomer.label().to_owned(),
                step: StepId::new(pair[1].0),
                arena: ArenaId::new(object as u32),
                begin_bytes: 0,
                end_bytes: holder.size_bytes().min(newcomer.size_bytes()),
            });
        }
    }
    Ok(())
}
