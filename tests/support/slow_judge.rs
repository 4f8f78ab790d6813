//! The slow judge of plans: every byte at every step.

use std::ops::RangeInclusive;

use sublet::plan::{Plan, Problem, Tensor, TensorId};

/// The tensor whose bytes it is.
pub fn root(problem: &Problem, tensor: usize) -> usize {
    let mut at = tensor;
    while let Some(alias) = problem.tensors()[at].alias() {
        at = alias.base.index();
    }
    at
}

/// Steps at which the tensor or any tensor of the same bytes is used.
pub fn held(problem: &Problem, tensor: usize) -> RangeInclusive<u32> {
    let family = || {
        (0..problem.len())
            .filter(|i| root(problem, *i) == root(problem, tensor))
            .map(|i| &problem.tensors()[i])
    };
    family().map(Tensor::first).min().unwrap()..=family().map(|t| problem.last(t)).max().unwrap()
}

/// The slow judge: every byte at every step.
pub fn is_valid_byte_by_byte(problem: &Problem, plan: &Plan) -> bool {
    let tensors = problem.tensors();
    for (id, tensor) in problem.ids().zip(tensors) {
        let (arena, offset) = (plan.arena(id), plan.offset_bytes(id));
        let arena_bytes = plan.arenas().get(arena.index()).copied().unwrap_or(0);
        let misplaced = match tensor.alias() {
            Some(a) => (plan.arena(a.base), plan.offset_bytes(a.base) + a.byte_offset) != (arena, offset),
            None => offset % tensor.alignment().unwrap_or(problem.alignment()).bytes() != 0,
        };
        let moved = tensor.pin().is_some_and(|pin| (arena.index(), offset) != (0, pin));
        if misplaced || moved || (tensor.size_bytes() > 0 && offset + tensor.size_bytes() > arena_bytes) {
            return false;
        }
    }
    let shares = |a: &TensorId, b: &TensorId| {
        let has_bytes = |id: &TensorId| tensors[id.index()].size_bytes() > 0;
        has_bytes(a) && has_bytes(b) && plan.arena(*a) == plan.arena(*b)
    };
    if problem.separations().iter().any(|s| s.left().iter().any(|l| s.right().iter().any(|r| shares(l, r)))) {
        return false;
    }
    (0..problem.steps()).all(|step| {
        let live: Vec<usize> = (0..problem.len()).filter(|i| held(problem, *i).contains(&step)).collect();
        live.iter().all(|a| live.iter().all(|b| may_coexist(problem, plan, *a, *b, step)))
    })
}

fn may_coexist(problem: &Problem, plan: &Plan, a: usize, b: usize, step: u32) -> bool {
    let (ra, rb) = (root(problem, a), root(problem, b));
    let id = |i: usize| TensorId::new(i as u32);
    let range = |i: usize| {
        let begin = plan.offset_bytes(id(i));
        begin..begin + problem.tensors()[i].size_bytes()
    };
    let share = |i: usize, j: usize| {
        plan.arena(id(i)) == plan.arena(id(j)) && range(i).any(|byte| range(j).contains(&byte))
    };
    if ra == rb || !share(ra, rb) {
        return true;
    }
    let permitted = |input: usize, output: usize| problem.tensors()[output].in_place().contains(&id(input));
    let family = |r: usize| (0..problem.len()).filter(move |i| root(problem, *i) == r);
    let hands_over = |from: usize, to: usize| {
        *held(problem, from).end() == step
            && *held(problem, to).start() == step
            && family(from).any(|i| family(to).any(|o| permitted(i, o)))
            && family(from).filter(|i| problem.last(&problem.tensors()[*i]) == step).all(|i| {
                family(to).filter(|o| problem.tensors()[*o].first() == step).all(|o| {
                    !share(i, o) || (permitted(i, o) && plan.offset_bytes(id(i)) == plan.offset_bytes(id(o)))
                })
            })
    };
    hands_over(ra, rb) || hands_over(rb, ra)
}
