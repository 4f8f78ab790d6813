//! Element-wise operators. Integer constants are folded in 64 bits, as the arithmetic of shapes needs; all
//! others become nodes.

use crate::graph::{BinaryOp, DType, Op, UnaryOp, ValueId};
use crate::model::onnx::fold;
use crate::model::onnx::site::{Fault, Site};
use crate::model::shape as shapes;

/// Functions of one tensor.
pub(super) fn unary(site: &mut Site) -> Result<(), Fault> {
    let op = match parameterless(site.op()) {
        Some(op) => op,
        None => with_attributes(site)?,
    };
    if site.all_constant_ints() && matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Not) {
        let x = site.take(0)?;
        site.set(0, fold::unary(site.op(), x)?);
        return Ok(());
    }
    let dims = site.shape(0)?;
    match op {
        UnaryOp::IsNan | UnaryOp::IsInf { .. } => site.emit_as(Op::Unary(op), &[0], dims, DType::Bool),
        _ => site.emit(Op::Unary(op), &[0], dims),
    }
}

fn parameterless(op: &str) -> Option<UnaryOp> {
    Some(match op {
        "Abs" => UnaryOp::Abs,
        "Acos" => UnaryOp::Acos,
        "Acosh" => UnaryOp::Acosh,
        "Asin" => UnaryOp::Asin,
        "Asinh" => UnaryOp::Asinh,
        "Atan" => UnaryOp::Atan,
        "Atanh" => UnaryOp::Atanh,
        "BitwiseNot" => UnaryOp::BitwiseNot,
        "Ceil" => UnaryOp::Ceil,
        "Cos" => UnaryOp::Cos,
        "Cosh" => UnaryOp::Cosh,
        "Erf" => UnaryOp::Erf,
        "Exp" => UnaryOp::Exp,
        "Floor" => UnaryOp::Floor,
        "HardSwish" => UnaryOp::HardSwish,
        "IsNaN" => UnaryOp::IsNan,
        "Log" => UnaryOp::Log,
        "Mish" => UnaryOp::Mish,
        "Neg" => UnaryOp::Neg,
        "Not" => UnaryOp::Not,
        "Reciprocal" => UnaryOp::Reciprocal,
        "Relu" => UnaryOp::Relu,
        "Round" => UnaryOp::Round,
        "Sigmoid" => UnaryOp::Sigmoid,
        "Sign" => UnaryOp::Sign,
        "Sin" => UnaryOp::Sin,
        "Sinh" => UnaryOp::Sinh,
        "Softplus" => UnaryOp::Softplus,
        "Softsign" => UnaryOp::Softsign,
        "Sqrt" => UnaryOp::Sqrt,
        "Tan" => UnaryOp::Tan,
        "Tanh" => UnaryOp::Tanh,
        _ => return None,
    })
}

fn with_attributes(site: &Site) -> Result<UnaryOp, Fault> {
    let attributes = site.attributes();
    let float =
        |name: &str, default: f32| -> Result<f32, String> { Ok(attributes.float(name)?.unwrap_or(default)) };
    Ok(match site.op() {
        "Celu" => UnaryOp::Celu { alpha: float("alpha", 1.0)? },
        "Elu" => UnaryOp::Elu { alpha: float("alpha", 1.0)? },
        "Gelu" => match attributes.string("approximate")?.unwrap_or("none") {
            "none" => UnaryOp::Gelu { tanh: false },
            "tanh" => UnaryOp::Gelu { tanh: true },
            other => return Err(format!("attribute 'approximate' is '{other}', not 'none' or 'tanh'").into()),
        },
        "HardSigmoid" => UnaryOp::HardSigmoid { alpha: float("alpha", 0.2)?, beta: float("beta", 0.5)? },
        "IsInf" => UnaryOp::IsInf {
            positive: attributes.flag("detect_positive", true)?,
            negative: attributes.flag("detect_negative", true)?,
        },
        "LeakyRelu" => UnaryOp::LeakyRelu { alpha: float("alpha", 0.01)? },
        // The defaults as the operator states them.
        "Selu" => {
            let (alpha, gamma) = (1.673_263_192_176_818_8_f64, 1.050_701_022_148_132_3_f64);
            UnaryOp::Selu { alpha: float("alpha", alpha as f32)?, gamma: float("gamma", gamma as f32)? }
        }
        "Shrink" => UnaryOp::Shrink { lambda: float("lambd", 0.5)?, bias: float("bias", 0.0)? },
        "ThresholdedRelu" => UnaryOp::ThresholdedRelu { alpha: float("alpha", 1.0)? },
        other => return Err(format!("{other} is not an element-wise function").into()),
    })
}

/// Bounds are attributes before operator set 11, inputs from then on; those that a run computes are a Max and
/// a Min.
pub(super) fn clip(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    if site.opset() < 11 {
        let (min, max) = (site.attributes().float("min")?, site.attributes().float("max")?);
        let op = UnaryOp::Clip { min: min.unwrap_or(f32::MIN), max: max.unwrap_or(f32::MAX) };
        return site.emit(Op::Unary(op), &[0], dims);
    }
    let dtype = site.input(0)?.dtype;
    let constant = |i: usize| site.optional(i).is_none_or(|bound| bound.data.is_some());
    if constant(1) && constant(2) {
        let op = match dtype.int_range() {
            None => {
                let (min, max) = (site.optional_word(1)?, site.optional_word(2)?);
                UnaryOp::Clip { min: min.unwrap_or(f32::MIN), max: max.unwrap_or(f32::MAX) }
            }
            // A bound outside what a run holds is as good as none.
            Some((low, high)) => {
                let bound = |i: usize, open: i32| match site.optional(i).map(|bound| bound.i64_data()) {
                    None => Ok(open),
                    Some(Some([int])) => Ok((*int).clamp(low.into(), high.into()) as i32),
                    Some(_) => Err(format!("bound {i} must be one constant integer")),
                };
                UnaryOp::ClipInt { min: bound(1, low)?, max: bound(2, high)? }
            }
        };
        return site.emit(Op::Unary(op), &[0], dims);
    }
    for i in 1..3 {
        if let Some(bound) = site.optional(i).filter(|bound| bound.shape.iter().product::<usize>() != 1) {
            return Err(format!("bound {i} has shape {:?}, it is one number", bound.shape).into());
        }
    }
    let mut x = site.value(0)?;
    if site.optional(1).is_some() {
        let (op, bound) = (Op::Binary(BinaryOp::Max), site.value(1)?);
        if site.optional(2).is_none() {
            return site.emit_values(op, vec![x, bound], dims);
        }
        x = site.emit_before("raised", op, vec![x, bound], dims.clone())?;
    }
    let bound = site.value(2)?;
    site.emit_values(Op::Binary(BinaryOp::Min), vec![x, bound], dims)
}

/// Add, Sub, Mul, Div, and what is of integers alone.
pub(super) fn binary(site: &mut Site) -> Result<(), Fault> {
    let op = match site.op() {
        "Add" => BinaryOp::Add,
        "Sub" => BinaryOp::Sub,
        "Mul" => BinaryOp::Mul,
        "Div" => BinaryOp::Div,
        "And" | "BitwiseAnd" => BinaryOp::And,
        "Or" | "BitwiseOr" => BinaryOp::Or,
        "Xor" | "BitwiseXor" => BinaryOp::Xor,
        "BitShift" => match site.attributes().string("direction")? {
            Some("LEFT") => BinaryOp::ShiftLeft,
            Some("RIGHT") => BinaryOp::ShiftRight,
            other => return Err(format!("attribute 'direction' is {other:?}, not LEFT or RIGHT").into()),
        },
        other => return Err(format!("{other} is not a function of two tensors").into()),
    };
    // Large weights are made by these, in the bytes of an operand.
    if site.all_constant() && fold::is_binary(site.op(), site.input(0)?.dtype.is_float()) {
        return fold_binary(site);
    }
    let dims = shapes::broadcast(&site.input(0)?.shape, &site.input(1)?.shape)?;
    site.emit(Op::Binary(op), &[0, 1], dims)
}

/// Base and exponent may differ in type; the result has the type of the base.
pub(super) fn pow(site: &mut Site) -> Result<(), Fault> {
    let (base, exponent) = (site.input(0)?.clone(), site.input(1)?.clone());
    let dims = shapes::broadcast(&base.shape, &exponent.shape)?;
    let op = Op::Binary(BinaryOp::Pow);
    let (x, e) = (site.value(0)?, site.value(1)?);
    let cast = |site: &mut Site, what: &str, value: ValueId, shape: Vec<usize>| {
        site.emit_before_as(what, Op::Cast, vec![value], shape, DType::F32)
    };
    match (base.dtype.is_float(), exponent.dtype.is_float()) {
        (true, false) => {
            let e = cast(site, "exponent", e, exponent.shape)?;
            site.emit_values(op, vec![x, e], dims)
        }
        (false, true) => {
            let x = cast(site, "base", x, base.shape)?;
            let power = site.emit_before("power", op, vec![x, e], dims.clone())?;
            site.emit_output_as(0, Op::Cast, vec![power], dims, base.dtype)
        }
        _ => site.emit_values(op, vec![x, e], dims),
    }
}

pub(super) fn prelu(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    shapes::broadcasts_to(&site.input(1)?.shape, &dims)?;
    site.emit(Op::Binary(BinaryOp::Prelu), &[0, 1], dims)
}

/// Shape of all inputs broadcast together.
fn broadcast_all(site: &Site) -> Result<Vec<usize>, Fault> {
    let mut dims = site.shape(0)?;
    for i in 1..site.input_count() {
        dims = shapes::broadcast(&dims, &site.input(i)?.shape)?;
    }
    Ok(dims)
}

/// Sum, and Mean, which is the sum divided.
pub(super) fn sum(site: &mut Site) -> Result<(), Fault> {
    let count = site.input_count();
    let dims = broadcast_all(site)?;
    let op = if count == 1 { Op::Copy } else { Op::Sum };
    let inputs = (0..count).map(|i| site.value(i)).collect::<Result<Vec<_>, _>>()?;
    if site.op() == "Sum" || count == 1 {
        return site.emit_values(op, inputs, dims);
    }
    let total = site.emit_before("total", op, inputs, dims.clone())?;
    let divisor = site.constant("count", vec![], vec![count as f32]);
    site.emit_values(Op::Binary(BinaryOp::Div), vec![total, divisor], dims)
}

/// Max and Min of any number of inputs: the first two, then each further one.
pub(super) fn extreme(site: &mut Site) -> Result<(), Fault> {
    if site.all_constant_ints() {
        return fold_binary(site);
    }
    let op = Op::Binary(if site.op() == "Max" { BinaryOp::Max } else { BinaryOp::Min });
    let (count, mut dims) = (site.input_count(), site.shape(0)?);
    if count < 2 {
        return site.emit(Op::Copy, &[0], dims);
    }
    let mut so_far = site.value(0)?;
    for i in 1..count {
        dims = shapes::broadcast(&dims, &site.input(i)?.shape)?;
        let pair = vec![so_far, site.value(i)?];
        if i + 1 == count {
            return site.emit_values(op, pair, dims);
        }
        so_far = site.emit_before(&i.to_string(), op.clone(), pair, dims.clone())?;
    }
    Ok(())
}

pub(super) fn modulo(site: &mut Site) -> Result<(), Fault> {
    let fmod = site.attributes().flag("fmod", false)?;
    if site.all_constant_ints() {
        let (a, b) = (site.take(0)?, site.take(1)?);
        site.set(0, fold::modulo(a, b, fmod)?);
        return Ok(());
    }
    if site.input(0)?.dtype.is_float() && !fmod {
        return Err("floats need fmod = 1".into());
    }
    let dims = shapes::broadcast(&site.input(0)?.shape, &site.input(1)?.shape)?;
    site.emit(Op::Binary(BinaryOp::Mod { truncated: fmod }), &[0, 1], dims)
}

/// Functions of two tensors or more, at import.
fn fold_binary(site: &mut Site) -> Result<(), Fault> {
    let mut result = site.take(0)?;
    for i in 1..site.input_count() {
        let next = site.take(i)?;
        result = fold::binary(site.op(), result, next)?;
    }
    site.set(0, result);
    Ok(())
}

pub(super) fn compare(site: &mut Site) -> Result<(), Fault> {
    if site.all_constant_ints() {
        let (a, b) = (site.take(0)?, site.take(1)?);
        site.set(0, fold::compare(site.op(), a, b)?);
        return Ok(());
    }
    let op = match site.op() {
        "Equal" => BinaryOp::Equal,
        "Less" => BinaryOp::Less,
        "Greater" => BinaryOp::Greater,
        "LessOrEqual" => BinaryOp::LessOrEqual,
        _ => BinaryOp::GreaterOrEqual,
    };
    let dims = shapes::broadcast(&site.input(0)?.shape, &site.input(1)?.shape)?;
    site.emit_as(Op::Binary(op), &[0, 1], dims, DType::Bool)
}

pub(super) fn choose(site: &mut Site) -> Result<(), Fault> {
    if site.all_constant_ints() {
        let (condition, a, b) = (site.take(0)?, site.take(1)?, site.take(2)?);
        site.set(0, fold::select(&condition, a, b)?);
        return Ok(());
    }
    let (dims, dtype) = (broadcast_all(site)?, site.input(1)?.dtype);
    site.emit_as(Op::Select, &[0, 1, 2], dims, dtype)
}
