//! Tensors that do not fit together: the answer where a hard capacity is too small.
//!
//! A deletion filter. From tensors that do not fit, one after the other is left out for good where the rest
//! still does not fit. What remains is irreducible: without any one of them the rest fits. "Does not fit" is
//! a matter of proof (a lower bound, or an exhausted search) where one is to be had, and of a search that
//! found nothing elsewhere; which of the two it was is told.

use std::time::{Duration, Instant};

use super::report::grouped;
use super::{Plan, Planner, Problem, StepId, TensorId, bound};

/// One tensor of a [`Misfit`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct MisfitTensor {
    /// Its label.
    pub label: String,
    /// Its size, bytes.
    pub size_bytes: u64,
    /// First step that uses it.
    pub first: u32,
    /// Last step at which it holds its bytes, inclusive.
    pub last: u32,
}

/// Why a capacity is too small.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The best plan found.
    pub plan: Plan,
    /// Its peak, bytes.
    pub needed_bytes: u64,
    /// The capacity, bytes.
    pub capacity_bytes: u64,
    /// Tensors that do not fit together, largest first; views are left out.
    pub tensors: Vec<MisfitTensor>,
    /// A step at which all of them live, if there is one.
    pub step: Option<StepId>,
    /// Whether it is proven that they do not fit; else a better plan might.
    pub proven: bool,
    /// Whether without any one of them the rest was seen to fit.
    pub irreducible: bool,
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 12;
        let (needed, capacity) = (grouped(self.needed_bytes), grouped(self.capacity_bytes));
        let verdict = if self.proven { "no plan can fit, since " } else { "" };
        let bytes = |t: &MisfitTensor| format!("'{}' ({})", t.label, grouped(t.size_bytes));
        let mut names: Vec<String> = self.tensors.iter().take(SHOWN).map(bytes).collect();
        if self.tensors.len() > SHOWN {
            names.push(format!("{} more", self.tensors.len() - SHOWN));
        }
        write!(f, "the plan needs {needed} bytes, {capacity} are there; {verdict}")?;
        match self.step {
            Some(step) => write!(f, "these live together at step {step}")?,
            None => f.write_str(if self.proven {
                "these do not fit together"
            } else {
                "these found no place together"
            })?,
        }
        let sum: u64 = self.tensors.iter().map(|t| t.size_bytes).sum();
        write!(f, " and take {} bytes: {}", grouped(sum), names.join(", "))?;
        if self.irreducible {
            f.write_str("; without any one of them the rest fits")?;
        }
        if !self.proven {
            f.write_str("; this is not proven: a better plan might fit")?;
        }
        Ok(())
    }
}

/// Time for finding a small set where the caller set no deadline.
const TIME_TO_EXPLAIN: Duration = Duration::from_secs(10);

/// Subproblems planned at most.
const TRIES: usize = 4_000;

/// A small set of tensors that do not fit; `plan` is the best found, and above the capacity.
pub(super) fn explain(
    planner: &Planner,
    problem: &Problem,
    plan: &Plan,
    capacity_bytes: u64,
    deadline: Option<Instant>,
) -> Misfit {
    let mut filter = Filter {
        planner: planner.for_subproblems(capacity_bytes),
        problem,
        capacity_bytes,
        deadline: deadline.or_else(|| Instant::now().checked_add(TIME_TO_EXPLAIN)),
        tries: TRIES,
        by_proof: plan.lower_bound_bytes() > capacity_bytes,
    };
    let roots: Vec<TensorId> = problem
        .ids()
        .filter(|id| {
            let tensor = &problem.tensors()[id.index()];
            tensor.alias().is_none() && tensor.size_bytes() > 0
        })
        .collect();
    let mut set = roots;
    if let Some((_, crowd)) = bound::peak(problem).filter(|_| bound::max_load(problem) > capacity_bytes) {
        let live: Vec<TensorId> =
            crowd.into_iter().filter(|id| problem.tensors()[id.index()].size_bytes() > 0).collect();
        if filter.fails(&live) {
            set = live;
        }
    }
    filter.drop_halves(&mut set);
    let irreducible = filter.drop_singles(&mut set);
    set.sort_by_key(|id| (std::cmp::Reverse(problem.tensors()[id.index()].size_bytes()), *id));
    Misfit {
        needed_bytes: plan.peak_bytes(),
        plan: plan.clone(),
        capacity_bytes,
        step: common_step(problem, &set),
        tensors: set.iter().map(|id| describe(problem, *id)).collect(),
        proven: filter.by_proof,
        irreducible,
    }
}

fn describe(problem: &Problem, id: TensorId) -> MisfitTensor {
    let tensor = &problem.tensors()[id.index()];
    MisfitTensor {
        label: tensor.label().to_owned(),
        size_bytes: tensor.size_bytes(),
        first: tensor.first(),
        last: problem.last(tensor),
    }
}

fn common_step(problem: &Problem, set: &[TensorId]) -> Option<StepId> {
    let tensors = || set.iter().map(|id| &problem.tensors()[id.index()]);
    let first = tensors().map(|t| t.first()).max()?;
    let last = tensors().map(|t| problem.last(t)).min()?;
    (first <= last).then(|| StepId::new(first))
}

struct Filter<'a> {
    planner: Planner,
    problem: &'a Problem,
    capacity_bytes: u64,
    deadline: Option<Instant>,
    tries: usize,
    /// Whether only proofs count.
    by_proof: bool,
}

/// What is known of a set.
#[derive(PartialEq, Eq)]
enum Verdict {
    Fits,
    Fails,
    Unknown,
}

impl Filter<'_> {
    fn is_spent(&self) -> bool {
        self.tries == 0 || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn judge(&mut self, set: &[TensorId]) -> Verdict {
        if self.is_spent() {
            return Verdict::Unknown;
        }
        self.tries -= 1;
        let problem = self.problem.subset(&self.with_views(set));
        if bound::lower_bound(&problem, usize::MAX).0 > self.capacity_bytes {
            return Verdict::Fails;
        }
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let planner = match left {
            Some(left) => self.planner.clone().deadline(left),
            None => self.planner.clone(),
        };
        match planner.plan(&problem) {
            Ok(plan) if plan.peak_bytes() <= self.capacity_bytes => Verdict::Fits,
            Ok(plan) if !self.by_proof || plan.lower_bound_bytes() > self.capacity_bytes => Verdict::Fails,
            _ => Verdict::Unknown,
        }
    }

    fn fails(&mut self, set: &[TensorId]) -> bool {
        self.judge(set) == Verdict::Fails
    }

    /// The tensors with every view of them.
    fn with_views(&self, set: &[TensorId]) -> Vec<bool> {
        let tensors = self.problem.tensors();
        let mut stays = vec![false; tensors.len()];
        set.iter().for_each(|id| stays[id.index()] = true);
        let root = |mut at: usize| {
            while let Some(alias) = tensors[at].alias() {
                at = alias.base.index();
            }
            at
        };
        (0..tensors.len()).map(|i| stays[root(i)]).collect()
    }

    /// Leaves out whole stretches of steps, halving them, for as long as that works.
    fn drop_halves(&mut self, set: &mut Vec<TensorId>) {
        set.sort_by_key(|id| (self.problem.tensors()[id.index()].first(), *id));
        let mut stretch = set.len() / 2;
        while stretch >= 2 {
            let mut from = 0;
            while from < set.len() && set.len() > stretch {
                let until = (from + stretch).min(set.len());
                let rest: Vec<TensorId> = set[..from].iter().chain(&set[until..]).copied().collect();
                if self.fails(&rest) {
                    *set = rest;
                } else {
                    from = until;
                }
                if self.is_spent() {
                    return;
                }
            }
            stretch /= 2;
        }
    }

    /// Leaves out one tensor after the other, small ones first; whether the rest was seen to fit without any
    /// one of those that stay.
    fn drop_singles(&mut self, set: &mut Vec<TensorId>) -> bool {
        set.sort_by_key(|id| (self.problem.tensors()[id.index()].size_bytes(), *id));
        let (mut at, mut fits) = (0, 0);
        while at < set.len() {
            let rest: Vec<TensorId> = set.iter().filter(|id| **id != set[at]).copied().collect();
            match self.judge(&rest) {
                // With fewer in the set, what fitted without one of them fits all the more.
                Verdict::Fails => *set = rest,
                verdict => {
                    fits += usize::from(verdict == Verdict::Fits);
                    at += 1;
                }
            }
            if self.is_spent() {
                return false;
            }
        }
        fits == set.len()
    }
}
