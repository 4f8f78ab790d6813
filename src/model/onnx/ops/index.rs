//! Operators that read and write at places that indices name.

use crate::graph::{DType, Op, Reduction, ValueId};
use crate::model::onnx::fold;
use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::tensor::Tensor;
use crate::model::shape as shapes;

/// Holds constant indices against the dimension that they index.
fn check_indices(site: &Site, dim: usize, dims: &[usize]) -> Result<(), String> {
    let size = dim as i64;
    let indices = site.optional(1).and_then(Tensor::i64_data).unwrap_or_default();
    match indices.iter().find(|i| !(-size..size).contains(*i)) {
        Some(i) => Err(format!("index {i} is outside a dimension of {dim} of {dims:?}")),
        None => Ok(()),
    }
}

fn axis_of(site: &Site, dims: &[usize]) -> Result<usize, Fault> {
    Ok(shapes::axis(site.attributes().int("axis")?.unwrap_or(0), dims.len())?)
}

/// Constants are folded; constant indices at equal distances are a Slice.
pub(super) fn gather(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axis = axis_of(site, &dims)?;
    let out = [&dims[..axis], &site.shape(1)?, &dims[axis + 1..]].concat();
    check_indices(site, dims[axis], &dims)?;
    let Some(indices) = site.input(1)?.i64_data() else {
        return site.emit(Op::Gather { axis }, &[0, 1], out);
    };
    let size = dims[axis] as i64;
    let indices: Vec<usize> = indices.iter().map(|i| (if *i < 0 { i + size } else { *i }) as usize).collect();
    if site.input(0)?.data.is_some() {
        let x = site.take(0)?;
        site.set(0, fold::gather(&x, axis, &indices, out)?);
        return Ok(());
    }
    let at = |i: usize| indices[i] as i64;
    let step = if indices.len() > 1 { at(1) - at(0) } else { 1 };
    let even = step != 0 && (1..indices.len()).all(|i| at(i) - at(i - 1) == step);
    if indices.is_empty() || !even {
        return site.emit(Op::Gather { axis }, &[0, 1], out);
    }
    let (mut starts, mut steps, mut part) = (vec![0; dims.len()], vec![1; dims.len()], dims.clone());
    (starts[axis], steps[axis], part[axis]) = (at(0), step, indices.len());
    if part == out {
        return site.emit(Op::Slice { starts, steps }, &[0], out);
    }
    let x = site.value(0)?;
    let part = site.emit_before("slice", Op::Slice { starts, steps }, vec![x], part)?;
    site.emit_values(Op::Copy, vec![part], out)
}

pub(super) fn gather_elements(site: &mut Site) -> Result<(), Fault> {
    let (dims, out) = (site.shape(0)?, site.shape(1)?);
    let axis = axis_of(site, &dims)?;
    check_indices(site, dims[axis], &dims)?;
    site.emit(Op::GatherElements { axis }, &[0, 1], out)
}

pub(super) fn gather_nd(site: &mut Site) -> Result<(), Fault> {
    let (dims, indices) = (site.shape(0)?, site.shape(1)?);
    let batch_dims = site.attributes().int("batch_dims")?.unwrap_or(0);
    let batch_dims = usize::try_from(batch_dims).map_err(|_| format!("batch_dims is {batch_dims}"))?;
    let Some((depth, head)) = indices.split_last() else { return Err("its indices are a scalar".into()) };
    let from = batch_dims.checked_add(*depth).filter(|from| *from <= dims.len() && batch_dims <= head.len());
    let Some(from) = from else {
        return Err(format!("indices {indices:?} of {dims:?} with {batch_dims} dimensions shared").into());
    };
    let out = [head, &dims[from..]].concat();
    site.emit(Op::GatherNd { batch_dims }, &[0, 1], out)
}

fn reduction(site: &Site) -> Result<Reduction, Fault> {
    Ok(match site.attributes().string("reduction")?.unwrap_or("none") {
        "none" => Reduction::Replace,
        "add" => Reduction::Add,
        "mul" => Reduction::Mul,
        "min" => Reduction::Min,
        "max" => Reduction::Max,
        other => return Err(format!("attribute 'reduction' is '{other}'").into()),
    })
}

/// Scatter of operator sets before 11 is the same operator.
pub(super) fn scatter_elements(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axis = axis_of(site, &dims)?;
    check_indices(site, dims[axis], &dims)?;
    let reduction = reduction(site)?;
    site.emit(Op::ScatterElements { axis, reduction }, &[0, 1, 2], dims)
}

pub(super) fn scatter_nd(site: &mut Site) -> Result<(), Fault> {
    let (dims, reduction) = (site.shape(0)?, reduction(site)?);
    site.emit(Op::ScatterNd { reduction }, &[0, 1, 2], dims)
}

/// The places at which a constant condition holds, since the output's shape depends on it.
pub(super) fn compress(site: &mut Site) -> Result<(), Fault> {
    let condition = site.ints(1)?;
    let mut dims = site.shape(0)?;
    let mut x = site.value(0)?;
    let axis = match site.attributes().int("axis")? {
        Some(axis) => shapes::axis(axis, dims.len())?,
        None => {
            dims = vec![dims.iter().product()];
            x = site.emit_before("flat", Op::Copy, vec![x], dims.clone())?;
            0
        }
    };
    let kept = condition.iter().zip(0..dims[axis] as i32).filter(|(on, _)| **on != 0);
    let kept: Vec<i32> = kept.map(|(_, i)| i).collect();
    dims[axis] = kept.len();
    let indices = site.int_constant("kept", vec![kept.len()], &kept);
    site.emit_values(Op::Gather { axis }, vec![x, indices], dims)
}

/// Of constants alone, since the output's shape depends on the elements.
pub(super) fn non_zero(site: &mut Site) -> Result<(), Fault> {
    super::must_fold(site)?;
    let x = site.input(0)?;
    let on: Vec<bool> = match (x.f32_data(), x.i64_data()) {
        (Some(data), _) => data.iter().map(|x| *x != 0.0).collect(),
        (_, Some(data)) => data.iter().map(|x| *x != 0).collect(),
        _ => Vec::new(),
    };
    let strides = shapes::strides(&x.shape);
    let places: Vec<usize> = (0..on.len()).filter(|i| on[*i]).collect();
    let along = |(dim, stride): (&usize, &usize)| -> Vec<i64> {
        places.iter().map(|place| (place / stride % dim) as i64).collect()
    };
    let data = x.shape.iter().zip(&strides).flat_map(along).collect();
    let shape = vec![x.shape.len(), places.len()];
    site.set(0, Tensor::ints(shape, data));
    Ok(())
}

/// The depth is constant, since the output's shape depends on it.
pub(super) fn one_hot(site: &mut Site) -> Result<(), Fault> {
    let depth = site.input(1)?;
    let depth = match (depth.i64_data(), depth.f32_data()) {
        (Some([depth]), _) => *depth,
        (_, Some([depth])) => *depth as i64,
        _ => return Err("its depth must be one constant number".into()),
    };
    let depth = usize::try_from(depth).map_err(|_| format!("depth {depth} is negative"))?;
    let mut out = site.shape(0)?;
    let axis = shapes::axis(site.attributes().int("axis")?.unwrap_or(-1), out.len() + 1)?;
    let indices = integers(site, 0)?;
    out.insert(axis, depth);
    let values = site.value(2)?;
    let dtype = site.dtype_of(values);
    site.emit_output_as(0, Op::OneHot { axis }, vec![indices, values], out, dtype)
}

/// An input as integers.
fn integers(site: &mut Site, index: usize) -> Result<ValueId, Fault> {
    let value = site.value(index)?;
    if !site.dtype_of(value).is_float() {
        return Ok(value);
    }
    let shape = site.shape(index)?;
    site.emit_before_as("indices", Op::Cast, vec![value], shape, DType::I64)
}
