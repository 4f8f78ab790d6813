//! The pool's account of itself.

use super::{ArenaPool, HeldParcel, PoolBytes};
use crate::plan::report::grouped;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// Every byte that a pool holds, by what it is held for and by session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PoolReport {
    /// All labels together.
    pub total: PoolBytes,
    /// Arenas of each lane, weights, state.
    pub labels: Vec<LabelReport>,
    /// Sessions in the order of their keys.
    pub sessions: Vec<SessionReport>,
    /// The budget, where one is set.
    pub budget_bytes: Option<u64>,
    /// How often the buffers of some lane were made or replaced: joining, growing, coming back after a trim.
    pub lane_changes: u64,
    /// Pipelines of the networks in the pool, equal ones once.
    pub pipelines: usize,
    /// Devices lost and replaced.
    pub rebuilds: u64,
}

/// Bytes held for one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabelReport {
    /// `lane L arena A`, `weights` or `state`.
    pub label: String,
    /// Its bytes.
    #[serde(flatten)]
    pub bytes: PoolBytes,
}

/// What one session takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionReport {
    /// Its label.
    pub label: String,
    /// Its lane.
    pub lane: u32,
    /// Bytes that it needs of the lane's arenas; others need the same ones.
    pub arena_bytes: u64,
    /// Bytes of its state.
    pub state_bytes: u64,
    /// Bytes of its weights, each of its own once.
    pub weights_bytes: u64,
    /// Of those, bytes that other sessions use as well.
    pub shared_weights_bytes: u64,
    /// Leases that it had.
    pub runs: u64,
}

impl ArenaPool {
    /// What is held now. The sums come from the buffers themselves: each adds its bytes when it is made and
    /// takes them off when it is destroyed.
    pub fn report(&self) -> PoolReport {
        let pipelines = self.context().pipelines.count();
        let state = self.state();
        let mut users: HashMap<_, (u64, usize)> = HashMap::new();
        let distinct = |entry: &super::Entry| {
            let one = |w: &Arc<HeldParcel>| (Arc::as_ptr(w), w.size_bytes());
            entry.own.weights.parcels.iter().map(one).collect::<HashMap<_, u64>>()
        };
        for (weight, bytes) in state.sessions.values().flat_map(distinct) {
            users.entry(weight).or_insert((bytes, 0)).1 += 1;
        }
        let session = |entry: &super::Entry| {
            let weights = distinct(entry);
            let shared = weights.iter().filter(|(weight, _)| users[*weight].1 > 1);
            SessionReport {
                label: entry.spec.label.clone(),
                lane: entry.spec.lane.0,
                arena_bytes: entry.need.iter().sum(),
                state_bytes: entry.own.state.iter().map(|owned| owned.buffer.size()).sum(),
                weights_bytes: weights.values().sum(),
                shared_weights_bytes: shared.map(|(_, bytes)| bytes).sum(),
                runs: entry.runs,
            }
        };
        let label = |(label, bytes): (super::Label, _)| LabelReport { label: label.to_string(), bytes };
        PoolReport {
            total: self.0.ledger.total(),
            labels: self.0.ledger.labels().into_iter().map(label).collect(),
            sessions: state.sessions.values().map(session).collect(),
            budget_bytes: Some(state.options.budget_bytes).filter(|bytes| *bytes < u64::MAX),
            lane_changes: state.changes,
            pipelines,
            rebuilds: state.context.epoch,
        }
    }
}

impl PoolReport {
    /// Bytes held under a label; zeros where there is none of that name.
    pub fn label(&self, label: &str) -> PoolBytes {
        self.labels.iter().find(|l| l.label == label).map(|l| l.bytes).unwrap_or_default()
    }
}

impl std::fmt::Display for PoolReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let row = |f: &mut std::fmt::Formatter<'_>, name: &str, columns: [String; 4], rest: &str| {
            let [a, b, c, d] = columns;
            writeln!(f, "{name:<20}{a:>15}{b:>15}{c:>15}{d:>15}{rest}")
        };
        let titles = |names: [&str; 4]| names.map(str::to_owned);
        row(f, "pool, bytes", titles(["in use", "reserved", "most in use", "most reserved"]), "")?;
        let labels = self.labels.iter().map(|l| (l.label.as_str(), &l.bytes));
        for (label, b) in labels.chain([("all", &self.total)]) {
            let columns = [b.in_use_bytes, b.reserved_bytes, b.in_use_high_bytes, b.reserved_high_bytes];
            row(f, &format!("  {label}"), columns.map(grouped), "")?;
        }
        row(f, "sessions, bytes", titles(["arenas", "state", "weights", "shared"]), "")?;
        for s in &self.sessions {
            let columns = [s.arena_bytes, s.state_bytes, s.weights_bytes, s.shared_weights_bytes];
            let rest = format!("  lane {}, {} runs", s.lane, s.runs);
            row(f, &format!("  {}", s.label), columns.map(grouped), &rest)?;
        }
        match self.budget_bytes {
            Some(bytes) => write!(f, "budget {}", grouped(bytes))?,
            None => write!(f, "no budget")?,
        }
        write!(f, ", {} pipelines", self.pipelines)
    }
}
