//! Normalisations and means.

use crate::graph::Op;
use crate::model::onnx::shape as shapes;
use crate::model::onnx::site::{Fault, Site};

pub(super) fn batch_normalization(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    if attributes.flag("training_mode", false)? {
        return Err("training_mode = 1; only inference is supported".into());
    }
    if !attributes.flag("spatial", true)? {
        return Err("spatial = 0; only one scale a channel is supported".into());
    }
    if (1..site.output_count()).any(|i| site.output_used(i)) {
        return Err("its training outputs are read; only inference is supported".into());
    }
    let epsilon = attributes.float("epsilon")?.unwrap_or(1e-5);
    let dims = site.shape(0)?;
    let Some(channels) = dims.get(1).copied() else {
        return Err(format!("shape {dims:?} has no channel dimension").into());
    };
    for i in 1..5 {
        let shape = &site.input(i)?.shape;
        if shape[..] != [channels] {
            return Err(format!("input {i} has shape {shape:?}, the input has {channels} channels").into());
        }
    }
    site.emit(Op::BatchNormalization { epsilon }, &[0, 1, 2, 3, 4], dims)
}

pub(super) fn lrn(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    let size = attributes.int("size")?.ok_or("attribute 'size' is missing")?;
    let size = usize::try_from(size).ok().filter(|s| *s >= 1).ok_or_else(|| format!("size is {size}"))?;
    let dims = site.shape(0)?;
    if dims.len() < 2 {
        return Err(format!("shape {dims:?} has no channel dimension").into());
    }
    let op = Op::Lrn {
        size,
        alpha: attributes.float("alpha")?.unwrap_or(1e-4),
        beta: attributes.float("beta")?.unwrap_or(0.75),
        bias: attributes.float("bias")?.unwrap_or(1.0),
    };
    site.emit(op, &[0], dims)
}

/// Before operator set 13 the input is seen as a matrix: all dimensions from `axis` on are normalised
/// together.
pub(super) fn softmax(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let matrix = site.opset() < 13;
    let given = site.attributes().int("axis")?.unwrap_or(if matrix { 1 } else { -1 });
    let first_axis = shapes::axis(given, dims.len())?;
    let last_axis = if matrix { dims.len() } else { first_axis + 1 };
    site.emit(Op::Softmax { first_axis, last_axis }, &[0], dims)
}

pub(super) fn global_average_pool(site: &mut Site) -> Result<(), Fault> {
    let mut dims = site.shape(0)?;
    if dims.len() < 3 {
        return Err(format!("shape {dims:?} has no spatial dimension").into());
    }
    let axes: Vec<usize> = (2..dims.len()).collect();
    dims[2..].fill(1);
    site.emit(Op::ReduceMean { axes }, &[0], dims)
}

pub(super) fn reduce_mean(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let given = match site.optional_ints(1)? {
        Some(axes) => Some(axes),
        None => site.attributes().ints("axes")?.map(<[i64]>::to_vec),
    };
    let given = given.filter(|axes| !axes.is_empty());
    let keep = site.attributes().flag("keepdims", true)?;
    let axes = match given {
        Some(list) => shapes::axes(&list, dims.len())?,
        None if site.attributes().flag("noop_with_empty_axes", false)? => {
            return site.emit(Op::Copy, &[0], dims);
        }
        None => (0..dims.len()).collect(),
    };
    let reduced = |i: usize| axes.contains(&i);
    let out: Vec<usize> = (0..dims.len())
        .filter(|i| keep || !reduced(*i))
        .map(|i| if reduced(i) { 1 } else { dims[i] })
        .collect();
    site.emit(Op::ReduceMean { axes }, &[0], out)
}
