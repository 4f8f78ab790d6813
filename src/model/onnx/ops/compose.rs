//! Pieces of operators that are composed of others.

use crate::graph::{BinaryOp, Op, UnaryOp, ValueId};
use crate::model::onnx::site::{Fault, Site};
use crate::model::shape as shapes;

/// Dimensions of a value of the graph.
pub(super) fn dims(site: &Site, value: ValueId) -> Vec<usize> {
    site.importer.graph.get(value).shape.clone()
}

/// A float of no dimension.
pub(super) fn scalar(site: &mut Site, what: &str, value: f32) -> ValueId {
    site.constant(what, vec![], vec![value])
}

/// An element-wise function of one value.
pub(super) fn unary(site: &mut Site, what: &str, op: UnaryOp, x: ValueId) -> Result<ValueId, Fault> {
    let shape = dims(site, x);
    site.emit_before(what, Op::Unary(op), vec![x], shape)
}

/// An element-wise function of two values, broadcast.
pub(super) fn binary(
    site: &mut Site,
    what: &str,
    op: BinaryOp,
    a: ValueId,
    b: ValueId,
) -> Result<ValueId, Fault> {
    let shape = shapes::broadcast(&dims(site, a), &dims(site, b))?;
    site.emit_before(what, Op::Binary(op), vec![a, b], shape)
}

/// The mean over axes, which stay as dimensions of 1.
pub(super) fn mean(site: &mut Site, what: &str, x: ValueId, axes: &[usize]) -> Result<ValueId, Fault> {
    let mut shape = dims(site, x);
    axes.iter().for_each(|d| shape[*d] = 1);
    site.emit_before(what, Op::ReduceMean { axes: axes.to_vec() }, vec![x], shape)
}

/// The same elements under another shape.
pub(super) fn view(site: &mut Site, what: &str, x: ValueId, shape: Vec<usize>) -> Result<ValueId, Fault> {
    match dims(site, x) == shape {
        true => Ok(x),
        false => site.emit_before(what, Op::Copy, vec![x], shape),
    }
}

/// Mean, what is left without it, and the mean of the squares of that, over axes that stay as 1.
pub(super) fn moments(site: &mut Site, x: ValueId, axes: &[usize]) -> Result<[ValueId; 3], Fault> {
    let mean_value = mean(site, "mean", x, axes)?;
    let rest = binary(site, "centred", BinaryOp::Sub, x, mean_value)?;
    let squares = binary(site, "squares", BinaryOp::Mul, rest, rest)?;
    let variance = mean(site, "variance", squares, axes)?;
    Ok([mean_value, rest, variance])
}
