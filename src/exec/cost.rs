//! What a layout costs beside its peak: bindings, and dispatches that must wait.

use super::{Bound, BufferKey};
use std::collections::BTreeMap;

/// Counts over all dispatches of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BindingCost {
    /// Storage bindings, merged ones once.
    pub bindings: usize,
    /// Of those, bound read-only.
    pub read_only: usize,
    /// Dispatches with at least one merged binding.
    pub merged: usize,
    /// Different pipelines (kernel and partition of its bindings).
    pub pipelines: usize,
    /// Dispatches that wgpu puts a barrier before.
    pub barriers: usize,
}

/// Counts what a sequence of dispatches binds, and where wgpu makes it wait: a buffer that was written, or
/// is about to be, is a barrier over the whole buffer; only reading after reading is free. The first use of
/// a buffer in a run has nothing to wait for.
pub fn binding_cost(bound: &[Bound]) -> BindingCost {
    let mut cost = BindingCost::default();
    let mut pipelines = std::collections::BTreeSet::new();
    let mut written: BTreeMap<BufferKey, bool> = BTreeMap::new();
    for one in bound {
        let survivors: Vec<usize> = one.partition.survivors().collect();
        cost.bindings += survivors.len();
        cost.read_only += survivors.iter().filter(|i| !one.partition.writable[**i]).count();
        cost.merged += usize::from(survivors.len() < one.buffers.len());
        pipelines.insert((one.kernel, one.partition.clone()));
        let mut now: BTreeMap<BufferKey, bool> = BTreeMap::new();
        for (key, writable) in one.buffers.iter().zip(&one.partition.writable) {
            *now.entry(*key).or_default() |= writable;
        }
        let waits = now.iter().any(|(key, writes)| written.get(key).is_some_and(|wrote| *wrote || *writes));
        cost.barriers += usize::from(waits);
        written.extend(now);
    }
    cost.pipelines = pipelines.len();
    cost
}
