//! Liveness: the graph's intermediate tensors as a planning problem.

use super::sharing::{Kind, kinds};
use super::{Graph, GraphError, Sharing, ValueId};
use crate::plan::{Alignment, PlanError, Problem, TensorId};

/// The planning problem of a graph, and which value each tensor usage record speaks of.
///
/// Not in it: graph inputs and outputs (they have buffers of their own) with what is part of them, constants,
/// and values of no element.
#[derive(Debug, Clone)]
pub struct Usage {
    /// One tensor usage record an intermediate value; a step is a node's position in the schedule.
    pub problem: Problem,
    tensors: Vec<Option<TensorId>>,
    values: Vec<ValueId>,
}

impl Usage {
    /// The record of a value, if the planner places it.
    pub fn tensor(&self, value: ValueId) -> Option<TensorId> {
        self.tensors[value.index()]
    }

    /// The value of a record.
    pub fn value(&self, tensor: TensorId) -> ValueId {
        self.values[tensor.index()]
    }
}

/// Reads the usage intervals off the schedule: from the node that writes a value to the last that reads it,
/// both included. A value nobody reads lives in the step that writes it. Parts of another value become views
/// of its record, permissions to write in place those of the problem.
///
/// # Errors
/// A size overflows, naming the tensor.
pub fn usage(graph: &Graph, alignment: Alignment, sharing: &Sharing) -> Result<Usage, GraphError> {
    let mut span: Vec<Option<(u32, u32)>> = vec![None; graph.values.len()];
    for (step, node) in (0u32..).zip(&graph.nodes) {
        for id in &node.outputs {
            span[id.index()] = Some((step, step));
        }
        for id in &node.inputs {
            if let Some((_, last)) = &mut span[id.index()] {
                *last = step;
            }
        }
    }
    let kinds = kinds(graph);
    let mut problem = Problem::new(alignment);
    let mut tensors = vec![None; graph.values.len()];
    let mut values = Vec::new();
    // In order of first use, as the published records are.
    for id in graph.nodes.iter().flat_map(|n| &n.outputs) {
        let value = graph.get(*id);
        let in_arena = kinds[sharing.place(*id).0.index()] == Kind::Intermediate && !value.is_empty();
        if let Some((first, last)) = span[id.index()].filter(|_| in_arena) {
            tensors[id.index()] =
                Some(problem.tensor(value.name.clone(), value.size_bytes(), first..=last)?);
            values.push(*id);
        }
    }
    for part in sharing.views() {
        let (root, start_len) = sharing.place(part);
        if let (Some(view), Some(base)) = (tensors[part.index()], tensors[root.index()]) {
            problem.alias(view, base, start_len as u64 * 4)?;
        }
    }
    for (output, input) in sharing.in_place() {
        let (Some(out), Some(inp)) = (tensors[output.index()], tensors[input.index()]) else { continue };
        let dies_there = span[input.index()].map(|s| s.1) == span[output.index()].map(|s| s.0);
        if !dies_there {
            continue;
        }
        match problem.allow_in_place(out, inp) {
            // Two values that live in one step alone: one direction is enough.
            Ok(()) | Err(PlanError::InPlaceCircle { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Usage { problem, tensors, values })
}
