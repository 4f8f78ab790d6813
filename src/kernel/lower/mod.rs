//! From a node of a graph to dispatches.

mod conv;
mod grid;
mod matmul;
mod pool;

use super::Dispatch;
use crate::graph::{Graph, Node, Op};
use conv::lower_conv;
use matmul::lower_matmul;
use pool::lower_pool;

/// What a device allows one dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LowerLimits {
    /// Largest storage binding in bytes; constant operands over it are bound in row segments.
    pub max_binding_bytes: u64,
    /// Largest workgroup count in one dimension.
    pub max_workgroups: u32,
}

/// A node that no kernel computes.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// No kernel handles these shapes or attributes.
    #[error("node '{node}' ({op}): {what}")]
    Unsupported {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// What is not handled.
        what: String,
    },
}

/// Dispatches that compute `node`, in order. A node whose output holds no element needs none.
///
/// # Errors
/// Names the node and what no kernel handles.
pub fn lower(graph: &Graph, node: &Node, limits: LowerLimits) -> Result<Vec<Dispatch>, LowerError> {
    match node.op {
        Op::Conv { .. } => lower_conv(graph, node, limits),
        Op::MatMul | Op::Gemm { .. } => lower_matmul(graph, node, limits),
        Op::Pool { .. } => lower_pool(graph, node, limits),
        _ => Err(LowerError::Unsupported {
            node: node.name.clone(),
            op: node.op.name(),
            what: "not lowered yet".into(),
        }),
    }
}
