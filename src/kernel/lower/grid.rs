//! Word-sized sizes and workgroup counts, checked.

use super::segments::{ALIGN_LEN, gcd};
use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, ValueId};
use crate::kernel::{Operand, ParamWriter};

/// A node on its way to dispatches, with what its errors need.
#[derive(Clone, Copy)]
pub(super) struct Lowering<'a> {
    pub(super) graph: &'a Graph,
    pub(super) node: &'a Node,
    pub(super) limits: LowerLimits,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(graph: &'a Graph, node: &'a Node, limits: LowerLimits) -> Self {
        Lowering { graph, node, limits }
    }

    /// The refusal of this node.
    pub(super) fn unsupported(&self, what: impl Into<String>) -> LowerError {
        LowerError::Unsupported { node: self.node.name.clone(), op: self.node.op.name(), what: what.into() }
    }

    /// Input `index`, or a refusal.
    pub(super) fn input(&self, index: usize) -> Result<ValueId, LowerError> {
        self.node
            .inputs
            .get(index)
            .copied()
            .ok_or_else(|| self.unsupported(format!("input {index} is missing")))
    }

    /// The only output, or a refusal.
    pub(super) fn output(&self) -> Result<ValueId, LowerError> {
        match self.node.outputs[..] {
            [output] => Ok(output),
            _ => Err(self.unsupported(format!("{} outputs where 1 is computed", self.node.outputs.len()))),
        }
    }

    /// Dimensions of a value.
    pub(super) fn shape(&self, id: ValueId) -> &'a [usize] {
        &self.graph.get(id).shape
    }

    /// The whole value; absent where it holds no element. Refuses what 32-bit indices cannot reach.
    pub(super) fn whole(&self, id: ValueId) -> Result<Operand, LowerError> {
        let value = self.graph.get(id);
        match value.len() {
            0 => Ok(Operand::Absent),
            len if len <= i32::MAX as usize => Ok(Operand::Value { value: id, start_len: 0, len }),
            len => Err(self.unsupported(format!(
                "tensor '{}' holds {len} elements, a kernel reaches at most {}",
                value.name,
                i32::MAX
            ))),
        }
    }

    /// Appends sizes to a parameter block.
    pub(super) fn words(&self, mut block: ParamWriter, sizes: &[usize]) -> Result<ParamWriter, LowerError> {
        for size in sizes {
            let word = u32::try_from(*size).map_err(|_| {
                self.unsupported(format!("{size} exceeds the largest parameter {}", u32::MAX))
            })?;
            block = block.u32(word);
        }
        Ok(block)
    }

    /// One count for each dimension, as it stands.
    pub(super) fn workgroups(&self, counts: [usize; 3]) -> Result<[u32; 3], LowerError> {
        let most = self.limits.max_workgroups;
        let mut out = [0; 3];
        for (out, count) in out.iter_mut().zip(counts) {
            *out = u32::try_from(count).ok().filter(|c| *c <= most).ok_or_else(|| {
                self.unsupported(format!(
                    "needs {count} workgroups in one dimension, the device allows {most}"
                ))
            })?;
        }
        Ok(out)
    }

    /// `count` workgroups folded into x and another dimension: the kernel computes its index from both and
    /// stops past the end. Returns the counts of the two.
    pub(super) fn fold(&self, count: usize) -> [usize; 2] {
        let x = count.clamp(1, (self.limits.max_workgroups as usize).max(1));
        [x, count.div_ceil(x).max(1)]
    }

    /// Row segments `(first, rows)` of a stored matrix, each within the binding limit and starting at a
    /// multiple of 64 elements (256 bytes); one segment where the whole fits or where the rows are empty.
    pub(super) fn segments(
        &self,
        id: ValueId,
        rows: usize,
        row_len: usize,
    ) -> Result<Vec<(usize, usize)>, LowerError> {
        let most_len = usize::try_from(self.limits.max_binding_bytes / 4).unwrap_or(usize::MAX);
        if rows.saturating_mul(row_len) <= most_len {
            return Ok(vec![(0, rows)]);
        }
        let unit = ALIGN_LEN / gcd(ALIGN_LEN, row_len);
        let per_segment = most_len / row_len / unit * unit;
        if per_segment == 0 {
            return Err(self.unsupported(format!(
                "{unit} rows of '{}' need {} bytes in one binding, the device binds at most {}",
                self.graph.get(id).name,
                unit * row_len * 4,
                self.limits.max_binding_bytes
            )));
        }
        Ok((0..rows).step_by(per_segment).map(|first| (first, per_segment.min(rows - first))).collect())
    }
}
