//! A node with its values resolved, and what every lowering needs of it: checks, operands, grids.

use super::segments::{ALIGN_LEN, Segment, Walked, segments};
use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, Value, ValueId};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Most elements of a tensor: invocation indices are 32-bit, and the last row of a grid may run 65,536 past
/// the end.
const MAX_LEN: u64 = (1 << 32) - (1 << 17);

/// Invocations of a workgroup of the element-wise kernels.
const WORKGROUP: usize = 256;

/// Where a lowering stands. Every tensor has at most [`MAX_LEN`] elements.
pub(super) struct Site<'a> {
    node: &'a Node,
    limits: LowerLimits,
    pub(super) inputs: Vec<&'a Value>,
    pub(super) output: &'a Value,
}

impl<'a> Site<'a> {
    pub(super) fn new(graph: &'a Graph, node: &'a Node, limits: LowerLimits) -> Result<Self, LowerError> {
        let inputs = node.inputs.iter().map(|id| value(graph, node, *id)).collect::<Result<_, _>>()?;
        match node.outputs[..] {
            [output] => Ok(Site { node, limits, inputs, output: value(graph, node, output)? }),
            _ => Err(unsupported(node, format!("{} outputs, kernels write 1", node.outputs.len()))),
        }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> LowerError {
        unsupported(self.node, what.into())
    }

    /// The inputs, if there are exactly `N`.
    pub(super) fn inputs<const N: usize>(&self) -> Result<[&'a Value; N], LowerError> {
        self.inputs[..]
            .try_into()
            .map_err(|_| self.unsupported(format!("{} inputs, needs {N}", self.inputs.len())))
    }

    /// The value that input `i` is.
    pub(super) fn input_id(&self, i: usize) -> ValueId {
        self.node.inputs[i]
    }

    /// Input `i` as an operand, whole.
    pub(super) fn operand(&self, i: usize) -> Operand {
        match self.inputs[i].len() {
            0 => Operand::Absent,
            len => Operand::Value { value: self.node.inputs[i], start_len: 0, len },
        }
    }

    /// The output as an operand, whole.
    pub(super) fn output_operand(&self) -> Operand {
        Operand::Value { value: self.node.outputs[0], start_len: 0, len: self.output.len() }
    }

    /// That `shape` is the output's.
    pub(super) fn expect_output(&self, shape: &[usize]) -> Result<(), LowerError> {
        if self.output.shape == shape {
            return Ok(());
        }
        let Value { name, shape: found, .. } = self.output;
        Err(self.unsupported(format!("output '{name}' is {found:?}, the inputs make it {shape:?}")))
    }

    /// That a list of an attribute has one entry a dimension of input 0.
    pub(super) fn expect_rank(&self, what: &str, found: usize) -> Result<(), LowerError> {
        let rank = self.inputs[0].shape.len();
        if found == rank {
            return Ok(());
        }
        Err(self.unsupported(format!("{found} {what} for a tensor of rank {rank}")))
    }

    /// A dispatch of `groups` workgroups, folded into x and y, that fills the whole output.
    pub(super) fn dispatch(
        &self,
        kernel: KernelId,
        inputs: Vec<Operand>,
        params: ParamWriter,
        groups: usize,
    ) -> Result<Dispatch, LowerError> {
        let max = self.limits.max_workgroups.max(1) as usize;
        let y = groups.div_ceil(max);
        if y > max.min(256) {
            return Err(self
                .unsupported(format!("needs {groups} workgroups, the device runs {}", max * max.min(256))));
        }
        Ok(Dispatch {
            kernel,
            inputs,
            output: self.output_operand(),
            params: params.finish(),
            workgroups: [groups.div_ceil(y) as u32, y as u32, 1],
            fills_output: true,
            rows: None,
        })
    }

    /// A dispatch of one invocation an element of `count`.
    pub(super) fn linear(
        &self,
        kernel: KernelId,
        inputs: Vec<Operand>,
        params: ParamWriter,
        count: usize,
    ) -> Result<Dispatch, LowerError> {
        self.dispatch(kernel, inputs, params, count.div_ceil(WORKGROUP))
    }

    /// The same for one segment, whose last operand is the output; it writes all of what that binds.
    pub(super) fn linear_segment(
        &self,
        kernel: KernelId,
        segment: &Segment,
        params: ParamWriter,
    ) -> Result<Dispatch, LowerError> {
        let mut inputs = segment.operands.clone();
        let output = inputs.pop().unwrap_or(Operand::Absent);
        let dispatch = self.linear(kernel, inputs, params, segment.dims.iter().product())?;
        Ok(Dispatch { output, ..dispatch })
    }

    /// Cuts a space into segments whose bindings fit; where no cut serves, the whole is one segment, which
    /// is refused in the end by the tensor that is over the limit.
    pub(super) fn segments(&self, dims: &[usize], walked: &[Walked]) -> Vec<Segment> {
        segments(dims, walked, self.limits.max_binding_bytes).unwrap_or_else(|| self.whole(dims, walked))
    }

    /// Runs `(first, rows)` of the rows of a tensor, each within the binding limit if it is bound from the
    /// last lawful element before it on; one run where all fits, or where no cut serves.
    pub(super) fn row_runs(&self, rows: usize, row_len: usize) -> Vec<(usize, usize)> {
        let most_len = usize::try_from(self.limits.max_binding_bytes / 4).unwrap_or(usize::MAX);
        let each = most_len.saturating_sub(ALIGN_LEN - 1) / row_len.max(1);
        if rows.saturating_mul(row_len) <= most_len || each == 0 {
            return vec![(0, rows)];
        }
        (0..rows).step_by(each).map(|first| (first, each.min(rows - first))).collect()
    }

    /// A space in one segment.
    pub(super) fn whole(&self, dims: &[usize], walked: &[Walked]) -> Vec<Segment> {
        vec![Segment::whole(dims, walked)]
    }

    /// A dispatch of `lanes` invocations (a power of two up to 256) an item of `count`.
    pub(super) fn lanes(
        &self,
        kernel: KernelId,
        params: ParamWriter,
        count: usize,
        lanes: usize,
    ) -> Result<Dispatch, LowerError> {
        self.dispatch(kernel, vec![self.operand(0)], params, count.div_ceil(WORKGROUP / lanes))
    }
}

fn unsupported(node: &Node, what: String) -> LowerError {
    LowerError::Unsupported { node: node.name.clone(), op: node.op.name(), what }
}

/// The value behind an id, if it exists and can be indexed by 32 bits.
fn value<'a>(graph: &'a Graph, node: &Node, id: ValueId) -> Result<&'a Value, LowerError> {
    let found = graph
        .values
        .get(id.index())
        .ok_or_else(|| unsupported(node, format!("value {} does not exist", id.0)))?;
    let len = found.shape.iter().fold(1u128, |product, dim| product.saturating_mul(*dim as u128));
    if len > u128::from(MAX_LEN) {
        let what = format!("tensor '{}' has {len} elements, kernels index at most {MAX_LEN}", found.name);
        return Err(unsupported(node, what));
    }
    Ok(found)
}
