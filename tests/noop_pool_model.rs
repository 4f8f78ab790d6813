//! Random sequences of joins, leaves, leases, trims and rebuilds against a model that only adds up numbers,
//! and what a pool says on a lost device.
#![cfg(feature = "cli")]

mod support;

use proptest::prelude::*;
use std::collections::BTreeMap;
use sublet::device::{
    ArenaPool, DeviceError, DeviceWatch, Lane, PoolOptions, Session, SessionKey, SessionSpec, Weight,
};
use sublet::plan::{Alignment, Planner, Problem};
use support::gpu::Gpu;

#[derive(Debug, Clone)]
enum Act {
    Join { lane: u32, arena: u64, state: u64, weight: u8 },
    Leave(usize),
    Lease(usize),
    Trim,
    Budget(u64),
    Rebuild,
}

fn act() -> impl Strategy<Value = Act> {
    let join = (0..3u32, 1..40u64, 0..4u64, 0..5u8);
    prop_oneof![
        4 => join.prop_map(|(lane, arena, state, weight)| Act::Join {
            lane,
            arena: arena * 256,
            state: state * 64,
            weight
        }),
        2 => (0..16usize).prop_map(Act::Leave),
        4 => (0..16usize).prop_map(Act::Lease),
        1 => Just(Act::Trim),
        1 => (5..60u64).prop_map(|kib| Act::Budget(kib << 10)),
        1 => Just(Act::Rebuild),
    ]
}

fn spec(lane: u32, arena: u64, state: u64, weight: u8) -> SessionSpec {
    let mut problem = Problem::new(Alignment::new(256).unwrap());
    problem.tensor("t", arena, 0..=1).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    let mut spec = SessionSpec::new("session", &problem, &plan).lane(Lane(lane));
    if state > 0 {
        spec = spec.state("state", state);
    }
    if weight > 0 {
        spec = spec.weight(Weight::new("weight", vec![weight; usize::from(weight) * 256]));
    }
    spec
}

/// A session as the model has it: lane, arena bytes, state bytes, weight.
type Known = (u32, u64, u64, u8);

/// What the pool must hold: sums and maxima, nothing else.
#[derive(Default)]
struct Model {
    sessions: Vec<(Session, Known)>,
    left: Vec<SessionKey>,
    /// Bytes of each lane whose arenas are there.
    lanes: BTreeMap<u32, u64>,
    budget: Option<u64>,
}

impl Model {
    fn need(&self, lane: u32) -> u64 {
        self.sessions.iter().filter(|(_, k)| k.0 == lane).map(|(_, k)| k.1).max().unwrap_or(0)
    }

    fn weights(&self) -> u64 {
        let mut kinds: Vec<u8> = self.sessions.iter().map(|(_, k)| k.3).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.iter().map(|kind| u64::from(*kind) * 256).sum()
    }

    fn state(&self) -> u64 {
        self.sessions.iter().map(|(_, k)| k.2).sum()
    }

    /// Arenas that are there or come back, weights and state.
    fn committed(&self) -> u64 {
        (0..3).map(|lane| self.need(lane)).sum::<u64>() + self.weights() + self.state()
    }

    fn join(&mut self, pool: &ArenaPool, known: Known) {
        let (lane, arena, state, weight) = known;
        let held = self.sessions.iter().any(|(_, k)| k.3 == weight);
        let grown = arena.saturating_sub(self.need(lane));
        let more = grown + state + if held { 0 } else { u64::from(weight) * 256 };
        let after = self.committed() + more;
        match pool.block_on(pool.join(spec(lane, arena, state, weight))) {
            Ok(session) => {
                assert!(self.budget.is_none_or(|budget| after <= budget), "{after} passes the budget");
                self.sessions.push((session, known));
                self.lanes.insert(lane, self.need(lane));
            }
            Err(DeviceError::OverBudget { over_bytes, needed_bytes, .. }) => {
                assert_eq!(Some(over_bytes), self.budget.and_then(|budget| after.checked_sub(budget)));
                assert_eq!(needed_bytes, more);
            }
            Err(other) => panic!("{other}"),
        }
    }

    fn act(&mut self, pool: &ArenaPool, act: &Act) {
        match *act {
            Act::Join { lane, arena, state, weight } => self.join(pool, (lane, arena, state, weight)),
            Act::Leave(i) if !self.sessions.is_empty() => {
                let (session, known) = self.sessions.remove(i % self.sessions.len());
                self.left.push(session.key());
                drop(session);
                if self.lanes.get(&known.0).is_some_and(|bytes| *bytes > self.need(known.0)) {
                    self.lanes.remove(&known.0);
                }
            }
            Act::Lease(i) if !self.sessions.is_empty() => {
                let (session, known) = &self.sessions[i % self.sessions.len()];
                let lease = pool.block_on(session.lease()).unwrap();
                assert!(lease.arenas().next().unwrap().size() >= known.1);
                assert_eq!(lease.state(0).map(wgpu::Buffer::size), (known.2 > 0).then_some(known.2));
                let weight = lease.weight(0).map(|view| view.bytes.end - view.bytes.start);
                assert_eq!(weight, (known.3 > 0).then(|| u64::from(known.3) * 256));
                self.lanes.insert(known.0, self.need(known.0));
            }
            Act::Leave(_) | Act::Lease(_) => {}
            Act::Trim => {
                assert_eq!(pool.trim(), self.lanes.values().sum::<u64>());
                self.lanes.clear();
            }
            Act::Budget(bytes) => {
                self.budget = Some(bytes);
                pool.budget(bytes);
            }
            Act::Rebuild => {
                let new = Gpu::noop(|_| ());
                let watch = DeviceWatch::install(&new.device);
                pool.block_on(pool.rebuild(&new.device, &new.queue, &watch)).unwrap();
                self.lanes = (0..3).map(|lane| (lane, self.need(lane))).filter(|(_, b)| *b > 0).collect();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_ledger_is_the_model_after_any_sequence(acts in proptest::collection::vec(act(), 1..60)) {
        let gpu = Gpu::noop(|_| ());
        let watch = DeviceWatch::install(&gpu.device);
        let pool = ArenaPool::new(&gpu.device, &gpu.queue, &watch, PoolOptions::default());
        let mut model = Model::default();
        for act in &acts {
            model.act(&pool, act);
            let report = pool.report();
            let lanes: u64 = (0..3).map(|l| report.label(&format!("lane {l} arena 0")).reserved_bytes).sum();
            prop_assert_eq!(lanes, model.lanes.values().sum::<u64>(), "{:?}\n{}", act, report);
            prop_assert_eq!(report.label("state").reserved_bytes, model.state());
            prop_assert_eq!(report.label("weights").reserved_bytes, model.weights());
            prop_assert_eq!(report.label("weights").in_use_bytes, model.weights());
            let labels: u64 = report.labels.iter().map(|l| l.bytes.reserved_bytes).sum();
            prop_assert_eq!(report.total.reserved_bytes, labels);
            prop_assert!(report.total.reserved_high_bytes >= report.total.reserved_bytes);
            for key in &model.left {
                prop_assert!(!pool.contains(*key));
                let refused = pool.block_on(pool.lease(*key));
                let gone = matches!(refused, Err(DeviceError::Gone { .. }));
                prop_assert!(gone);
            }
        }
        drop(model);
        prop_assert_eq!(pool.report().total.reserved_bytes, 0);
        prop_assert_eq!(pool.report().total.in_use_bytes, 0);
    }
}

#[test]
fn a_lost_device_is_the_answer_to_everything_until_the_pool_is_rebuilt() {
    let gpu = Gpu::noop(|_| ());
    let watch = DeviceWatch::install(&gpu.device);
    let pool = ArenaPool::new(&gpu.device, &gpu.queue, &watch, PoolOptions::default());
    let session = pool.block_on(pool.join(spec(0, 1024, 64, 3))).unwrap();
    let before = pool.block_on(session.lease()).unwrap().generation();
    gpu.device.destroy();
    let lost = |error| matches!(error, DeviceError::Lost { .. });
    assert!(lost(pool.block_on(session.lease()).unwrap_err()));
    assert!(lost(pool.block_on(pool.join(spec(1, 512, 0, 0))).unwrap_err()));
    assert!(watch.reason().is_some());
    let dead = Gpu::noop(|_| ());
    let dead_watch = DeviceWatch::new();
    dead_watch.tell("it was gone before it came");
    assert!(lost(pool.block_on(pool.rebuild(&dead.device, &dead.queue, &dead_watch)).unwrap_err()));
    // A device that cannot hold the plan is refused, and the pool stays where it was.
    let small = Gpu::noop(|limits| limits.max_storage_buffer_binding_size = 512);
    let small_watch = DeviceWatch::install(&small.device);
    let refused = pool.block_on(pool.rebuild(&small.device, &small.queue, &small_watch)).unwrap_err();
    assert!(matches!(refused, DeviceError::OverLimit { .. }), "{refused}");
    assert!(lost(pool.block_on(session.lease()).unwrap_err()));
    let new = Gpu::noop(|_| ());
    let new_watch = DeviceWatch::install(&new.device);
    pool.block_on(pool.rebuild(&new.device, &new.queue, &new_watch)).unwrap();
    let lease = pool.block_on(session.lease()).unwrap();
    assert!(!lease.generation().same_device(before));
    assert_eq!((lease.device(), pool.report().rebuilds), (&new.device, 1));
}

#[test]
fn a_watch_keeps_the_first_reason() {
    let watch = DeviceWatch::new();
    assert_eq!(watch.reason(), None);
    watch.tell("driver reset");
    watch.clone().tell("and again");
    assert_eq!(watch.reason(), Some("driver reset"));
}
