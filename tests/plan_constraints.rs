//! Ten thousand random problems with constraints of every kind at once: every plan is judged twice, small
//! ones are compared with exhaustive search, and refusals with what is really impossible.

#[path = "support/random_problem.rs"]
mod random_problem;
#[path = "support/slow_judge.rs"]
mod slow_judge;

use std::collections::BTreeSet;

use random_problem::{Kinds, Random, draw};
use slow_judge::{held, is_valid_byte_by_byte, root};
use sublet::plan::{Effort, Misfit, Plan, PlanError, Planner, Problem, Strategy, bound};

/// Tensors that are placed as one, at one offset.
type Group = Vec<usize>;

fn align(problem: &Problem, i: usize) -> u64 {
    problem.tensors()[i].alignment().unwrap_or(problem.alignment()).bytes()
}

fn size(problem: &Problem, i: usize) -> u64 {
    problem.tensors()[i].size_bytes()
}

/// Whether two tensors that are no views may lie at those offsets.
fn may_lie(problem: &Problem, a: (usize, u64), b: (usize, u64)) -> bool {
    let (steps_a, steps_b) = (held(problem, a.0), held(problem, b.0));
    let meet = steps_a.start() <= steps_b.end() && steps_b.start() <= steps_a.end();
    let apart = a.1 + size(problem, a.0) <= b.1 || b.1 + size(problem, b.0) <= a.1;
    let empty = size(problem, a.0) == 0 || size(problem, b.0) == 0;
    let hands_over = |from: usize, to: usize| {
        let permitted = problem.tensors()[to].in_place().iter().any(|i| i.index() == from);
        permitted && held(problem, from).end() == held(problem, to).start()
    };
    !meet || apart || empty || (a.1 == b.1 && (hands_over(a.0, b.0) || hands_over(b.0, a.0)))
}

/// The lowest peak in one arena: all ways to merge along permissions, all orders, each group at the lowest
/// free offset. Views must not take part in permissions.
fn optimum(problem: &Problem) -> u64 {
    let roots: Vec<usize> =
        (0..problem.len()).filter(|i| root(problem, *i) == *i && size(problem, *i) > 0).collect();
    let mut best = u64::MAX;
    each_grouping(problem, &roots, 0, &mut Vec::new(), &mut |groups| {
        let mut placed: Vec<(usize, u64)> = Vec::new();
        let pinned = |g: &Group| g.iter().find_map(|i| problem.tensors()[*i].pin());
        for group in groups.iter().filter(|g| pinned(g).is_some()) {
            placed.extend(group.iter().map(|i| (*i, pinned(group).unwrap())));
        }
        let fits = |at: &(usize, u64)| problem.tensors()[at.0].pin().is_none_or(|pin| pin == at.1);
        let apart = |at: &(usize, u64)| placed.iter().all(|p| p.0 == at.0 || may_lie(problem, *p, *at));
        if placed.iter().all(|at| fits(at) && apart(at) && at.1 % align(problem, at.0) == 0) {
            let mut left: Vec<Group> = groups.iter().filter(|g| pinned(g).is_none()).cloned().collect();
            place_all(problem, &mut left, &mut placed, &mut best);
        }
    });
    best
}

fn each_grouping(
    problem: &Problem,
    roots: &[usize],
    at: usize,
    links: &mut Vec<(usize, usize)>,
    visit: &mut impl FnMut(&[Group]),
) {
    if at == roots.len() {
        let mut group_of: Vec<usize> = (0..problem.len()).collect();
        for (output, input) in links.iter() {
            let (from, to) = (group_of[*output], group_of[*input]);
            group_of.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
        let names: BTreeSet<usize> = roots.iter().map(|r| group_of[*r]).collect();
        let members = |name: &usize| roots.iter().copied().filter(|r| group_of[*r] == *name).collect();
        visit(&names.iter().map(members).collect::<Vec<Group>>());
        return;
    }
    each_grouping(problem, roots, at + 1, links, visit);
    for input in problem.tensors()[roots[at]].in_place() {
        if size(problem, input.index()) > 0 {
            links.push((roots[at], input.index()));
            each_grouping(problem, roots, at + 1, links, visit);
            links.pop();
        }
    }
}

fn place_all(problem: &Problem, left: &mut Vec<Group>, placed: &mut Vec<(usize, u64)>, best: &mut u64) {
    let top = |(i, offset): &(usize, u64)| offset + size(problem, *i);
    let height = placed.iter().map(top).max().unwrap_or(0);
    if height >= *best {
        return;
    }
    if left.is_empty() {
        *best = height;
        return;
    }
    for at in 0..left.len() {
        let group = left.remove(at);
        let step = group.iter().map(|i| align(problem, *i)).max().unwrap_or(1);
        let candidates = placed.iter().map(|p| top(p).next_multiple_of(step)).chain([0]);
        let free = |offset: &u64| {
            group.iter().all(|i| placed.iter().all(|p| may_lie(problem, *p, (*i, *offset))))
                && group.iter().all(|i| group.iter().all(|j| i == j || may_lie(problem, (*i, 0), (*j, 0))))
        };
        if let Some(offset) = candidates.filter(free).min() {
            placed.extend(group.iter().map(|i| (*i, offset)));
            place_all(problem, left, placed, best);
            placed.truncate(placed.len() - group.len());
        }
        left.insert(at, group);
    }
}

/// A limit that every tensor fits, often too low for one arena.
fn draw_limit(random: &mut Random, problem: &Problem) -> u64 {
    let needed = problem.tensors().iter().map(|t| t.size_bytes() + t.pin().unwrap_or(0)).max().unwrap_or(0);
    let step =
        (0..problem.len()).map(|i| align(problem, i)).max().unwrap_or(1).max(problem.alignment().bytes());
    needed.next_multiple_of(step).max(step) + random.below(600)
}

fn judge(problem: &Problem, plan: &Plan, what: &str) {
    if let Err(violation) = plan.validate(problem) {
        panic!("{what}: {violation}\n{problem:?}");
    }
    assert!(is_valid_byte_by_byte(problem, plan), "{what}: the judges disagree\n{problem:?}\n{plan:?}");
    assert!(bound::max_load(problem) <= plan.lower_bound_bytes(), "{what}");
    assert!(plan.lower_bound_bytes() <= plan.peak_bytes(), "{what}\n{problem:?}\n{plan:?}");
    assert_eq!(plan.is_optimal(), plan.lower_bound_bytes() == plan.peak_bytes(), "{what}");
}

/// Every claim of a refusal, against exhaustive search.
fn check_misfit(problem: &Problem, misfit: &Misfit) {
    judge(problem, &misfit.plan, "the plan of a misfit");
    assert!(misfit.needed_bytes > misfit.capacity_bytes && misfit.needed_bytes == misfit.plan.peak_bytes());
    assert!(!misfit.tensors.is_empty());
    let of = |skip: Option<usize>| {
        let mut part = Problem::new(problem.alignment());
        let kept = misfit.tensors.iter().enumerate().filter(|(i, _)| Some(*i) != skip);
        let ids: Vec<_> = kept
            .map(|(_, t)| {
                let id = part.tensor(t.label.as_str(), t.size_bytes, t.first..=t.last).unwrap();
                let original = problem.get(problem.lookup(&t.label).unwrap()).unwrap();
                if let Some(alignment) = original.alignment() {
                    part.set_alignment(id, alignment).unwrap();
                }
                if let Some(pin) = original.pin() {
                    part.pin(id, pin).unwrap();
                }
                id
            })
            .collect();
        for id in &ids {
            let original = problem.get(problem.lookup(part.get(*id).unwrap().label()).unwrap()).unwrap();
            for input in original.in_place() {
                if let Some(input) = part.lookup(problem.get(*input).unwrap().label()) {
                    part.allow_in_place(*id, input).unwrap();
                }
            }
        }
        optimum(&part)
    };
    if misfit.proven {
        assert!(of(None) > misfit.capacity_bytes, "they do fit: {misfit}\n{problem:?}");
    }
    if misfit.irreducible {
        for skip in 0..misfit.tensors.len() {
            let rest = if misfit.tensors.len() == 1 { 0 } else { of(Some(skip)) };
            assert!(rest <= misfit.capacity_bytes, "one too many: {misfit}\n{problem:?}");
        }
    }
    if let Some(step) = misfit.step {
        let lives = |t: &sublet::plan::MisfitTensor| (t.first..=t.last).contains(&(step.index() as u32));
        assert!(misfit.tensors.iter().all(lives), "{misfit}");
    }
}

#[test]
fn ten_thousand_problems_with_constraints_of_every_kind() {
    let mut random = Random(2026);
    let (mut several, mut parted, mut shared, mut unlawful) = (0, 0, 0, 0);
    for turn in 0..10_000 {
        let kinds = Kinds { alias: turn % 3 == 0, in_place: turn % 2 == 0, separate: turn % 4 < 2 };
        let problem = draw(&mut random, if turn % 5 == 0 { 24 } else { 9 }, kinds);
        let effort = if turn % 500 == 1 { Effort::Balanced } else { Effort::Fast };
        let planner = match turn % 8 {
            0 => Planner::new(Strategy::ALL[turn / 8 % Strategy::ALL.len()]),
            _ => Planner::auto().effort(effort).seed(random.below(3)),
        };
        let planner =
            if turn % 3 == 1 { planner.max_buffer_bytes(draw_limit(&mut random, &problem)) } else { planner };
        let plan = match planner.plan(&problem) {
            Ok(plan) => plan,
            Err(PlanError::PinsOverlap { .. }) => {
                unlawful += 1;
                continue;
            }
            Err(other) => panic!("{other}\n{problem:?}"),
        };
        judge(&problem, &plan, "plan");
        if turn % 10 == 0 {
            assert_eq!(planner.clone().threads(2).plan(&problem).unwrap(), plan, "two threads");
        }
        several += usize::from(plan.arenas().len() > 1);
        parted += usize::from(!problem.separations().is_empty());
        shared += usize::from(plan.arenas().len() == 1 && plan.peak_bytes() < problem.naive_bytes());
    }
    assert!(unlawful < 1_000, "{unlawful}");
    assert!(several > 1_000 && parted > 1_000 && shared > 1_000, "{several} {parted} {shared}");
}

#[test]
fn small_problems_against_exhaustive_search() {
    let mut random = Random(7);
    let (mut judged, mut optimal, mut refused) = (0, 0, 0);
    for turn in 0..2_000 {
        let in_place = turn % 2 == 0;
        let kinds = Kinds { alias: !in_place, in_place, separate: false };
        let problem = draw(&mut random, 7, kinds);
        let plan = match Planner::auto().plan(&problem) {
            Err(PlanError::PinsOverlap { .. }) => {
                assert_eq!(optimum(&problem), u64::MAX, "{problem:?}");
                continue;
            }
            plan => plan.unwrap(),
        };
        let lowest = optimum(&problem);
        judge(&problem, &plan, "plan");
        assert!(plan.lower_bound_bytes() <= lowest && lowest <= plan.peak_bytes(), "{problem:?}\n{plan:?}");
        assert!(!plan.is_optimal() || plan.peak_bytes() == lowest, "{problem:?}\n{plan:?}");
        assert!(in_place || plan.peak_bytes() == lowest, "{lowest} is possible\n{problem:?}\n{plan:?}");
        judged += 1;
        optimal += usize::from(plan.peak_bytes() == lowest);

        let capacity = (lowest * (50 + random.below(60))) / 100;
        match Planner::auto().effort(Effort::Fast).capacity_bytes(capacity).plan(&problem) {
            Ok(plan) => assert!(plan.peak_bytes() <= capacity && lowest <= capacity, "{problem:?}"),
            Err(PlanError::OverCapacity(misfit)) => {
                refused += 1;
                assert!(!misfit.proven || lowest > capacity);
                if in_place {
                    check_misfit(&problem, &misfit);
                }
            }
            Err(other) => panic!("{other}"),
        }
    }
    // With permissions some fall short: a small output in the bytes of a large input is planned as one
    // block as wide as both. None of those claims to be optimal.
    assert!(judged > 1_900 && optimal * 100 > judged * 98, "{optimal} of {judged} plans are at the optimum");
    assert!(refused > 500, "{refused}");
}

#[test]
fn permissions_never_cost_and_reach_the_load_of_the_best_choice() {
    let mut random = Random(99);
    let mut gained = 0;
    for _ in 0..1_000 {
        let kinds = Kinds { alias: false, in_place: true, separate: false };
        let problem = draw(&mut random, 12, kinds);
        let mut without = Problem::new(problem.alignment());
        for tensor in problem.tensors() {
            let last = problem.last(tensor);
            let id = without.tensor(tensor.label(), tensor.size_bytes(), tensor.first()..=last).unwrap();
            if let Some(alignment) = tensor.alignment() {
                without.set_alignment(id, alignment).unwrap();
            }
            if let Some(pin) = tensor.pin() {
                without.pin(id, pin).unwrap();
            }
        }
        // Pins over each other may be lawful by a permission only.
        let Ok(plain) = Planner::auto().effort(Effort::Fast).plan(&without) else { continue };
        let plan = Planner::auto().effort(Effort::Fast).plan(&problem).unwrap();
        assert!(plan.peak_bytes() <= plain.peak_bytes(), "{problem:?}");
        gained += usize::from(plan.peak_bytes() < plain.peak_bytes());
    }
    assert!(gained > 100, "{gained}");
}
