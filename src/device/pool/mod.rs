//! One set of arenas for many sessions: [`ArenaPool`].
//!
//! Sessions join with a planned problem and leave at run time. Those of one [`Lane`] lie in the same buffers,
//! sized to the largest of them, and take turns: a run holds a [`Lease`] from its first recorded command to
//! its last submission. State has buffers that nobody shares; equal weights lie there once.

mod gate;
mod join;
mod lane;
mod lease;
mod ledger;
mod options;
mod parcel;
mod rebuild;
mod report;
mod spec;
mod weights;

pub(crate) use gate::Gate;
pub use lease::{Generation, Lease, PoolView, Session, StateGuard};
pub use ledger::PoolBytes;
pub use options::{Extend, PoolOptions};
pub use report::{LabelReport, PoolReport, SessionReport};
pub use spec::{Lane, SessionSpec};
pub use weights::{Weight, WeightSource};

use super::transfer::drive;
use super::{DeviceError, DeviceLimits, DeviceWatch, Pipelines};
use lane::LaneState;
use ledger::{InUse, Label, Ledger, OwnedBuffer};
use parcel::{HeldParcel, HeldWeights, Store};
use slotmap::SlotMap;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::{Device, Queue};

slotmap::new_key_type! {
    /// A session of a pool. The key of one that left fails everywhere and never means another.
    pub struct SessionKey;
    /// An arena of a pool. A buffer that replaces another has another key.
    pub struct ArenaKey;
}

/// Arenas, weights and state of many sessions on one device. Copies are the same pool; all calls may come
/// from any thread.
#[derive(Debug, Clone)]
pub struct ArenaPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Held while buffers are made, so that two joins do not make the same one. Taken before `state`, and
    /// after the gate of a lane.
    growing: Arc<Gate>,
    /// Held for moments, never while waiting.
    state: Mutex<State>,
    store: Store,
    ledger: Arc<Ledger>,
}

#[derive(Debug)]
struct State {
    context: Context,
    /// The device that a rebuild is moving to.
    arriving: Option<Device>,
    options: PoolOptions,
    lanes: BTreeMap<Lane, LaneState>,
    sessions: SlotMap<SessionKey, Entry>,
    arenas: SlotMap<ArenaKey, Label>,
    /// How often the buffers of some lane changed.
    changes: u64,
}

/// A device as it is now.
#[derive(Debug, Clone)]
struct Context {
    device: Device,
    queue: Queue,
    watch: DeviceWatch,
    limits: DeviceLimits,
    /// Of the networks in the pool.
    pipelines: Arc<Pipelines>,
    ledger: Arc<Ledger>,
    /// How many devices there were before.
    epoch: u64,
}

/// A session that is in the pool.
#[derive(Debug)]
struct Entry {
    spec: Arc<SessionSpec>,
    /// Bytes of each arena.
    need: Vec<u64>,
    own: Arc<Own>,
    runs: u64,
}

/// What a session binds beside its lane.
#[derive(Debug)]
struct Own {
    state: Vec<OwnedBuffer>,
    weights: HeldWeights,
    _used: Vec<InUse>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Context {
    fn new(device: &Device, queue: &Queue, watch: &DeviceWatch, ledger: &Arc<Ledger>, epoch: u64) -> Self {
        Context {
            device: device.clone(),
            queue: queue.clone(),
            watch: watch.clone(),
            limits: DeviceLimits::new(&device.limits()),
            pipelines: Arc::new(Pipelines::shared(device)),
            ledger: ledger.clone(),
            epoch,
        }
    }

    fn check(&self) -> Result<(), DeviceError> {
        self.watch.check(&self.device)
    }
}

impl ArenaPool {
    /// An empty pool on the caller's device. `watch` tells it when the device is lost: one that was
    /// [installed](DeviceWatch::install), or one that the caller's own callback tells.
    pub fn new(device: &Device, queue: &Queue, watch: &DeviceWatch, options: PoolOptions) -> Self {
        let ledger = Arc::new(Ledger::default());
        let context = Context::new(device, queue, watch, &ledger, 0);
        let (lanes, sessions, arenas) = (BTreeMap::new(), SlotMap::with_key(), SlotMap::with_key());
        let state = State { context, arriving: None, options, lanes, sessions, arenas, changes: 0 };
        let (growing, store) = (Arc::default(), Store::default());
        ArenaPool(Arc::new(Shared { growing, state: Mutex::new(state), store, ledger }))
    }

    /// Ends a session now, whoever holds its [`Session`]. A run that holds a lease finishes in peace.
    ///
    /// # Errors
    /// The session is gone already.
    pub fn leave(&self, session: SessionKey) -> Result<(), DeviceError> {
        // What leaves is dropped after the lock: destroying buffers takes its time.
        let (_entry, _arenas) = {
            let mut state = self.state();
            let entry = state.sessions.remove(session).ok_or_else(gone)?;
            let arenas = state.settle(entry.spec.lane, &self.0.ledger);
            (entry, arenas)
        };
        Ok(())
    }

    /// Gives the arenas of all lanes back to the device; sessions stay, with their state and weights. A lane
    /// comes back with the next lease, in the size it then needs; a leased one goes when its lease ends.
    /// Returns the bytes of the arenas. Memory of work in flight returns when that has ended and the device
    /// was polled.
    pub fn trim(&self) -> u64 {
        let dropped: Vec<_> = {
            let mut state = self.state();
            let lanes: Vec<Lane> = state.lanes.keys().copied().collect();
            lanes.into_iter().filter_map(|lane| state.retire(lane)).collect()
        };
        dropped.iter().map(|arenas| arenas.bytes()).sum()
    }

    /// Sets what joining may lead to, bytes of arenas, weights and state together. Sessions that are there
    /// already stay, whatever they take.
    pub fn budget(&self, bytes: u64) {
        self.state().options.budget_bytes = bytes;
    }

    /// Whether a session is in the pool.
    pub fn contains(&self, session: SessionKey) -> bool {
        self.state().sessions.contains_key(session)
    }

    /// Whether an arena is still the one that leases hand out.
    pub fn contains_arena(&self, arena: ArenaKey) -> bool {
        self.state().arenas.contains_key(arena)
    }

    /// The device as it is now: after [`ArenaPool::rebuild`], another one.
    pub fn device(&self) -> Device {
        self.state().context.device.clone()
    }

    /// Limits of that device.
    pub fn limits(&self) -> DeviceLimits {
        self.state().context.limits
    }

    /// What an error really means: where the device is lost, that. For what an engine does with the pool's
    /// buffers itself.
    pub fn explain(&self, error: DeviceError) -> DeviceError {
        let context = self.context();
        context.watch.explain(&context.device, error)
    }

    /// Runs a future to its end like [`super::block_on`], on whichever device the pool has at the time: for
    /// threads that go on while another one rebuilds.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        drive(future, || {
            let state = self.state();
            state.arriving.iter().chain([&state.context.device]).cloned().collect()
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }

    fn context(&self) -> Context {
        self.state().context.clone()
    }
}

fn gone() -> DeviceError {
    DeviceError::Gone { what: "the session".to_owned(), reason: "it left the pool" }
}
