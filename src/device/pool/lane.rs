//! Lanes: buffers that sessions share in turns, sized to the largest.

use super::ledger::{Label, Ledger, OwnedBuffer};
use super::{ArenaKey, ArenaPool, Context, Gate, Lane, PoolOptions, State};
use crate::device::DeviceError;
use std::sync::Arc;
use wgpu::BufferUsages;

/// A lane. Its arenas are away after a trim, until the next lease.
#[derive(Debug, Default)]
pub(super) struct LaneState {
    /// Whose turn it is.
    pub(super) gate: Arc<Gate>,
    pub(super) arenas: Option<Arc<LaneArenas>>,
}

/// Buffers of a lane; never changed, only replaced. The last holder (the lane, or a lease) destroys them.
#[derive(Debug)]
pub(super) struct LaneArenas {
    pub(super) each: Vec<LaneArena>,
    /// Which change of the pool made this set.
    pub(super) change: u64,
}

/// One buffer of a lane.
#[derive(Debug, Clone)]
pub(super) struct LaneArena {
    pub(super) key: ArenaKey,
    pub(super) owned: Arc<OwnedBuffer>,
}

impl LaneArenas {
    pub(super) fn bytes(&self) -> u64 {
        self.each.iter().map(|arena| arena.owned.buffer.size()).sum()
    }

    fn fits(&self, need: &[u64]) -> bool {
        need.len() <= self.each.len() && self.each.iter().zip(need).all(|(a, n)| a.owned.buffer.size() >= *n)
    }
}

impl State {
    /// Bytes that each arena of a lane must have, the sessions in it taken together.
    pub(super) fn need(&self, lane: Lane) -> Vec<u64> {
        let mut most: Vec<u64> = Vec::new();
        for entry in self.sessions.values().filter(|entry| entry.spec.lane == lane) {
            raise(&mut most, &entry.need);
        }
        most
    }

    /// Takes a lane's arenas away; whoever holds a lease on them goes on.
    pub(super) fn retire(&mut self, lane: Lane) -> Option<Arc<LaneArenas>> {
        let arenas = self.lanes.get_mut(&lane)?.arenas.take()?;
        for arena in &arenas.each {
            self.arenas.remove(arena.key);
        }
        Some(arenas)
    }

    /// After a session left: writes down what the lane needs now, and takes its arenas away where too much of
    /// them serves nobody.
    pub(super) fn settle(&mut self, lane: Lane, ledger: &Ledger) -> Option<Arc<LaneArenas>> {
        let need = self.need(lane);
        ledger.need(lane.0, &need);
        let wanted = sizes(&need, &self.options, &self.context).map(|s| s.iter().sum()).unwrap_or(0u64);
        let held_bytes = self.lanes.get(&lane)?.arenas.as_ref()?.bytes();
        if held_bytes.saturating_sub(wanted) > self.options.max_dead_bytes {
            return self.retire(lane);
        }
        None
    }

    /// Makes a set of arenas the lane's own, and returns it with the one before, which is better dropped
    /// after the lock.
    pub(super) fn install(
        &mut self,
        lane: Lane,
        made: Made,
        ledger: &Ledger,
    ) -> (Arc<LaneArenas>, Option<Arc<LaneArenas>>) {
        self.changes += 1;
        let old = self.lanes.entry(lane).or_default().arenas.take();
        let mut each = Vec::with_capacity(made.each.len());
        for (arena, made) in made.each.into_iter().enumerate() {
            let (key, owned) = match made {
                MadeArena::Kept(kept) => (Some(kept.key), kept.owned),
                MadeArena::New(owned) => (None, Arc::new(owned)),
            };
            // One that was kept may have been trimmed meanwhile; then its key is spent.
            let key = key.filter(|key| self.arenas.contains_key(*key));
            let key = key.unwrap_or_else(|| self.arenas.insert(Label::Arena { lane: lane.0, arena }));
            each.push(LaneArena { key, owned });
        }
        for gone in old.iter().flat_map(|o| &o.each).filter(|a| each.iter().all(|e| e.key != a.key)) {
            self.arenas.remove(gone.key);
        }
        ledger.need(lane.0, &self.need(lane));
        let arenas = Arc::new(LaneArenas { each, change: self.changes });
        self.lanes.entry(lane).or_default().arenas = Some(arenas.clone());
        (arenas, old)
    }
}

/// Buffers made for a lane, not yet its own.
#[derive(Debug)]
pub(super) struct Made {
    each: Vec<MadeArena>,
}

#[derive(Debug)]
enum MadeArena {
    Kept(LaneArena),
    New(OwnedBuffer),
}

impl Made {
    /// Makes what is larger than what is there; the rest is kept.
    pub(super) async fn new(
        context: &Context,
        lane: Lane,
        sizes: &[u64],
        held: Option<&LaneArenas>,
    ) -> Result<Self, DeviceError> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let count = sizes.len().max(held.map_or(0, |h| h.each.len()));
        let mut each = Vec::with_capacity(count);
        for arena in 0..count {
            let bytes = sizes.get(arena).copied().unwrap_or(0);
            let kept = held.and_then(|h| h.each.get(arena)).filter(|a| a.owned.buffer.size() >= bytes);
            each.push(match kept {
                Some(kept) => MadeArena::Kept(kept.clone()),
                None => {
                    let label = Label::Arena { lane: lane.0, arena };
                    let name = format!("sublet pool {label}");
                    MadeArena::New(OwnedBuffer::new(context, label, &name, bytes, usage).await?)
                }
            });
        }
        Ok(Made { each })
    }
}

/// Sizes of a lane's buffers for what is needed of them.
pub(super) fn sizes(need: &[u64], options: &PoolOptions, context: &Context) -> Result<Vec<u64>, DeviceError> {
    let max_buffer_bytes = context.limits.max_buffer_bytes;
    let size = |(arena, bytes): (usize, &u64)| options.size_bytes(arena, *bytes, max_buffer_bytes);
    need.iter().enumerate().map(size).collect()
}

/// The larger of two needs, arena by arena.
pub(super) fn raise(most: &mut Vec<u64>, need: &[u64]) {
    most.resize(most.len().max(need.len()), 0);
    for (most, need) in most.iter_mut().zip(need) {
        *most = (*most).max(*need);
    }
}

impl ArenaPool {
    /// The arenas of a lane, made where they are away or too small for `need`.
    pub(super) async fn arenas(&self, lane: Lane, need: &[u64]) -> Result<Arc<LaneArenas>, DeviceError> {
        let there = |state: &State| {
            let arenas = state.lanes.get(&lane).and_then(|l| l.arenas.clone());
            arenas.filter(|arenas| arenas.fits(need))
        };
        if let Some(arenas) = there(&self.state()) {
            return Ok(arenas);
        }
        let _turn = self.0.growing.enter().await;
        let (context, sizes, held) = {
            let state = self.state();
            if let Some(arenas) = there(&state) {
                return Ok(arenas);
            }
            let held = state.lanes.get(&lane).and_then(|l| l.arenas.clone());
            (state.context.clone(), sizes(&state.need(lane), &state.options, &state.context)?, held)
        };
        let made = Made::new(&context, lane, &sizes, held.as_deref()).await?;
        let (arenas, _old) = self.state().install(lane, made, &self.0.ledger);
        Ok(arenas)
    }
}
