//! A session's turn in its lane, and what it may bind meanwhile.

use super::gate::Turn;
use super::lane::LaneArenas;
use super::{ArenaKey, ArenaPool, Context, Own, SessionKey, SessionSpec, gone};
use crate::device::{DeviceError, Pipelines, View};
use crate::plan::TensorId;
use std::ops::Range;
use std::sync::Arc;
use wgpu::{BindGroupEntry, Buffer, Device, Queue};

/// A session that joined; it leaves when this is dropped.
#[derive(Debug)]
pub struct Session {
    pool: ArenaPool,
    key: SessionKey,
}

impl Session {
    pub(super) fn new(pool: &ArenaPool, key: SessionKey) -> Self {
        Session { pool: pool.clone(), key }
    }

    /// Its key.
    pub fn key(&self) -> SessionKey {
        self.key
    }

    /// Its pool.
    pub fn pool(&self) -> &ArenaPool {
        &self.pool
    }

    /// See [`ArenaPool::lease`].
    ///
    /// # Errors
    /// Those of [`ArenaPool::lease`].
    pub async fn lease(&self) -> Result<Lease, DeviceError> {
        self.pool.lease(self.key).await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Err(error) = self.pool.leave(self.key) {
            log::debug!("{error}");
        }
    }
}

/// Which buffers a lease shows: bind groups made under an equal generation are good, others are to be made
/// anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation {
    epoch: u64,
    change: u64,
}

impl Generation {
    /// Whether both are on one device: pipelines and other objects of an engine's own live that long.
    pub fn same_device(self, other: Generation) -> bool {
        self.epoch == other.epoch
    }
}

/// One tensor of one session: keys and a range. It may be kept for as long as one likes; a lease tells
/// whether it still holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolView {
    /// Whose tensor.
    pub session: SessionKey,
    /// The arena it lies in.
    pub arena: ArenaKey,
    /// Its bytes there.
    pub bytes: Range<u64>,
}

/// A session's turn: nobody else in its lane records or submits until this is dropped. Hold it from the first
/// command that touches an arena to the last submission of the run; the device need not have executed
/// anything by then, since it executes submissions in their order. What the run leaves in the arenas is
/// anybody's afterwards: results leave by copies within the run.
///
/// The buffers it shows live at least as long, whatever joins, leaves or is trimmed.
#[derive(Debug)]
pub struct Lease {
    pool: ArenaPool,
    session: SessionKey,
    spec: Arc<SessionSpec>,
    own: Arc<Own>,
    arenas: Arc<LaneArenas>,
    context: Context,
    _turn: Turn,
}

impl ArenaPool {
    /// Waits for a session's turn in its lane, first come first served. Makes the lane's arenas where they
    /// were trimmed. Do not ask for a second lease in a lane while holding one: it would wait for itself.
    ///
    /// # Errors
    /// The session left, the device is lost, or there is no memory for arenas that were trimmed.
    pub async fn lease(&self, session: SessionKey) -> Result<Lease, DeviceError> {
        let (lane, gate) = {
            let mut state = self.state();
            let lane = state.sessions.get(session).ok_or_else(gone)?.spec.lane;
            (lane, state.lanes.entry(lane).or_default().gate.clone())
        };
        let turn = gate.enter().await;
        loop {
            let context = self.context();
            context.check()?;
            let need = self.state().sessions.get(session).ok_or_else(gone)?.need.clone();
            let arenas = self.arenas(lane, &need).await?;
            let mut state = self.state();
            // Another trim, growth or device since: once more.
            let current = state.lanes.get(&lane).and_then(|l| l.arenas.as_ref());
            if !current.is_some_and(|current| Arc::ptr_eq(current, &arenas)) {
                continue;
            }
            let context = state.context.clone();
            let entry = state.sessions.get_mut(session).ok_or_else(gone)?;
            entry.runs += 1;
            let (spec, own) = (entry.spec.clone(), entry.own.clone());
            return Ok(Lease { pool: self.clone(), session, spec, own, arenas, context, _turn: turn });
        }
    }
}

impl Lease {
    /// What bind groups have to match.
    pub fn generation(&self) -> Generation {
        Generation { epoch: self.context.epoch, change: self.arenas.change }
    }

    /// The device that all of this is on.
    pub fn device(&self) -> &Device {
        &self.context.device
    }

    /// Its queue; submit to no other.
    pub fn queue(&self) -> &Queue {
        &self.context.queue
    }

    /// The view of a tensor, or `None` where it has no bytes.
    pub fn view(&self, tensor: TensorId) -> Option<PoolView> {
        let (arena, start) = self.spec.plan.place(tensor)?;
        let size = self.spec.size_bytes(tensor);
        let arena = self.arenas.each.get(arena.index())?.key;
        let bytes = start..(start + size).next_multiple_of(4);
        (size > 0).then_some(PoolView { session: self.session, arena, bytes })
    }

    /// The buffer and range of a view.
    ///
    /// # Errors
    /// The view is another session's, or its arena was replaced since.
    pub fn resolve(&self, view: &PoolView) -> Result<View<'_>, DeviceError> {
        let gone = |reason| DeviceError::Gone { what: "the view".to_owned(), reason };
        if view.session != self.session {
            return Err(gone("it is another session's, or of one that left"));
        }
        let arena = self.arenas.each.iter().find(|arena| arena.key == view.arena);
        let arena = arena.ok_or_else(|| gone("its arena was replaced; this lease has a new view"))?;
        Ok(View { buffer: &arena.owned.buffer, bytes: view.bytes.clone() })
    }

    /// A view as an entry of a bind group, exactly as long as the tensor; see [`View::bind_entry`].
    ///
    /// # Errors
    /// Those of [`Lease::resolve`].
    pub fn bind_entry(&self, view: &PoolView, binding: u32) -> Result<BindGroupEntry<'_>, DeviceError> {
        Ok(self.resolve(view)?.bind_entry(binding))
    }

    /// The buffers of the lane; the session's arenas are the first of them, in its plan's order.
    pub fn arenas(&self) -> impl ExactSizeIterator<Item = &Buffer> {
        self.arenas.each.iter().map(|arena| &arena.owned.buffer)
    }

    /// A state buffer of the session, or `None` where it brought fewer.
    pub fn state(&self, index: usize) -> Option<&Buffer> {
        self.own.state.get(index).map(|owned| &owned.buffer)
    }

    /// A weight of the session, or `None` where it brought fewer. Bind it read-only: others read it too.
    pub fn weight(&self, index: usize) -> Option<View<'_>> {
        self.own.weights.view(index)
    }
}

impl Lease {
    /// Pipelines that all networks of the pool share.
    pub(crate) fn pipelines(&self) -> &Pipelines {
        &self.context.pipelines
    }

    /// Ends the turn after the last submission of a run. The state buffers stay for as long as what this
    /// returns: for results that are still being read out of them.
    pub fn end_turn(self) -> StateGuard {
        StateGuard { _own: self.own.clone() }
    }
}

/// Keeps a session's state buffers, whatever becomes of the session.
#[derive(Debug)]
pub struct StateGuard {
    _own: Arc<Own>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _arenas = {
            let mut state = self.pool.state();
            let lane = self.spec.lane;
            let current = state.lanes.get(&lane).and_then(|l| l.arenas.as_ref());
            let mine = current.is_some_and(|current| Arc::ptr_eq(current, &self.arenas));
            (mine && state.options.shrink_after_run).then(|| state.retire(lane))
        };
    }
}
