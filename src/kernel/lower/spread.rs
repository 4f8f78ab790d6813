//! Dispatches whose output lies in rows of a larger tensor.

use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, Rows};
use crate::kernel::{Dispatch, KernelId, Operand};

/// Kernels that read what stands in their output, whoever wrote it: their stores would land elsewhere.
pub(super) fn reads_output(dispatch: &Dispatch, dispatches: usize) -> bool {
    match dispatch.kernel {
        // They add to it where a product is computed in several dispatches.
        KernelId::Matmul | KernelId::Matvec => dispatches > 1,
        KernelId::Softmax | KernelId::ScatterNd | KernelId::ScatterElements => true,
        _ => false,
    }
}

/// Lets dispatches that write a whole output write it in those rows.
pub(super) fn spread(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
    rows: Option<Rows>,
    mut dispatches: Vec<Dispatch>,
) -> Result<Vec<Dispatch>, LowerError> {
    let Some(rows) = rows else { return Ok(dispatches) };
    let count = dispatches.len();
    for dispatch in &mut dispatches {
        let Operand::Value { value, start_len: 0, len } = dispatch.output else {
            return Err(unsupported(node, "writes its output in parts"));
        };
        if len != graph.get(value).len() || dispatch.inputs.contains(&dispatch.output) {
            return Err(unsupported(node, "writes its output in parts"));
        }
        if reads_output(dispatch, count) {
            return Err(unsupported(node, "reads what it has written"));
        }
        let span = rows.span(len);
        if span as u64 * 4 > limits.max_binding_bytes || span > i32::MAX as usize {
            return Err(unsupported(node, "rows reach further than one binding"));
        }
        dispatch.output = Operand::Value { value, start_len: 0, len: span };
        dispatch.params.extend([rows.len as u32, rows.stride as u32, 0, 0]);
        dispatch.rows = Some(rows);
        dispatch.fills_output = false;
    }
    Ok(dispatches)
}

fn unsupported(node: &Node, what: &str) -> LowerError {
    LowerError::Unsupported { node: node.name.clone(), op: node.op.name(), what: what.to_owned() }
}
