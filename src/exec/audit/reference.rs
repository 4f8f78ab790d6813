//! The run without reuse: every value of the network, kept on the host.

use super::FirstBad;
use crate::exec::machine::{Host, Machine};
use crate::exec::{BufferKey, ExecError, Place, Program};
use crate::graph::{Rows, ValueId};
use crate::plan::Plan;
use std::ops::Range;

/// Every value as the run without reuse computed it.
pub(super) struct Reference {
    /// Elements of each value by id; empty for constants.
    pub values: Vec<Vec<f32>>,
}

impl Reference {
    /// Runs without reuse, step by step, and reads each value at the step that writes it.
    pub async fn collect<H: Host>(host: &H, inputs: &[Vec<f32>]) -> Result<Self, ExecError> {
        let program = host.program();
        let plan = host.no_reuse()?;
        let mut machine = host.machine(&plan).await?;
        machine.write_inputs(inputs).await?;
        let mut values = vec![Vec::new(); program.graph.values.len()];
        for (id, data) in program.graph.inputs.iter().zip(inputs) {
            values[id.index()] = data.clone();
        }
        for (step, node) in program.graph.nodes.iter().enumerate() {
            machine.step(step).await?;
            for id in &node.outputs {
                if let Some(range) = locate(program, &plan, *id) {
                    let words = machine.read(&[range]).await?;
                    let words = elements(&words, program.graph.get(*id).len(), program.rows(*id));
                    values[id.index()] = words.into_iter().map(f32::from_bits).collect();
                }
            }
        }
        Ok(Reference { values })
    }

    /// First element at which `words` differ from the value, bit for bit.
    pub fn first_difference(&self, value: ValueId, words: &[u32]) -> Option<usize> {
        let want = &self.values[value.index()];
        if want.len() != words.len() {
            return Some(want.len().min(words.len()));
        }
        want.iter().zip(words).position(|(want, got)| want.to_bits() != *got)
    }

    /// The same of a value that lies in rows, in the words from its first to its last.
    pub fn first_difference_in_rows(&self, value: ValueId, words: &[u32], rows: Rows) -> Option<usize> {
        let len = self.values[value.index()].len();
        self.first_difference(value, &elements(words, len, Some(rows)))
    }

    /// The first graph output that differs from this run's, after `machine` has run.
    pub async fn first_bad_output<M: Machine>(
        &self,
        program: &Program,
        machine: &mut M,
    ) -> Result<Option<FirstBad>, ExecError> {
        for (i, id) in program.graph.outputs.iter().enumerate() {
            let value = program.graph.get(*id);
            if value.is_empty() {
                continue;
            }
            let words = machine.read(&[(BufferKey::Output(i), 0..value.size_bytes())]).await?;
            if self.first_difference(*id, &words).is_some() {
                let step =
                    program.graph.nodes.iter().position(|n| n.outputs.contains(id)).unwrap_or_default();
                let node = program.graph.nodes[step].name.clone();
                return Ok(Some(FirstBad { step, node, tensor: value.name.clone(), neighbour: None }));
            }
        }
        Ok(None)
    }
}

/// The elements of a value, out of the words from its first to its last.
fn elements(words: &[u32], len: usize, rows: Option<Rows>) -> Vec<u32> {
    match rows {
        None => words.to_vec(),
        Some(rows) => (0..len).map(|i| words[rows.place(i)]).collect(),
    }
}

/// Where a run-time value's bytes are, from its first to its last, or `None` where it has none.
pub(super) fn locate(program: &Program, plan: &Plan, value: ValueId) -> Option<(BufferKey, Range<u64>)> {
    let size = program.span_len(value) as u64 * 4;
    let at = |key, start: u64| (size > 0).then_some((key, start..start + size));
    match program.place(plan, value) {
        Place::Arena { arena, offset_bytes } => at(BufferKey::Arena(arena), offset_bytes),
        Place::Input { input, offset_bytes } => at(BufferKey::Input(input), offset_bytes),
        Place::Output { output, offset_bytes } => at(BufferKey::Output(output), offset_bytes),
        Place::Constant | Place::Nowhere => None,
    }
}
