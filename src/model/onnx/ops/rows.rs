//! Operators along one axis: order, running sums, triangles, reversal.

use crate::graph::{DType, Op};
use crate::model::onnx::site::{Fault, Site};
use crate::model::shape as shapes;

/// One constant integer of an input.
fn one_int(site: &Site, index: usize, role: &str) -> Result<i64, Fault> {
    match site.ints(index)?[..] {
        [int] => Ok(int),
        ref list => Err(format!("{role} is {} integers, one is due", list.len()).into()),
    }
}

/// Two nodes: the elements, and where they stand. The count is an attribute before operator set 10.
pub(super) fn top_k(site: &mut Site) -> Result<(), Fault> {
    let mut dims = site.shape(0)?;
    let attributes = site.attributes();
    let axis = shapes::axis(attributes.int("axis")?.unwrap_or(-1), dims.len())?;
    let largest = attributes.flag("largest", true)?;
    let k = match site.opset() < 10 {
        true => attributes.int("k")?.ok_or("attribute 'k' is missing")?,
        false => one_int(site, 1, "k")?,
    };
    dims[axis] = match usize::try_from(k) {
        Ok(k) if k <= dims[axis] => k,
        _ => return Err(format!("k is {k}, dimension {axis} of {dims:?} holds fewer").into()),
    };
    let x = site.value(0)?;
    let dtype = site.dtype_of(x);
    for (output, dtype) in [(0, dtype), (1, DType::I64)] {
        if site.output_used(output) {
            let op = Op::TopK { axis, largest, indices: output == 1 };
            site.emit_output_as(output, op, vec![x], dims.clone(), dtype)?;
        }
    }
    Ok(())
}

pub(super) fn arg_extreme(site: &mut Site) -> Result<(), Fault> {
    let mut dims = site.shape(0)?;
    let attributes = site.attributes();
    let axis = shapes::axis(attributes.int("axis")?.unwrap_or(0), dims.len())?;
    let last = attributes.flag("select_last_index", false)?;
    if dims[axis] == 0 {
        return Err(format!("axis {axis} of {dims:?} has no element").into());
    }
    match attributes.flag("keepdims", true)? {
        true => dims[axis] = 1,
        false => {
            dims.remove(axis);
        }
    }
    let op = Op::ArgExtreme { axis, largest: site.op() == "ArgMax", last };
    site.emit_as(op, &[0], dims, DType::I64)
}

pub(super) fn cum_sum(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axis = shapes::axis(one_int(site, 1, "axis")?, dims.len())?;
    let exclusive = site.attributes().flag("exclusive", false)?;
    let reverse = site.attributes().flag("reverse", false)?;
    site.emit(Op::CumSum { axis, exclusive, reverse }, &[0], dims)
}

pub(super) fn trilu(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let upper = site.attributes().flag("upper", true)?;
    let k = if site.optional(1).is_some() { one_int(site, 1, "k")? } else { 0 };
    // A diagonal outside the matrix is as good as any other outside it.
    let diagonal = k.clamp(-(1 << 30), 1 << 30) as i32;
    if dims.len() < 2 {
        return Err(format!("shape {dims:?} holds no matrix").into());
    }
    site.emit(Op::Trilu { upper, diagonal }, &[0], dims)
}

pub(super) fn reverse_sequence(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let batch_axis = shapes::axis(site.attributes().int("batch_axis")?.unwrap_or(1), dims.len())?;
    let time_axis = shapes::axis(site.attributes().int("time_axis")?.unwrap_or(0), dims.len())?;
    site.emit(Op::ReverseSequence { batch_axis, time_axis }, &[0, 1], dims)
}
