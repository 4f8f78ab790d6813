//! Operators that give constants, and conversions.

use crate::graph::Op;
use crate::model::fault::Fault;
use crate::model::shape as shapes;
use crate::model::size::{MAX_CONSTANT_LEN, MAX_LEN, checked_len, room};
use crate::model::tflite::fold::{self, Ints};
use crate::model::tflite::site::{Out, Site};
use crate::model::tflite::tensor;

/// A constant input of integers.
pub(super) fn ints(site: &mut Site, input: usize) -> Result<Ints, Fault> {
    let shape = site.shape(input)?;
    Ok(Ints { shape, data: site.ints(input)?.to_vec() })
}

/// The one integer of a constant input.
pub(super) fn int(site: &mut Site, input: usize) -> Result<i64, Fault> {
    match site.ints(input)?[..] {
        [value] => Ok(value),
        ref list => Err(format!("input {input} holds {} numbers, one is due", list.len()).into()),
    }
}

/// Half precision, sparse and quantised constants become floats when they are read; what is computed at run
/// time is float32 already.
pub(super) fn dequantize(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    site.relabel(0, shape, |layout| Some(layout.clone()))
}

/// The dimensions are known, so this is constant whatever it reads.
pub(super) fn shape(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    site.set_ints(vec![dims.len()], dims.iter().map(|d| *d as i64).collect())
}

pub(super) fn rank(site: &mut Site) -> Result<(), Fault> {
    let rank = site.shape(0)?.len() as i64;
    site.set_ints(vec![], vec![rank])
}

pub(super) fn cast(site: &mut Site) -> Result<(), Fault> {
    let to = tensor::dtype(site.output_type(0)?)?;
    let shape = site.shape(0)?;
    if site.is_ints(0) {
        let data = site.ints(0)?;
        return match to.is_float() {
            true => site.set_floats(shape, data.iter().map(|x| *x as f32).collect()),
            false => site.set_ints(shape, data.to_vec()),
        };
    }
    let from = site.tensor(0)?.dtype;
    if from.is_float() && to.is_float() {
        return site.relabel(0, shape, |layout| Some(layout.clone()));
    }
    let (value, out) = site.stored(0)?;
    site.emit(Op::Cast, vec![value], Out { dtype: Some(to), ..out })
}

pub(super) fn fill(site: &mut Site) -> Result<(), Fault> {
    let dims = shapes::dims(&site.ints(0)?)?;
    let len = checked_len(&dims, MAX_CONSTANT_LEN)?;
    if site.is_ints(1) {
        let value = int(site, 1)?;
        let mut data = room(len)?;
        data.resize(len, value);
        return site.set_ints(dims, data);
    }
    let value = site.number(1)?.ok_or("input 1 must be one constant number")?;
    let mut data = room(len)?;
    data.resize(len, value);
    site.set_floats(dims, data)
}

pub(super) fn range(site: &mut Site) -> Result<(), Fault> {
    let (start, limit, step) = (int(site, 0)?, int(site, 1)?, int(site, 2)?);
    let distance = i128::from(limit) - i128::from(start);
    let len = match step {
        0 => return Err("step is 0".into()),
        step => (distance / i128::from(step) + i128::from(distance % i128::from(step) != 0)).max(0),
    };
    let len = usize::try_from(len).ok().filter(|len| *len <= MAX_CONSTANT_LEN);
    let len =
        len.ok_or_else(|| format!("{start} to {limit} by {step} has more than {MAX_CONSTANT_LEN} numbers"))?;
    let mut data = room(len)?;
    data.extend((0..len as i64).map(|i| start + i * step));
    site.set_ints(vec![len], data)
}

/// Reductions of constant integers.
pub(super) fn reduce(site: &mut Site, axes: &[usize], keep: bool) -> Result<(), Fault> {
    let x = ints(site, 0)?;
    let f: fn(i64, i64) -> i64 = match site.op() {
        "REDUCE_PROD" => i64::wrapping_mul,
        "SUM" => i64::wrapping_add,
        "REDUCE_MAX" => i64::max,
        "REDUCE_MIN" => i64::min,
        other => return Err(format!("{other} of integers is not supported").into()),
    };
    if x.data.is_empty() {
        return Err(format!("{} of {:?}, which has no element", site.op(), x.shape).into());
    }
    let result = fold::reduce(&x, axes, f);
    let kept = |d: &usize| keep || !axes.contains(d);
    let shape = (0..x.shape.len()).filter(kept).map(|d| result.shape[d]).collect();
    site.set_ints(shape, result.data)
}

pub(super) fn broadcast_to(site: &mut Site) -> Result<(), Fault> {
    let shape = shapes::dims(&site.ints(1)?)?;
    checked_len(&shape, MAX_LEN)?;
    let from = site.shape(0)?;
    shapes::broadcasts_to(&from, &shape)?;
    if site.is_ints(0) {
        let zeros = Ints { data: vec![0; checked_len(&shape, MAX_CONSTANT_LEN)?], shape };
        let result = fold::binary(&ints(site, 0)?, &zeros, |a, _| Some(a))?;
        return site.set_ints(result.shape, result.data);
    }
    let widened = [vec![1; shape.len() - from.len()], from].concat();
    let view = site.view_as(0, &widened)?;
    site.emit(Op::Expand, vec![view.value], Out::permuted(shape, &view.perm))
}

/// Each dimension repeated as often as input 1 says.
pub(super) fn tile(site: &mut Site) -> Result<(), Fault> {
    let (from, repeats) = (site.shape(0)?, shapes::dims(&site.ints(1)?)?);
    if repeats.len() != from.len() {
        return Err(format!("{} repeats for {} dimensions", repeats.len(), from.len()).into());
    }
    let shape = from.iter().zip(&repeats).map(|(dim, n)| dim.checked_mul(*n)).collect::<Option<Vec<_>>>();
    let shape = shape.ok_or_else(|| format!("{from:?} repeated {repeats:?} times"))?;
    let view = site.view(0)?;
    site.emit(Op::Tile, vec![view.value], Out::permuted(shape, &view.perm))
}

pub(super) fn zeros_like(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let mut zeros = room(checked_len(&shape, MAX_CONSTANT_LEN)?)?;
    if site.tensor(0)?.dtype.is_float() {
        zeros.resize(shape.iter().product(), 0.0);
        return site.set_floats(shape, zeros);
    }
    let zeros = vec![0; shape.iter().product()];
    site.set_ints(shape, zeros)
}
