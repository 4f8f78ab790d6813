//! Operators that give constants, and casts.

use std::sync::Arc;

use super::must_fold;
use crate::graph::Op;
use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::tensor::{self, Constant, MAX_CONSTANT_LEN, Tensor, checked_len, room};
use crate::model::onnx::{fold, shape as shapes};

pub(super) fn constant(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    let tensor = if let Some(tensor) = attributes.tensor("value")? {
        tensor
    } else if let Some(x) = attributes.float("value_float")? {
        Tensor::floats(vec![], vec![x])
    } else if let Some(x) = attributes.int("value_int")? {
        Tensor::ints(vec![], vec![x])
    } else if let Some(list) = attributes.get("value_floats") {
        Tensor::floats(vec![list.floats.len()], list.floats.clone())
    } else if let Some(list) = attributes.ints("value_ints")? {
        Tensor::ints(vec![list.len()], list.to_vec())
    } else {
        return Err("it has no value, value_float(s) or value_int(s)".into());
    };
    site.set(0, tensor);
    Ok(())
}

pub(super) fn constant_of_shape(site: &mut Site) -> Result<(), Fault> {
    let dims = shapes::dims(&site.ints(0)?)?;
    let len = checked_len(&dims, MAX_CONSTANT_LEN)?;
    let value = site.attributes().tensor("value")?;
    let value = value.unwrap_or_else(|| Tensor::floats(vec![1], vec![0.0]));
    let data = match value.data {
        Some(Constant::F32(one)) if one.len() == 1 => {
            let mut data = room(len)?;
            data.resize(len, one[0]);
            Constant::F32(Arc::new(data))
        }
        Some(Constant::I64(one)) if one.len() == 1 => {
            let mut data = room(len)?;
            data.resize(len, one[0]);
            Constant::I64(Arc::new(data))
        }
        _ => return Err("attribute 'value' must hold one element".into()),
    };
    site.set(0, Tensor::constant(value.dtype, dims, data));
    Ok(())
}

/// The dimensions are known, so this is constant whatever it reads.
pub(super) fn shape(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let rank = dims.len() as i64;
    let bound = |name: &str, default: i64| -> Result<usize, String> {
        let at = site.attributes().int(name)?.unwrap_or(default);
        Ok((if at < 0 { at.saturating_add(rank) } else { at }).clamp(0, rank) as usize)
    };
    let (start, end) = (bound("start", 0)?, bound("end", rank)?);
    let part: Vec<i64> = dims[start..end.max(start)].iter().map(|d| *d as i64).collect();
    site.set(0, Tensor::ints(vec![part.len()], part));
    Ok(())
}

pub(super) fn size(site: &mut Site) -> Result<(), Fault> {
    let len = checked_len(&site.input(0)?.shape, tensor::MAX_LEN)?;
    site.set(0, Tensor::ints(vec![], vec![len as i64]));
    Ok(())
}

pub(super) fn range(site: &mut Site) -> Result<(), Fault> {
    must_fold(site)?;
    let tensor = fold::range(site.input(0)?, site.input(1)?, site.input(2)?)?;
    site.set(0, tensor);
    Ok(())
}

pub(super) fn cast(site: &mut Site) -> Result<(), Fault> {
    let to = site.attributes().int("to")?.ok_or("attribute 'to' is missing")?;
    let to = i32::try_from(to).map_err(|_| format!("attribute 'to' is {to}"))?;
    let to = tensor::dtype(Some(rten_onnx::onnx::DataType(to)))?;
    if site.input(0)?.data.is_some() {
        let x = site.take(0)?;
        site.set(0, fold::cast(x, to)?);
        return Ok(());
    }
    let (dims, from) = (site.shape(0)?, site.input(0)?.dtype);
    if from.is_float() != to.is_float() {
        return Err(format!("a cast from {from} to {to} is computed at import only").into());
    }
    site.emit_as(Op::Copy, &[0], dims, to)
}

/// Products of dimensions, as exporters write them.
pub(super) fn reduce_prod(site: &mut Site) -> Result<(), Fault> {
    must_fold(site)?;
    let data = site.ints(0)?;
    let dims = site.shape(0)?;
    let axes = match site.optional_ints(1)? {
        Some(axes) => Some(axes),
        None => site.attributes().ints("axes")?.map(<[i64]>::to_vec),
    };
    let all = axes.is_none_or(|axes| shapes::axes(&axes, dims.len()).is_ok_and(|a| a.len() == dims.len()));
    if !all {
        return Err("ReduceProd is folded over all axes only".into());
    }
    let product = data.iter().fold(1i64, |n, d| n.wrapping_mul(*d));
    let keep = site.attributes().flag("keepdims", true)?;
    site.set(0, Tensor::ints(if keep { vec![1; dims.len()] } else { vec![] }, vec![product]));
    Ok(())
}
