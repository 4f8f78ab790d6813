//! From a program and a plan to what each dispatch binds: pure arithmetic, checked against WebGPU's rules
//! before any device is involved.

use super::{ExecError, Layout, Place, Program, WeightMap};
use crate::kernel::{Dispatch, KernelId, Operand};
use crate::legal::{
    Access, BindingLimits, BoundRange, Partition, Violation, Wanted, Window, WindowLimits, check, windows,
};
use crate::plan::Plan;
use std::ops::Range;

/// One of the buffers that dispatches bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BufferKey {
    /// An arena.
    Arena(usize),
    /// The buffer of a graph input.
    Input(usize),
    /// The buffer of a graph output.
    Output(usize),
    /// A weights buffer.
    Weights(usize),
    /// Four zeros, bound where an optional input is absent.
    Zeros,
}

/// A dispatch with its bindings resolved.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Its step.
    pub step: usize,
    /// Node and kernel, for messages.
    pub label: String,
    /// The kernel.
    pub kernel: KernelId,
    /// Which bindings were merged, and which are writable.
    pub partition: Partition,
    /// Buffer of each storage binding (inputs, then output).
    pub buffers: Vec<BufferKey>,
    /// Window of each storage binding; merged ones share theirs.
    pub windows: Vec<Window>,
    /// Whether the output's elements lie in rows of a larger tensor; see [`Dispatch::rows`].
    pub in_rows: bool,
    /// Parameter block with the base offsets filled in.
    pub params: Vec<u32>,
    /// Workgroups in x, y, z.
    pub workgroups: [u32; 3],
    tensors: Vec<String>,
    buffer_bytes: Vec<u64>,
}

/// Resolves every dispatch of a program under a plan. Ask [`lawful`] before handing the result to a device.
///
/// # Errors
/// The plan is another problem's or puts a tensor outside its arenas, or the weights are another program's.
/// Tensors that overlap are no error here: that is the judge's to say.
pub fn bind(
    program: &Program,
    plan: &Plan,
    weights: &WeightMap,
    limits: &BindingLimits,
) -> Result<Vec<Bound>, ExecError> {
    plan.check_arenas(&program.usage.problem)?;
    let steps = program.steps.iter().enumerate();
    let all = steps.flat_map(|(step, dispatches)| dispatches.iter().map(move |dispatch| (step, dispatch)));
    all.map(|(step, dispatch)| bind_one(program, plan, weights, limits, step, dispatch)).collect()
}

/// Refuses the first dispatch that breaks a rule which no merging can mend (say, more bindings than there
/// are slots).
///
/// # Errors
/// Names the dispatch, the rule, the tensors and their ranges.
pub fn lawful(bound: &[Bound], limits: &BindingLimits) -> Result<(), ExecError> {
    match bound.iter().flat_map(|b| b.violations(limits)).next() {
        Some(violation) => Err(ExecError::Unlawful(Box::new(violation))),
        None => Ok(()),
    }
}

fn bind_one(
    program: &Program,
    plan: &Plan,
    weights: &WeightMap,
    limits: &BindingLimits,
    step: usize,
    dispatch: &Dispatch,
) -> Result<Bound, ExecError> {
    let operands = dispatch.inputs.iter().chain([&dispatch.output]);
    let places: Vec<(BufferKey, Range<u64>)> =
        operands.clone().map(|o| locate(program, plan, weights, *o)).collect::<Result<_, _>>()?;
    let mut keys: Vec<BufferKey> = places.iter().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    keys.dedup();
    let number = |key: &BufferKey| keys.binary_search(key).unwrap_or(keys.len());
    // A buffer may not be read-only and writable in one dispatch: what shares the output's buffer is
    // writable too.
    let output = places.last().map(|(key, _)| *key);
    let want = |(key, bytes): &(BufferKey, Range<u64>)| Wanted {
        buffer: number(key),
        bytes: bytes.clone(),
        window: window(program, plan, *key, bytes),
        writable: Some(*key) == output,
    };
    let wanted: Vec<_> = places.iter().map(want).collect();
    let (partition, windows) = windows(
        &wanted,
        &WindowLimits {
            alignment_bytes: limits.storage_alignment_bytes,
            max_window_bytes: limits.max_storage_binding_bytes,
            max_windows: limits.max_storage_bindings,
        },
    );
    let mut params = dispatch.params.clone();
    for (word, window) in params.iter_mut().zip(&windows) {
        *word = window.base_len;
    }
    let name = |operand: &Operand| match operand {
        Operand::Value { value, .. } => program.graph.get(*value).name.clone(),
        Operand::Absent => "(absent)".to_owned(),
    };
    Ok(Bound {
        step,
        label: format!("{} ({})", program.graph.nodes[step].name, dispatch.kernel.kernel().name),
        kernel: dispatch.kernel,
        partition,
        windows,
        in_rows: dispatch.rows.is_some(),
        params,
        workgroups: dispatch.workgroups,
        tensors: operands.map(name).collect(),
        buffer_bytes: places.iter().map(|(key, _)| buffer_bytes(program, plan, weights, *key)).collect(),
        buffers: places.into_iter().map(|(key, _)| key).collect(),
    })
}

/// What is bound at least for bytes of a buffer: the bytes, or in the packed layout the whole arena.
fn window(program: &Program, plan: &Plan, key: BufferKey, bytes: &Range<u64>) -> Range<u64> {
    match key {
        BufferKey::Arena(arena) if program.layout == Layout::Packed => {
            0..plan.arenas()[arena].next_multiple_of(4)
        }
        _ => bytes.clone(),
    }
}

/// The bytes an operand shows.
fn locate(
    program: &Program,
    plan: &Plan,
    weights: &WeightMap,
    operand: Operand,
) -> Result<(BufferKey, Range<u64>), ExecError> {
    let Operand::Value { value, start_len, len } = operand else { return Ok((BufferKey::Zeros, 0..16)) };
    let bytes = |base: u64| base + start_len as u64 * 4..base + (start_len + len) as u64 * 4;
    Ok(match program.place(plan, value) {
        Place::Arena { arena, offset_bytes } => (BufferKey::Arena(arena), bytes(offset_bytes)),
        Place::Input { input, offset_bytes } => (BufferKey::Input(input), bytes(offset_bytes)),
        Place::Output { output, offset_bytes } => (BufferKey::Output(output), bytes(offset_bytes)),
        Place::Constant => {
            let Some(piece) = weights.find(value, start_len, len) else {
                let tensor = program.graph.get(value).name.clone();
                return Err(ExecError::NoWeight { tensor, start_len, len });
            };
            (BufferKey::Weights(piece.buffer), piece.offset_bytes..piece.offset_bytes + piece.len as u64 * 4)
        }
        Place::Nowhere => unreachable!("lowering binds no value without elements"),
    })
}

/// Bytes of a buffer, before the device rounds them up.
fn buffer_bytes(program: &Program, plan: &Plan, weights: &WeightMap, key: BufferKey) -> u64 {
    let size = |list: &[crate::graph::ValueId], i: usize| program.graph.get(list[i]).size_bytes();
    match key {
        BufferKey::Arena(i) => plan.arenas()[i].next_multiple_of(4),
        BufferKey::Input(i) => size(&program.graph.inputs, i),
        BufferKey::Output(i) => size(&program.graph.outputs, i),
        BufferKey::Weights(i) => weights.buffers[i],
        BufferKey::Zeros => 16,
    }
}

impl Bound {
    /// What is bound in the end, merged bindings once.
    pub fn ranges(&self) -> Vec<BoundRange> {
        let mut keys = self.buffers.clone();
        keys.sort_unstable();
        keys.dedup();
        let survivors = self.partition.survivors();
        let range = |i: usize| BoundRange {
            buffer: keys.iter().position(|k| *k == self.buffers[i]).unwrap_or_default(),
            bytes: self.windows[i].bytes.clone(),
            buffer_bytes: Some(self.buffer_bytes[i]),
            access: if self.partition.writable[i] { Access::ReadWrite } else { Access::Read },
            tensor: self.tensors[i].clone(),
        };
        survivors.map(range).collect()
    }

    /// Rules of WebGPU that the dispatch breaks.
    pub fn violations(&self, limits: &BindingLimits) -> Vec<Violation> {
        check(&self.label, &self.ranges(), self.workgroups, limits)
    }
}
