//! Operators that give constants, and casts.

use std::sync::Arc;

use super::must_fold;
use crate::graph::{DType, Op};
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
    } else if let Some(other) = ["value_string", "value_strings", "sparse_value"]
        .into_iter()
        .find(|name| attributes.get(name).is_some())
    {
        return Err(format!("attribute '{other}' is not supported").into());
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

/// The element type that an attribute names.
pub(super) fn named_dtype(site: &Site, name: &str) -> Result<Option<DType>, Fault> {
    let Some(code) = site.attributes().int(name)? else { return Ok(None) };
    let code = i32::try_from(code).map_err(|_| format!("attribute '{name}' is {code}"))?;
    Ok(Some(tensor::dtype(Some(rten_onnx::onnx::DataType(code)))?))
}

/// Ones on one diagonal; its shape is known, so it is constant whatever it reads.
pub(super) fn eye_like(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let dtype = named_dtype(site, "dtype")?.unwrap_or(site.input(0)?.dtype);
    let k = site.attributes().int("k")?.unwrap_or(0);
    let [_, columns] = dims[..] else { return Err(format!("shape {dims:?} is not a matrix").into()) };
    let len = checked_len(&dims, MAX_CONSTANT_LEN)?;
    let on = |i: usize| i128::from(k) == (i % columns) as i128 - (i / columns) as i128;
    let data = match dtype.is_float() {
        true => Constant::F32(Arc::new((0..len).map(|i| f32::from(u8::from(on(i)))).collect())),
        false => Constant::I64(Arc::new((0..len).map(|i| i64::from(on(i))).collect())),
    };
    site.set(0, Tensor::constant(dtype, dims, data));
    Ok(())
}

/// Cast, and CastLike, whose target is the type of its second input.
pub(super) fn cast(site: &mut Site) -> Result<(), Fault> {
    let to = match site.op() {
        "CastLike" => site.input(1)?.dtype,
        _ => named_dtype(site, "to")?.ok_or("attribute 'to' is missing")?,
    };
    if site.input(0)?.data.is_some() {
        let x = site.take(0)?;
        site.set(0, fold::cast(x, to)?);
        return Ok(());
    }
    let (dims, from) = (site.shape(0)?, site.input(0)?.dtype);
    let wide = matches!(to, DType::F32 | DType::F64 | DType::I32 | DType::I64 | DType::U32 | DType::U64);
    let same_words = from == to || (wide && from.is_float() == to.is_float());
    site.emit_as(if same_words { Op::Copy } else { Op::Cast }, &[0], dims, to)
}
