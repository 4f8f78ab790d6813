//! Element-wise operators.

use super::must_fold;
use crate::graph::{BinaryOp, Op, UnaryOp};
use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::{fold, shape as shapes};

/// Functions of one tensor that exist at run time.
pub(super) fn unary(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    let float =
        |name: &str, default: f32| -> Result<f32, String> { Ok(attributes.float(name)?.unwrap_or(default)) };
    let op = match site.op() {
        "Relu" => UnaryOp::Relu,
        "LeakyRelu" => UnaryOp::LeakyRelu { alpha: float("alpha", 0.01)? },
        "Sigmoid" => UnaryOp::Sigmoid,
        "Tanh" => UnaryOp::Tanh,
        "HardSigmoid" => UnaryOp::HardSigmoid { alpha: float("alpha", 0.2)?, beta: float("beta", 0.5)? },
        "HardSwish" => UnaryOp::HardSwish,
        "Sqrt" => UnaryOp::Sqrt,
        "Exp" => UnaryOp::Exp,
        "Neg" => UnaryOp::Neg,
        "Reciprocal" => UnaryOp::Reciprocal,
        other => return Err(format!("{other} is not an element-wise function").into()),
    };
    if site.all_constant() && matches!(op, UnaryOp::Sqrt | UnaryOp::Neg | UnaryOp::Reciprocal) {
        return fold_unary(site);
    }
    let dims = site.shape(0)?;
    site.emit(Op::Unary(op), &[0], dims)
}

pub(super) fn clip(site: &mut Site) -> Result<(), Fault> {
    let (min, max) = if site.opset() < 11 {
        (site.attributes().float("min")?, site.attributes().float("max")?)
    } else {
        (site.optional_float(1)?, site.optional_float(2)?)
    };
    let op = UnaryOp::Clip { min: min.unwrap_or(f32::MIN), max: max.unwrap_or(f32::MAX) };
    let dims = site.shape(0)?;
    site.emit(Op::Unary(op), &[0], dims)
}

/// Add, Sub, Mul, Div.
pub(super) fn binary(site: &mut Site) -> Result<(), Fault> {
    if site.all_constant() {
        return fold_binary(site);
    }
    let op = match site.op() {
        "Add" => BinaryOp::Add,
        "Sub" => BinaryOp::Sub,
        "Mul" => BinaryOp::Mul,
        _ => BinaryOp::Div,
    };
    let dims = shapes::broadcast(&site.input(0)?.shape, &site.input(1)?.shape)?;
    site.emit(Op::Binary(op), &[0, 1], dims)
}

/// The exponent may be an integer of any kind; at run time it is a float.
pub(super) fn pow(site: &mut Site) -> Result<(), Fault> {
    if site.all_constant() {
        let (base, exponent) = (site.take(0)?, site.take(1)?);
        site.set(0, fold::power(base, exponent)?);
        return Ok(());
    }
    let exponent = site.input(1)?;
    let dims = shapes::broadcast(&site.input(0)?.shape, &exponent.shape)?;
    let Some(ints) = exponent.i64_data() else {
        return site.emit(Op::Binary(BinaryOp::Pow), &[0, 1], dims);
    };
    let floats = ints.iter().map(|x| *x as f32).collect();
    let shape = exponent.shape.clone();
    let exponent = site.constant("exponent", shape, floats);
    let base = site.value(0)?;
    site.emit_values(Op::Binary(BinaryOp::Pow), vec![base, exponent], dims)
}

pub(super) fn prelu(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    shapes::broadcasts_to(&site.input(1)?.shape, &dims)?;
    site.emit(Op::Binary(BinaryOp::Prelu), &[0, 1], dims)
}

pub(super) fn sum(site: &mut Site) -> Result<(), Fault> {
    let count = site.input_count();
    let mut dims = site.shape(0)?;
    for i in 1..count {
        dims = shapes::broadcast(&dims, &site.input(i)?.shape)?;
    }
    let op = if count == 1 { Op::Copy } else { Op::Sum };
    site.emit(op, &(0..count).collect::<Vec<_>>(), dims)
}

pub(super) fn modulo(site: &mut Site) -> Result<(), Fault> {
    must_fold(site)?;
    let fmod = site.attributes().flag("fmod", false)?;
    let (a, b) = (site.take(0)?, site.take(1)?);
    site.set(0, fold::modulo(a, b, fmod)?);
    Ok(())
}

/// Functions of two tensors or more, at import.
pub(super) fn fold_binary(site: &mut Site) -> Result<(), Fault> {
    must_fold(site)?;
    let mut result = site.take(0)?;
    for i in 1..site.input_count() {
        let next = site.take(i)?;
        result = fold::binary(site.op(), result, next)?;
    }
    site.set(0, result);
    Ok(())
}

/// Functions of one tensor, at import.
pub(super) fn fold_unary(site: &mut Site) -> Result<(), Fault> {
    must_fold(site)?;
    let x = site.take(0)?;
    site.set(0, fold::unary(site.op(), x)?);
    Ok(())
}

pub(super) fn fold_compare(site: &mut Site) -> Result<(), Fault> {
    must_fold(site)?;
    let (a, b) = (site.take(0)?, site.take(1)?);
    site.set(0, fold::compare(site.op(), a, b)?);
    Ok(())
}

pub(super) fn fold_where(site: &mut Site) -> Result<(), Fault> {
    must_fold(site)?;
    let (condition, a, b) = (site.take(0)?, site.take(1)?, site.take(2)?);
    site.set(0, fold::select(&condition, a, b)?);
    Ok(())
}
