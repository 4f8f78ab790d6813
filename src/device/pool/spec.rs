//! What a session brings when it joins.

use super::weights::Weight;
use crate::device::required::{Required, required};
use crate::device::{DeviceError, DeviceLimits};
use crate::plan::{Plan, Problem, TensorId, bound};
use wgpu::BufferUsages;

/// A set of arenas in a pool. Sessions in one lane share its bytes and take turns; sessions in different
/// lanes share none and need not wait for each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane(pub u32);

/// One session: a planned problem, its lane, its state and its weights.
#[derive(Debug)]
pub struct SessionSpec {
    pub(super) label: String,
    pub(super) problem: Problem,
    pub(super) plan: Plan,
    pub(super) lane: Lane,
    pub(super) state: Vec<StateSpec>,
    pub(super) weights: Vec<Weight>,
    segments: bool,
}

#[derive(Debug)]
pub(super) struct StateSpec {
    pub(super) label: String,
    pub(super) bytes: u64,
    pub(super) usage: BufferUsages,
}

impl SessionSpec {
    /// A session whose tensors lie as `plan` says, in [`Lane`] 0, without state or weights. The label is for
    /// reports and errors.
    pub fn new(label: impl Into<String>, problem: &Problem, plan: &Plan) -> Self {
        SessionSpec {
            label: label.into(),
            problem: problem.clone(),
            plan: plan.clone(),
            lane: Lane::default(),
            state: Vec::new(),
            weights: Vec::new(),
            segments: false,
        }
    }

    /// Another lane. Lanes are made when they are first named.
    pub fn lane(mut self, lane: Lane) -> Self {
        self.lane = lane;
        self
    }

    /// A buffer of the session's own that lives across runs and that no other session touches: a cache,
    /// running statistics, inputs, outputs. It starts with zeros. The number of state buffers so far is its
    /// index in [`super::Lease::state`].
    pub fn state(self, label: impl Into<String>, bytes: u64) -> Self {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        self.state_for(label, bytes, usage)
    }

    /// The same for other uses than storage and copies.
    pub fn state_for(mut self, label: impl Into<String>, bytes: u64, usage: BufferUsages) -> Self {
        self.state.push(StateSpec { label: label.into(), bytes, usage });
        self
    }

    /// A weight. The number of weights so far is its index in [`super::Lease::weight`].
    pub fn weight(mut self, weight: Weight) -> Self {
        self.weights.push(weight);
        self
    }

    /// For kernels that bind tensors in segments or from a base offset: neither their size nor their
    /// alignment is asked of the device.
    pub(crate) fn in_segments(mut self) -> Self {
        self.segments = true;
        self
    }

    /// Bytes of each arena; everything that can be refused without allocating is.
    pub(super) fn required(&self, limits: &DeviceLimits) -> Result<Required, DeviceError> {
        if self.segments {
            self.plan.validate(&self.problem)?;
            return Required::arenas_of(&self.plan, limits);
        }
        required(&self.problem, &self.plan, limits)
    }

    pub(super) fn size_bytes(&self, tensor: TensorId) -> u64 {
        self.problem.get(tensor).map_or(0, |t| t.size_bytes())
    }

    /// The largest tensors at the step with the highest load.
    pub(super) fn largest(&self) -> String {
        let live = bound::peak(&self.problem).map(|(_, live)| live).unwrap_or_default();
        let text = |id: &TensorId| {
            let tensor = &self.problem.tensors()[id.index()];
            format!("'{}' {}", tensor.label(), tensor.size_bytes())
        };
        let named: Vec<String> = live.iter().take(3).map(text).collect();
        if named.is_empty() { "no tensor".to_owned() } else { named.join(", ") }
    }
}
