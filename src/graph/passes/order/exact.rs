//! The lowest peak over all orders: dynamic programming over sets of executed nodes, lowest peak first.
//!
//! A set is taken up once, by the lowest peak at which it is reached; of equal peaks the largest set comes
//! first, so that where the bound is reached the search runs straight to the end. A budget counts the work,
//! and a search that runs out of it has no answer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::model::{Model, State};
use crate::plan::clock::Instant;
use std::time::Duration;

/// What is left to be done, in nodes executed.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    left: u64,
    /// When there is nothing left whatever was not spent.
    until: Option<Instant>,
}

impl Budget {
    /// Sets reached in one search.
    const REACHED: usize = 1_000_000;

    /// For that much work.
    pub fn new(work: u64) -> Self {
        Budget { left: work, until: None }
    }

    /// That ends after a time as well. A time beyond what the clock can hold is none.
    pub fn within(self, time: Option<Duration>) -> Self {
        Budget { until: time.and_then(|time| Instant::now().checked_add(time)), ..self }
    }

    /// Time until it ends, where it does.
    pub fn time_left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Whether its time is over.
    pub fn is_over(&self) -> bool {
        self.time_left() == Some(Duration::ZERO)
    }

    /// Takes one part of several away, for a task of its own.
    pub fn part(&mut self, of: u64) -> Self {
        let part = self.left / of;
        self.left -= part;
        Budget { left: part, until: self.until }
    }

    /// Adds what a task left.
    pub fn give_back(&mut self, rest: Budget) {
        self.left += rest.left;
    }

    /// What each of so many tasks may take.
    pub fn share(&self, tasks: usize) -> usize {
        if self.is_over() {
            return 0;
        }
        usize::try_from(self.left).unwrap_or(usize::MAX) / tasks
    }

    /// Whether there was as much.
    pub fn spend(&mut self, work: usize) -> bool {
        let left = self.left.checked_sub(work as u64).filter(|_| !self.is_over());
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// An order of the lowest peak, or of one within the floor.
    Lowest(Vec<u32>),
    /// Every order reaches the limit.
    None,
    /// The budget ran out.
    Unknown,
}

/// A set that was reached: from which, by which nodes.
struct Reached {
    from: usize,
    by: Vec<u32>,
}

/// Sets by urgency: peak, then nodes left, then load, then age.
type Queue = BinaryHeap<Reverse<(u64, usize, u64, usize)>>;

/// Looks for the order with the lowest peak below `limit_bytes`; peaks up to `floor_bytes` are all the same.
pub(super) fn lowest(model: &Model, floor_bytes: u64, limit_bytes: u64, budget: &mut Budget) -> Answer {
    if floor_bytes >= limit_bytes {
        return Answer::None;
    }
    let n = model.len();
    let mut reached = vec![Reached { from: 0, by: Vec::new() }];
    let mut closed: HashSet<Box<[u64]>> = HashSet::new();
    let mut queue = Queue::new();
    queue.push(Reverse((floor_bytes, n, 0, 0)));
    while let Some(Reverse((peak, _, _, at))) = queue.pop() {
        if !budget.spend(n) || reached.len() > Budget::REACHED {
            return Answer::Unknown;
        }
        let before = path(&reached, at);
        let mut state = model.walk(before.iter().copied(), |_| {});
        let mut set = vec![0u64; n.div_ceil(64)].into_boxed_slice();
        before.iter().for_each(|node| set[*node as usize / 64] |= 1 << (node % 64));
        while let Some(node) = only(model, &state, peak) {
            model.execute(&mut state, node);
            set[node as usize / 64] |= 1 << (node % 64);
            reached[at].by.push(node);
        }
        if state.ready().is_empty() {
            return Answer::Lowest(path(&reached, at));
        }
        let left = n - set.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        if !closed.insert(set) {
            continue;
        }
        for node in state.ready() {
            let cost = model.cost(&state, *node);
            let peak = peak.max(cost.during_bytes);
            if peak < limit_bytes {
                queue.push(Reverse((peak, left, cost.after_bytes, reached.len())));
                reached.push(Reached { from: at, by: vec![*node] });
            }
        }
    }
    Answer::None
}

/// The next node, where nothing is lost by taking it.
fn only(model: &Model, state: &State, peak: u64) -> Option<u32> {
    model.forced(state, peak).or(match state.ready() {
        [node] if model.cost(state, *node).during_bytes <= peak => Some(*node),
        _ => None,
    })
}

/// All nodes executed in a set, in order.
fn path(reached: &[Reached], mut at: usize) -> Vec<u32> {
    let mut backwards = Vec::new();
    while at != 0 {
        backwards.extend(reached[at].by.iter().rev());
        at = reached[at].from;
    }
    backwards.extend(reached[0].by.iter().rev());
    backwards.reverse();
    backwards
}
