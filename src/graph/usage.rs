//! Liveness: the graph's intermediate tensors as a planning problem.

use super::{Graph, GraphError, ValueId};
use crate::plan::{Alignment, Problem, TensorId};

/// The planning problem of a graph, and which value each tensor usage record speaks of.
///
/// Not in it: graph inputs and outputs (they have buffers of their own), constants, and values of no element.
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
/// both included. A value nobody reads lives in the step that writes it.
///
/// # Errors
/// A size overflows, naming the tensor.
pub fn usage(graph: &Graph, alignment: Alignment) -> Result<Usage, GraphError> {
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
    for id in &graph.outputs {
        span[id.index()] = None;
    }
    let mut problem = Problem::new(alignment);
    let mut tensors = vec![None; graph.values.len()];
    let mut values = Vec::new();
    // In order of first use, as the published records are.
    for id in graph.nodes.iter().flat_map(|n| &n.outputs) {
        let value = graph.get(*id);
        if let Some((first, last)) = span[id.index()].filter(|_| !value.is_empty()) {
            tensors[id.index()] =
                Some(problem.tensor(value.name.clone(), value.size_bytes(), first..=last)?);
            values.push(*id);
        }
    }
    Ok(Usage { problem, tensors, values })
}
