//! Quantisation, written out in operators of floats and integers.

use crate::graph::{BinaryOp, DType, Op, UnaryOp, ValueId};
use crate::model::onnx::site::{Fault, Site};
use crate::model::shape as shapes;

/// An input of one number, one along an axis, or one a block along it, under a shape that broadcasts to
/// that of input 0.
fn spread(site: &mut Site, index: usize, axis: usize, block: usize) -> Result<(ValueId, Vec<usize>), Fault> {
    let (value, shape, dims) = (site.value(index)?, site.shape(index)?, site.shape(0)?);
    if block == 0 {
        if shape.iter().product::<usize>() == 1 {
            let value = site.emit_before(&format!("one{index}"), Op::Copy, vec![value], vec![])?;
            return Ok((value, vec![]));
        }
        if shape[..] != [dims[axis]] {
            return Err(format!("input {index} of shape {shape:?} for axis {axis} of {dims:?}").into());
        }
        let mut wide = vec![1; dims.len()];
        wide[axis] = dims[axis];
        let value = site.emit_before(&format!("along{index}"), Op::Copy, vec![value], wide.clone())?;
        return Ok((value, wide));
    }
    let mut due = dims.clone();
    due[axis] = dims[axis].div_ceil(block);
    if shape != due || dims[axis] % block != 0 {
        return Err(format!("input {index} of shape {shape:?} for blocks of {block} of {dims:?}").into());
    }
    let mut split = shape.clone();
    split.insert(axis + 1, 1);
    let value = site.emit_before(&format!("split{index}"), Op::Copy, vec![value], split.clone())?;
    split[axis + 1] = block;
    let value = site.emit_before(&format!("repeated{index}"), Op::Expand, vec![value], split)?;
    let value = site.emit_before(&format!("blocks{index}"), Op::Copy, vec![value], dims.clone())?;
    Ok((value, dims))
}

/// Axis and block length.
fn layout(site: &Site) -> Result<(usize, usize), Fault> {
    let rank = site.shape(0)?.len();
    let block = site.attributes().int("block_size")?.unwrap_or(0);
    let block = usize::try_from(block).map_err(|_| format!("block_size is {block}"))?;
    let single = block == 0 && site.shape(1)?.iter().product::<usize>() == 1;
    let axis = match single {
        true => 0,
        false => shapes::axis(site.attributes().int("axis")?.unwrap_or(1), rank)?,
    };
    Ok((axis, block))
}

/// `(x - zero point) * scale`.
pub(super) fn dequantize(site: &mut Site) -> Result<(), Fault> {
    let (axis, block) = layout(site)?;
    let dims = site.shape(0)?;
    let (scale, _) = spread(site, 1, axis, block)?;
    let dtype = site.dtype_of(scale);
    let mut x = site.value(0)?;
    if site.dtype_of(x).is_float() {
        return Err(format!("input 0 is {}, integers are due", site.dtype_of(x)).into());
    }
    // Differences leave the range of the type.
    x = site.emit_before_as("wide", Op::Copy, vec![x], dims.clone(), DType::I32)?;
    if site.optional(2).is_some() {
        let (zero, shape) = spread(site, 2, axis, block)?;
        let zero = site.emit_before_as("zero", Op::Copy, vec![zero], shape, DType::I32)?;
        x = site.emit_before("centred", Op::Binary(BinaryOp::Sub), vec![x, zero], dims.clone())?;
    }
    let floats = site.emit_before_as("floats", Op::Cast, vec![x], dims.clone(), DType::F32)?;
    site.emit_output_as(0, Op::Binary(BinaryOp::Mul), vec![floats, scale], dims, dtype)
}

/// `x / scale`, rounded, plus the zero point, brought into the range of the type.
pub(super) fn quantize(site: &mut Site) -> Result<(), Fault> {
    let (axis, block) = layout(site)?;
    let dims = site.shape(0)?;
    let named = super::constant::named_dtype(site, "output_dtype")?;
    let dtype = match site.optional(2) {
        Some(zero) => zero.dtype,
        None => named.unwrap_or(DType::U8),
    };
    let Some((low, high)) = dtype.int_range() else {
        return Err(format!("{dtype} is not a type that is quantised to").into());
    };
    let (scale, _) = spread(site, 1, axis, block)?;
    let x = site.value(0)?;
    let x = site.emit_before("scaled", Op::Binary(BinaryOp::Div), vec![x, scale], dims.clone())?;
    let mut x = site.emit_before("rounded", Op::Unary(UnaryOp::Round), vec![x], dims.clone())?;
    if site.optional(2).is_some() {
        let (zero, shape) = spread(site, 2, axis, block)?;
        let zero = site.emit_before_as("zero", Op::Cast, vec![zero], shape, DType::F32)?;
        x = site.emit_before("moved", Op::Binary(BinaryOp::Add), vec![x, zero], dims.clone())?;
    }
    let clip = UnaryOp::Clip { min: low as f32, max: high as f32 };
    let x = site.emit_before("held", Op::Unary(clip), vec![x], dims.clone())?;
    site.emit_output_as(0, Op::Cast, vec![x], dims, dtype)
}
