//! From a node of a graph to dispatches.

mod conv;
mod grid;
mod matmul;
mod pool;

mod elementwise;
mod norm;
mod pad;
mod shape;
mod site;
mod strides;

use super::Dispatch;
use crate::graph::{Graph, Node, Op};
use conv::lower_conv;
use matmul::lower_matmul;
use pool::lower_pool;
use site::Site;

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
/// Shapes are checked as far as the kernels rely on them, so that no dispatch addresses an element outside
/// its operands.
///
/// # Errors
/// Names the node and what no kernel handles.
pub fn lower(graph: &Graph, node: &Node, limits: LowerLimits) -> Result<Vec<Dispatch>, LowerError> {
    let site = Site::new(graph, node, limits)?;
    if site.output.is_empty() {
        return Ok(Vec::new());
    }
    match &node.op {
        Op::Unary(op) => elementwise::lower_unary(&site, *op),
        Op::Binary(op) => elementwise::lower_binary(&site, *op),
        Op::Sum => elementwise::lower_sum(&site),
        Op::BatchNormalization { epsilon } => norm::lower_batch_norm(&site, *epsilon),
        Op::ReduceMean { axes } => norm::lower_reduce_mean(&site, axes),
        Op::Softmax { first_axis, last_axis } => norm::lower_softmax(&site, *first_axis, *last_axis),
        Op::Lrn { size, alpha, beta, bias } => norm::lower_lrn(&site, *size, [*alpha, *beta, *bias]),
        Op::Copy => shape::lower_copy(&site),
        Op::Transpose { perm } => shape::lower_transpose(&site, perm),
        Op::Slice { starts, steps } => shape::lower_slice(&site, starts, steps),
        Op::Concat { axis } => shape::lower_concat(&site, *axis),
        Op::Expand => shape::lower_expand(&site),
        Op::Pad { mode, before } => pad::lower_pad(&site, *mode, before),
        Op::Conv { .. } => lower_conv(graph, node, limits),
        Op::MatMul | Op::Gemm { .. } => lower_matmul(graph, node, limits),
        Op::Pool { .. } => lower_pool(graph, node, limits),
    }
}
