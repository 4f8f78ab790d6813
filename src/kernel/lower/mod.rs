//! From a node of a graph to dispatches.

mod conv;
mod grid;
mod matmul;
mod pool;

mod elementwise;
mod gather;
mod norm;
mod pad;
mod recurrent;
mod reduce;
mod resample;
mod rows;
mod segments;
mod shape;
mod site;
mod spread;
mod strides;
mod volume;

use super::{Dispatch, Operand};
use crate::graph::{Graph, Node, Op, ReduceKind, Rows, Sharing, ValueId};
use conv::lower_conv;
use matmul::lower_matmul;
use pool::lower_pool;
use site::Site;

/// What a device allows one dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LowerLimits {
    /// Largest storage binding in bytes; operands over it are bound in segments where the kernel allows it.
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
    /// A tensor is over the binding limit, and no kernel computes the node in segments.
    #[error(
        "tensor '{tensor}' ({op} '{node}') needs {needed_bytes} bytes, one binding \
         holds at most {available_bytes} (max_storage_buffer_binding_size)"
    )]
    OverLimit {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The tensor that it reads or writes.
        tensor: String,
        /// Bytes of the tensor that one binding would have to show.
        needed_bytes: u64,
        /// The limit in bytes.
        available_bytes: u64,
    },
}

/// Dispatches that compute `node`, in order. A node whose output holds no element needs none.
///
/// Shapes are checked as far as the kernels rely on them, so that no dispatch addresses an element outside
/// its operands.
///
/// Element-wise operators, batch normalisation, copies, slices, concatenations and the rows of matrix
/// products are computed in segments where a tensor is over the binding limit. A segment starts at a multiple
/// of 256 bytes.
///
/// # Errors
/// Names the node and what no kernel handles, or the tensor that is over the binding limit and both numbers.
pub fn lower(graph: &Graph, node: &Node, limits: LowerLimits) -> Result<Vec<Dispatch>, LowerError> {
    lower_node(graph, node, limits, Shared { step: 0, sharing: None })
}

/// The same for a node of a graph whose values share storage: without the copies of inputs that lie where the
/// node would copy them to (those of a concatenation, or the one of a node that moves no element), and with
/// values that lie in rows read and written there.
///
/// # Errors
/// Like [`lower`]; or kernels cannot write the node's output in rows.
pub fn lower_shared(
    graph: &Graph,
    step: usize,
    limits: LowerLimits,
    sharing: &Sharing,
) -> Result<Vec<Dispatch>, LowerError> {
    let node = &graph.nodes[step];
    let shared = Shared { step, sharing: Some(sharing) };
    let dispatches = lower_node(graph, node, limits, shared)?;
    match node.outputs[..] {
        [output] => spread::spread(graph, node, limits, sharing.rows(output), dispatches),
        _ => Ok(dispatches),
    }
}

/// What a lowering has to know of a sharing.
#[derive(Clone, Copy)]
struct Shared<'a> {
    step: usize,
    sharing: Option<&'a Sharing>,
}

impl Shared<'_> {
    /// Whether input `i` lies where the node would copy it to.
    fn is_elided(self, i: usize) -> bool {
        self.sharing.is_some_and(|sharing| sharing.is_elided(self.step, i))
    }

    /// The rows in which a value lies.
    fn rows(self, value: ValueId) -> Option<Rows> {
        self.sharing.and_then(|sharing| sharing.rows(value))
    }
}

fn lower_node(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
    shared: Shared,
) -> Result<Vec<Dispatch>, LowerError> {
    let site = Site::new(graph, node, limits)?;
    if site.output.is_empty() || (node.inputs.len() == 1 && shared.is_elided(0)) {
        return Ok(Vec::new());
    }
    let dispatches = match &node.op {
        Op::Unary(op) => elementwise::lower_unary(&site, *op),
        Op::Binary(op) => elementwise::lower_binary(&site, *op),
        Op::Sum => elementwise::lower_sum(&site),
        Op::BatchNormalization { epsilon } => norm::lower_batch_norm(&site, *epsilon),
        Op::ReduceMean { axes } => reduce::lower_reduce(&site, ReduceKind::Mean, axes),
        Op::Reduce { kind, axes } => reduce::lower_reduce(&site, *kind, axes),
        Op::Softmax { first_axis, last_axis } => norm::lower_softmax(&site, *first_axis, *last_axis, false),
        Op::LogSoftmax { first_axis, last_axis } => norm::lower_softmax(&site, *first_axis, *last_axis, true),
        Op::Hardmax { first_axis, last_axis } => norm::lower_hardmax(&site, *first_axis, *last_axis),
        Op::Normalize { len, repeat, epsilon, centred } => {
            norm::lower_normalize(&site, *len, *repeat, *epsilon, *centred)
        }
        Op::Lrn { size, alpha, beta, bias } => norm::lower_lrn(&site, *size, [*alpha, *beta, *bias]),
        Op::Copy => shape::lower_copy(&site),
        Op::Transpose { perm } => shape::lower_transpose(&site, perm),
        Op::Slice { starts, steps } => shape::lower_slice(&site, starts, steps),
        Op::Concat { axis } => shape::lower_concat(&site, *axis, shared),
        Op::Expand => shape::lower_expand(&site),
        Op::Tile => shape::lower_tile(&site),
        Op::Select => elementwise::lower_select(&site),
        Op::Cast => elementwise::lower_cast(&site),
        Op::Gather { axis } => gather::lower_gather(&site, *axis),
        Op::GatherElements { axis } => gather::lower_gather_elements(&site, *axis),
        Op::GatherNd { batch_dims } => gather::lower_gather_nd(&site, *batch_dims),
        Op::ScatterElements { axis, reduction } => gather::lower_scatter_elements(&site, *axis, *reduction),
        Op::ScatterNd { reduction } => gather::lower_scatter_nd(&site, *reduction),
        Op::TopK { axis, largest, indices } => rows::lower_top_k(&site, *axis, *largest, *indices),
        Op::ArgExtreme { axis, largest, last } => rows::lower_arg(&site, *axis, *largest, *last),
        Op::CumSum { axis, exclusive, reverse } => rows::lower_cum_sum(&site, *axis, *exclusive, *reverse),
        Op::OneHot { axis } => rows::lower_one_hot(&site, *axis),
        Op::Trilu { upper, diagonal } => rows::lower_trilu(&site, *upper, *diagonal),
        Op::ReverseSequence { batch_axis, time_axis } => {
            rows::lower_reverse_sequence(&site, *batch_axis, *time_axis)
        }
        Op::Pad { mode, before } => pad::lower_pad(&site, *mode, before),
        Op::Conv { .. } => lower_conv(graph, node, limits),
        Op::MatMul { .. } | Op::Gemm { .. } => lower_matmul(graph, node, limits),
        Op::Pool { .. } => lower_pool(graph, node, limits),
        Op::Gate { gate, clip } => recurrent::lower_gate(&site, *gate, *clip),
        Op::LstmCell { part, gates, clip } => recurrent::lower_lstm_cell(&site, *part, *gates, *clip),
        Op::GruCell { part, gates, clip } => recurrent::lower_gru_cell(&site, *part, *gates, *clip),
        Op::Conv3d { .. } | Op::ConvTranspose { .. } => volume::lower_volume(graph, node, limits),
        Op::MaxPoolIndices { window, column_major } => {
            volume::lower_max_pool_indices(graph, node, limits, window, *column_major)
        }
        Op::Resample { axes, taps, outside } => resample::lower_resample(&site, *axes, *taps, *outside),
    }?;
    refuse_over_limit(graph, node, limits.max_binding_bytes, &dispatches)?;
    Ok(dispatches)
}

/// What no lowering has cut to size ends here, by name.
fn refuse_over_limit(
    graph: &Graph,
    node: &Node,
    available_bytes: u64,
    dispatches: &[Dispatch],
) -> Result<(), LowerError> {
    for operand in dispatches.iter().flat_map(|d| d.inputs.iter().chain([&d.output])) {
        let Operand::Value { value, len, .. } = *operand else { continue };
        let needed_bytes = len as u64 * 4;
        if needed_bytes > available_bytes {
            let tensor = graph.get(value).name.clone();
            let (node, op) = (node.name.clone(), node.op.name());
            return Err(LowerError::OverLimit { node, op, tensor, needed_bytes, available_bytes });
        }
    }
    Ok(())
}
