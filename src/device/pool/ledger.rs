//! The pool's own account of its bytes, and buffers that keep it by themselves.

use super::{Context, lock};
use crate::device::{DeviceError, ErrorScopes};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use wgpu::{Buffer, BufferDescriptor, BufferUsages};

/// Bytes now and the most there ever were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PoolBytes {
    /// What sessions need.
    pub in_use_bytes: u64,
    /// Buffers made for that; more than is needed where an option rounds up or a session left.
    pub reserved_bytes: u64,
    /// The most that was in use.
    pub in_use_high_bytes: u64,
    /// The most that was reserved. While a lane grows its old buffer and the new one count both.
    pub reserved_high_bytes: u64,
}

impl PoolBytes {
    fn change(&mut self, in_use: Change, reserved: Change) {
        self.in_use_bytes = in_use.apply(self.in_use_bytes);
        self.reserved_bytes = reserved.apply(self.reserved_bytes);
        self.in_use_high_bytes = self.in_use_high_bytes.max(self.in_use_bytes);
        self.reserved_high_bytes = self.reserved_high_bytes.max(self.reserved_bytes);
    }
}

#[derive(Clone, Copy)]
enum Change {
    Plus(u64),
    Minus(u64),
}

impl Change {
    fn apply(self, bytes: u64) -> u64 {
        match self {
            Change::Plus(more) => bytes + more,
            Change::Minus(less) => bytes - less,
        }
    }
}

/// What bytes are held for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// An arena of a lane.
    Arena { lane: u32, arena: usize },
    /// Weights of all sessions.
    Weights,
    /// What sessions keep across runs.
    State,
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Arena { lane, arena } => f.pad(&format!("lane {lane} arena {arena}")),
            Label::Weights => f.pad("weights"),
            Label::State => f.pad("state"),
        }
    }
}

/// Bytes by label, and in all.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Books>);

#[derive(Debug, Default)]
struct Books {
    labels: BTreeMap<Label, PoolBytes>,
    total: PoolBytes,
}

impl Ledger {
    fn change(&self, label: Label, in_use: Change, reserved: Change) {
        let mut books = lock(&self.0);
        books.total.change(in_use, reserved);
        books.labels.entry(label).or_default().change(in_use, reserved);
    }

    /// Sets what sessions need of a lane's arenas.
    pub(super) fn need(&self, lane: u32, need: &[u64]) {
        let mut books = lock(&self.0);
        let books = &mut *books;
        for arena in 0..need.len() {
            books.labels.entry(Label::Arena { lane, arena }).or_default();
        }
        for (label, bytes) in &mut books.labels {
            let Label::Arena { lane: of, arena } = *label else { continue };
            if of == lane {
                let (now, then) = (need.get(arena).copied().unwrap_or(0), bytes.in_use_bytes);
                let change = if now > then { Change::Plus(now - then) } else { Change::Minus(then - now) };
                bytes.change(change, Change::Plus(0));
                books.total.change(change, Change::Plus(0));
            }
        }
    }

    pub(super) fn total(&self) -> PoolBytes {
        lock(&self.0).total
    }

    pub(super) fn labels(&self) -> Vec<(Label, PoolBytes)> {
        lock(&self.0).labels.iter().map(|(label, bytes)| (*label, *bytes)).collect()
    }

    pub(super) fn of(&self, label: Label) -> PoolBytes {
        lock(&self.0).labels.get(&label).copied().unwrap_or_default()
    }
}

/// Bytes that are in use for as long as this lives.
#[derive(Debug)]
pub(super) struct InUse {
    ledger: Arc<Ledger>,
    label: Label,
    bytes: u64,
}

impl InUse {
    pub(super) fn new(ledger: &Arc<Ledger>, label: Label, bytes: u64) -> Self {
        ledger.change(label, Change::Plus(bytes), Change::Plus(0));
        InUse { ledger: ledger.clone(), label, bytes }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.ledger.change(self.label, Change::Minus(self.bytes), Change::Plus(0));
    }
}

/// A buffer that is destroyed when the last holder drops it: bind groups that still name it keep no memory
/// and cannot be used any more.
#[derive(Debug)]
pub(super) struct OwnedBuffer {
    pub(super) buffer: Buffer,
    ledger: Arc<Ledger>,
    label: Label,
}

impl OwnedBuffer {
    /// Makes a buffer, or says which of the three it is: over a limit, out of memory, device lost.
    pub(super) async fn new(
        context: &Context,
        label: Label,
        name: &str,
        bytes: u64,
        usage: BufferUsages,
    ) -> Result<Self, DeviceError> {
        context.watch.check(&context.device)?;
        let size = bytes.next_multiple_of(4).max(4);
        let available_bytes = context.limits.max_buffer_bytes;
        if size > available_bytes {
            let (what, limit) = (name.to_owned(), "max_buffer_size");
            return Err(DeviceError::OverLimit { what, needed_bytes: size, limit, available_bytes });
        }
        let scopes = ErrorScopes::open(&context.device);
        let buffer = context.device.create_buffer(&BufferDescriptor {
            label: Some(name),
            size,
            usage,
            mapped_at_creation: false,
        });
        let made = scopes.close(name, size);
        made.await.map_err(|error| context.watch.explain(&context.device, error))?;
        context.ledger.change(label, Change::Plus(0), Change::Plus(size));
        log::debug!("{name}: {size} bytes");
        Ok(OwnedBuffer { buffer, ledger: context.ledger.clone(), label })
    }
}

impl Drop for OwnedBuffer {
    fn drop(&mut self) {
        self.buffer.destroy();
        self.ledger.change(self.label, Change::Plus(0), Change::Minus(self.buffer.size()));
    }
}
