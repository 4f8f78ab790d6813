//! Operators that move elements without changing them.

use std::sync::Arc;

use crate::graph::{DType, Op, PadMode};
use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::tensor::{Constant, MAX_CONSTANT_LEN, MAX_LEN, Tensor, checked_len};
use crate::model::onnx::{fold, shape as shapes};

/// The same elements under another shape: free for a constant, a copy at run time.
fn reshaped(site: &mut Site, dims: Vec<usize>) -> Result<(), Fault> {
    checked_len(&dims, MAX_LEN)?;
    if site.input(0)?.data.is_none() {
        return site.emit(Op::Copy, &[0], dims);
    }
    let mut tensor = site.take(0)?;
    if tensor.shape != dims {
        tensor.shape = dims;
        tensor.value = None;
    }
    site.set(0, tensor);
    Ok(())
}

pub(super) fn identity(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    reshaped(site, dims)
}

pub(super) fn dropout(site: &mut Site) -> Result<(), Fault> {
    if site.optional_ints(2)?.is_some_and(|training| training != [0]) {
        return Err("training_mode is set; only inference is supported".into());
    }
    if site.output_used(1) {
        // Nothing is dropped. Before operator set 10 the mask has the type of the data.
        let (dims, dtype) = (site.shape(0)?, site.input(0)?.dtype);
        let len = checked_len(&dims, MAX_CONSTANT_LEN)?;
        let mask = match site.opset() < 10 {
            true => Tensor::constant(dtype, dims, Constant::F32(Arc::new(vec![1.0; len]))),
            false => Tensor::constant(DType::Bool, dims, Constant::I64(Arc::new(vec![1; len]))),
        };
        site.set(1, mask);
    }
    identity(site)
}

pub(super) fn reshape(site: &mut Site) -> Result<(), Fault> {
    let target = site.ints(1)?;
    let allow_zero = site.attributes().flag("allowzero", false)?;
    let dims = shapes::reshape(&site.input(0)?.shape, &target, allow_zero)?;
    reshaped(site, dims)
}

pub(super) fn flatten(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axis = site.attributes().int("axis")?.unwrap_or(1);
    let axis = if axis == dims.len() as i64 { dims.len() } else { shapes::axis(axis, dims.len())? };
    reshaped(site, vec![dims[..axis].iter().product(), dims[axis..].iter().product()])
}

/// Axes are an attribute before operator set 13, an input from then on.
fn axes_of(site: &Site) -> Result<Option<Vec<i64>>, Fault> {
    match site.optional_ints(1)? {
        Some(axes) => Ok(Some(axes)),
        None => Ok(site.attributes().ints("axes")?.map(<[i64]>::to_vec)),
    }
}

pub(super) fn squeeze(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axes = match axes_of(site)? {
        Some(list) => shapes::axes(&list, dims.len())?,
        None => (0..dims.len()).filter(|i| dims[*i] == 1).collect(),
    };
    if let Some(axis) = axes.iter().find(|a| dims[**a] != 1) {
        return Err(format!("dimension {axis} of {dims:?} is not 1").into());
    }
    let kept = (0..dims.len()).filter(|i| !axes.contains(i)).map(|i| dims[i]).collect();
    reshaped(site, kept)
}

pub(super) fn unsqueeze(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let list = axes_of(site)?.ok_or("its axes are missing")?;
    let rank = dims.len() + list.len();
    let axes = shapes::axes(&list, rank)?;
    let mut rest = dims.iter();
    let widened = |i: usize| if axes.contains(&i) { Some(1) } else { rest.next().copied() };
    let out: Vec<usize> = (0..rank).filter_map(widened).collect();
    reshaped(site, out)
}

pub(super) fn transpose(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let perm = match site.attributes().ints("perm")? {
        Some(perm) => perm.iter().map(|p| shapes::axis(*p, dims.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..dims.len()).rev().collect(),
    };
    let mut seen = perm.clone();
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..dims.len()) {
        return Err(format!("perm {perm:?} does not name each of {} dimensions once", dims.len()).into());
    }
    if site.input(0)?.data.is_some() {
        let x = site.take(0)?;
        site.set(0, fold::transpose(&x, &perm)?);
        return Ok(());
    }
    let out = perm.iter().map(|p| dims[*p]).collect();
    site.emit(Op::Transpose { perm }, &[0], out)
}

pub(super) fn expand(site: &mut Site) -> Result<(), Fault> {
    let target = shapes::dims(&site.ints(1)?)?;
    let dims = site.shape(0)?;
    let out = shapes::broadcast(&dims, &target)?;
    if site.input(0)?.data.is_some() {
        let x = site.take(0)?;
        site.set(0, fold::expand(&x, out)?);
        return Ok(());
    }
    site.emit(if out == dims { Op::Copy } else { Op::Expand }, &[0], out)
}

pub(super) fn concat(site: &mut Site) -> Result<(), Fault> {
    let count = site.input_count();
    let mut out = site.shape(0)?;
    let axis = site.attributes().int("axis")?.ok_or("attribute 'axis' is missing")?;
    let axis = shapes::axis(axis, out.len())?;
    for i in 1..count {
        let shape = &site.input(i)?.shape;
        let agrees = shape.len() == out.len() && (0..out.len()).all(|d| d == axis || shape[d] == out[d]);
        if !agrees {
            return Err(
                format!("input {i} of shape {shape:?} does not join {out:?} along axis {axis}").into()
            );
        }
        out[axis] = out[axis].checked_add(shape[axis]).ok_or("the joined dimension is too large")?;
    }
    if site.all_constant() {
        let parts = (0..count).map(|i| site.take(i)).collect::<Result<Vec<_>, _>>()?;
        site.set(0, fold::concat(&parts, axis, out)?);
        return Ok(());
    }
    site.emit(Op::Concat { axis }, &(0..count).collect::<Vec<_>>(), out)
}

/// Starts, ends, axes and steps: attributes before operator set 10, inputs from then on.
pub(super) fn slice(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let (first, last, axes, strides) = if site.opset() < 10 {
        let list = |name: &str| site.attributes().ints(name).map(|l| l.map(<[i64]>::to_vec));
        let starts = list("starts")?.ok_or("attribute 'starts' is missing")?;
        let ends = list("ends")?.ok_or("attribute 'ends' is missing")?;
        (starts, ends, list("axes")?, None)
    } else {
        (site.ints(1)?, site.ints(2)?, site.optional_ints(3)?, site.optional_ints(4)?)
    };
    let axes = axes.unwrap_or_else(|| (0..first.len() as i64).collect());
    let strides = strides.unwrap_or_else(|| vec![1; first.len()]);
    if [last.len(), axes.len(), strides.len()] != [first.len(); 3] {
        return Err(format!(
            "{} starts, {} ends, {} axes, {} steps",
            first.len(),
            last.len(),
            axes.len(),
            strides.len()
        )
        .into());
    }
    shapes::axes(&axes, dims.len())?;
    let (mut starts, mut steps, mut out) = (vec![0; dims.len()], vec![1; dims.len()], dims.clone());
    for i in 0..axes.len() {
        let d = shapes::axis(axes[i], dims.len())?;
        if strides[i] == 0 {
            return Err(format!("the step of axis {d} is 0").into());
        }
        let (start, len) = shapes::slice(dims[d], first[i], last[i], strides[i]);
        // A step that is never taken may be any number.
        (starts[d], steps[d], out[d]) = (start, if len > 1 { strides[i] } else { 1 }, len);
    }
    if site.input(0)?.data.is_some() {
        let x = site.take(0)?;
        site.set(0, fold::slice(&x, &starts, &steps, out)?);
        return Ok(());
    }
    site.emit(
        if out == dims && steps.iter().all(|s| *s == 1) { Op::Copy } else { Op::Slice { starts, steps } },
        &[0],
        out,
    )
}

/// One Slice for each output that is read.
pub(super) fn split(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axis = shapes::axis(site.attributes().int("axis")?.unwrap_or(0), dims.len())?;
    let count = site.output_count();
    let given = match site.optional_ints(1)? {
        Some(list) => Some(list),
        None => site.attributes().ints("split")?.map(<[i64]>::to_vec),
    };
    let sizes = match given {
        Some(list) => shapes::dims(&list)?,
        None => {
            // Equal parts; from operator set 18 on the last may be smaller.
            let part = dims[axis].div_ceil(count.max(1));
            (0..count).map(|i| part.min(dims[axis].saturating_sub(i * part))).collect()
        }
    };
    if sizes.len() != count || checked_sum(&sizes) != Some(dims[axis]) {
        return Err(
            format!("{count} outputs of sizes {sizes:?} do not divide dimension {axis} of {dims:?}").into()
        );
    }
    let x = if site.input(0)?.data.is_some() { Some(site.take(0)?) } else { None };
    let mut start = 0;
    for (i, size) in sizes.into_iter().enumerate() {
        let (mut starts, steps, mut out) = (vec![0; dims.len()], vec![1; dims.len()], dims.clone());
        (starts[axis], out[axis]) = (start as i64, size);
        start += size;
        match &x {
            Some(x) => {
                let part = fold::slice(x, &starts, &steps, out)?;
                site.set(i, part);
            }
            None if site.output_used(i) => site.emit_output(i, Op::Slice { starts, steps }, out)?,
            None => {}
        }
    }
    Ok(())
}

fn checked_sum(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(0usize, |sum, s| sum.checked_add(*s))
}

/// Pads, value and axes: attributes before operator set 11, inputs from then on.
pub(super) fn pad(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let mode = site.attributes().string("mode")?.unwrap_or("constant");
    let (pads, value, axes) = if site.opset() < 11 {
        let pads = site.attributes().ints("pads")?.ok_or("attribute 'pads' is missing")?;
        (pads.to_vec(), site.attributes().float("value")?, None)
    } else {
        (site.ints(1)?, site.optional_word(2)?, site.optional_ints(3)?)
    };
    let axes = match axes {
        Some(list) => list.iter().map(|a| shapes::axis(*a, dims.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..dims.len()).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(format!("{} pads for {} dimensions; two each are due", pads.len(), axes.len()).into());
    }
    let mode = match mode {
        "constant" => PadMode::Constant(value.unwrap_or(0.0)),
        "reflect" => PadMode::Reflect,
        "edge" => PadMode::Edge,
        "wrap" => PadMode::Wrap,
        other => return Err(format!("mode '{other}' is not supported").into()),
    };
    let (mut before, mut out) = (vec![0i64; dims.len()], dims.clone());
    for (i, d) in axes.iter().copied().enumerate() {
        let (low, high) = (pads[i], pads[i + axes.len()]);
        let size = dims[d] as i64;
        let (least, most) = match mode {
            PadMode::Constant(_) => (-size, MAX_LEN as i64),
            PadMode::Reflect => (0, (size - 1).max(0)),
            PadMode::Edge | PadMode::Wrap => (0, if size == 0 { 0 } else { MAX_LEN as i64 }),
        };
        if low.min(high) < least || low.max(high) > most || size + low + high < 0 {
            return Err(format!(
                "pads {low} and {high} of dimension {d}: {least}..={most} each, {size} elements in all"
            )
            .into());
        }
        out[d] = (size + low + high) as usize;
        before[d] = low;
    }
    checked_len(&out, MAX_LEN)?;
    site.emit(Op::Pad { mode, before }, &[0], out)
}
