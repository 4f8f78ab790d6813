//! Element-wise operators.

use crate::graph::{BinaryOp, DType, Op, UnaryOp, ValueId};
use crate::model::fault::Fault;
use crate::model::shape as shapes;
use crate::model::tflite::fold;
use crate::model::tflite::layout::Layout;
use crate::model::tflite::site::{Out, Site};

use super::constant::ints;

/// Functions of one tensor: whatever the order of its elements.
pub(super) fn unary(site: &mut Site) -> Result<(), Fault> {
    let op = match site.op() {
        "RELU" => UnaryOp::Relu,
        "RELU6" => UnaryOp::Clip { min: 0.0, max: 6.0 },
        "RELU_N1_TO_1" => UnaryOp::Clip { min: -1.0, max: 1.0 },
        "RELU_0_TO_1" => UnaryOp::Clip { min: 0.0, max: 1.0 },
        "LEAKY_RELU" => UnaryOp::LeakyRelu { alpha: site.option(0, 0.0)? },
        "LOGISTIC" => UnaryOp::Sigmoid,
        "TANH" => UnaryOp::Tanh,
        "HARD_SWISH" => UnaryOp::HardSwish,
        "SQRT" => UnaryOp::Sqrt,
        "EXP" => UnaryOp::Exp,
        "NEG" => UnaryOp::Neg,
        "ABS" => UnaryOp::Abs,
        "SIGN" => UnaryOp::Sign,
        "FLOOR" => UnaryOp::Floor,
        "CEIL" => UnaryOp::Ceil,
        "ROUND" => UnaryOp::Round,
        "LOG" => UnaryOp::Log,
        "SIN" => UnaryOp::Sin,
        "COS" => UnaryOp::Cos,
        "ELU" => UnaryOp::Elu { alpha: 1.0 },
        "GELU" => UnaryOp::Gelu { tanh: site.flag(0)? },
        "LOGICAL_NOT" => UnaryOp::Not,
        other => return Err(format!("{other} is not an element-wise function").into()),
    };
    if site.all_ints() && op == UnaryOp::Neg {
        let x = ints(site, 0)?;
        return site.set_ints(x.shape, x.data.iter().map(|x| x.wrapping_neg()).collect());
    }
    let (value, out) = site.stored(0)?;
    site.emit(Op::Unary(op), vec![value], out)
}

/// `1 / sqrt(x)`.
pub(super) fn rsqrt(site: &mut Site) -> Result<(), Fault> {
    let (value, out) = site.stored(0)?;
    let root = site.before("sqrt", Op::Unary(UnaryOp::Sqrt), vec![value], &out.dims)?;
    site.emit(Op::Unary(UnaryOp::Reciprocal), vec![root], out)
}

/// `x * x`.
pub(super) fn square(site: &mut Site) -> Result<(), Fault> {
    let (value, out) = site.stored(0)?;
    site.emit(Op::Binary(BinaryOp::Mul), vec![value, value], out)
}

/// ADD, SUB, MUL, DIV with a fused activation; the others have none.
pub(super) fn binary(site: &mut Site) -> Result<(), Fault> {
    if site.all_ints() {
        return fold_binary(site);
    }
    let op = match site.op() {
        "ADD" => BinaryOp::Add,
        "SUB" => BinaryOp::Sub,
        "MUL" => BinaryOp::Mul,
        "DIV" => BinaryOp::Div,
        "POW" => BinaryOp::Pow,
        other => return Err(format!("{other} is not a function of two tensors").into()),
    };
    let activation = if op == BinaryOp::Pow { None } else { site.activation(0)? };
    let (inputs, out) = operands(site)?;
    site.emit_activated(Op::Binary(op), inputs, out, activation)
}

/// `x` where it is positive, else the second input times it.
pub(super) fn prelu(site: &mut Site) -> Result<(), Fault> {
    let (inputs, out) = operands(site)?;
    if out.shape != site.shape(0)? {
        return Err(
            format!("slopes {:?} are wider than the input {:?}", site.shape(1)?, site.shape(0)?).into()
        );
    }
    site.emit(Op::Binary(BinaryOp::Prelu), inputs, out)
}

/// `(a - b)^2`.
pub(super) fn squared_difference(site: &mut Site) -> Result<(), Fault> {
    let (inputs, out) = operands(site)?;
    let difference = site.before("difference", Op::Binary(BinaryOp::Sub), inputs, &out.dims)?;
    site.emit(Op::Binary(BinaryOp::Mul), vec![difference, difference], out)
}

/// MAXIMUM and MINIMUM; with one constant number they are bounds.
pub(super) fn extreme(site: &mut Site) -> Result<(), Fault> {
    if site.all_ints() {
        return fold_binary(site);
    }
    let largest = site.op() == "MAXIMUM";
    for (number, other) in [(1, 0), (0, 1)] {
        let Some(bound) = site.number(number)? else { continue };
        let op = match largest {
            true => UnaryOp::Clip { min: bound, max: f32::MAX },
            false => UnaryOp::Clip { min: f32::MIN, max: bound },
        };
        let (value, mut out) = site.stored(other)?;
        out.shape = shapes::broadcast(&site.shape(0)?, &site.shape(1)?)?;
        return site.emit(Op::Unary(op), vec![value], out);
    }
    let (inputs, out) = operands(site)?;
    let op = if largest { BinaryOp::Max } else { BinaryOp::Min };
    site.emit(Op::Binary(op), inputs, out)
}

/// Comparisons, whose result is bool.
pub(super) fn compare(site: &mut Site) -> Result<(), Fault> {
    let op = match site.op() {
        "EQUAL" | "NOT_EQUAL" => BinaryOp::Equal,
        "LESS" => BinaryOp::Less,
        "LESS_EQUAL" => BinaryOp::LessOrEqual,
        "GREATER" => BinaryOp::Greater,
        _ => BinaryOp::GreaterOrEqual,
    };
    let (inputs, out) = operands(site)?;
    let out = Out { dtype: Some(DType::Bool), ..out };
    if site.op() != "NOT_EQUAL" {
        return site.emit(Op::Binary(op), inputs, out);
    }
    let equal = site.before_as("equal", Op::Binary(op), inputs, &out.dims, DType::Bool)?;
    site.emit(Op::Unary(UnaryOp::Not), vec![equal], out)
}

/// LOGICAL_AND and LOGICAL_OR.
pub(super) fn logical(site: &mut Site) -> Result<(), Fault> {
    let op = if site.op() == "LOGICAL_AND" { BinaryOp::And } else { BinaryOp::Or };
    let (inputs, out) = operands(site)?;
    site.emit(Op::Binary(op), inputs, out)
}

/// FLOOR_DIV of floats; that of integers is computed at import only.
pub(super) fn floor_div(site: &mut Site) -> Result<(), Fault> {
    if site.all_ints() {
        return fold_binary(site);
    }
    let (inputs, out) = operands(site)?;
    let quotient = site.before("quotient", Op::Binary(BinaryOp::Div), inputs, &out.dims)?;
    site.emit(Op::Unary(UnaryOp::Floor), vec![quotient], out)
}

/// SELECT (whose condition may be one element a row) and SELECT_V2.
pub(super) fn select(site: &mut Site) -> Result<(), Fault> {
    let mut given = [site.shape(0)?, site.shape(1)?, site.shape(2)?];
    if site.op() == "SELECT" && given[0].len() == 1 && given[1].len() > 1 {
        given[0].resize(given[1].len(), 1);
    }
    let shape = shapes::broadcast(&shapes::broadcast(&given[0], &given[1])?, &given[2])?;
    let rank = shape.len();
    let widened = given.map(|s| [vec![1; rank - s.len()], s].concat());
    // The largest that is computed at run time says in which order.
    let weight = |i: &usize| (!site.is_constant(*i), widened[*i].iter().product::<usize>());
    let lead = (0..3).max_by_key(weight).unwrap_or(0);
    let perm = site.view_as(lead, &widened[lead])?.perm;
    let mut inputs = Vec::with_capacity(3);
    for (input, shape) in widened.iter().enumerate() {
        let dims: Vec<usize> = perm.iter().map(|axis| shape[*axis]).collect();
        inputs.push(site.place(input, &Layout::permuted(shape, &perm), &dims)?);
    }
    let dtype = Some(site.tensor(1)?.dtype);
    site.emit(Op::Select, inputs, Out { dtype, ..Out::permuted(shape, &perm) })
}

pub(super) fn add_n(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let first = site.view(0)?;
    let mut inputs = vec![first.value];
    for input in 1..site.input_count() {
        if site.shape(input)? != shape {
            return Err(format!("shapes {shape:?} and {:?} differ", site.shape(input)?).into());
        }
        inputs.push(site.permuted(input, &first.perm)?);
    }
    let op = if inputs.len() == 1 { Op::Copy } else { Op::Sum };
    site.emit(op, inputs, Out::permuted(shape, &first.perm))
}

/// Both inputs in one order, and what a function of them writes.
fn operands(site: &mut Site) -> Result<(Vec<ValueId>, Out), Fault> {
    let shapes = [site.shape(0)?, site.shape(1)?];
    let shape = shapes::broadcast(&shapes[0], &shapes[1])?;
    let lens = [0, 1].map(|i| shapes[i].iter().product::<usize>());
    // A number goes with any order.
    for (number, other) in [(1, 0), (0, 1)] {
        if lens[number] == 1 && site.is_constant(number) && !site.is_constant(other) {
            let (value, mut out) = site.stored(other)?;
            out.shape = shape;
            let number_value = site.plain(number, &[])?;
            let inputs = if number == 1 { vec![value, number_value] } else { vec![number_value, value] };
            return Ok((inputs, out));
        }
    }
    let rank = shape.len();
    let widened = shapes.map(|s| [vec![1; rank - s.len()], s].concat());
    let lead = leader(site, lens)?;
    let view = site.view_as(lead, &widened[lead])?;
    let follower = &widened[1 - lead];
    let dims = view.arrange(follower);
    let other = site.place(1 - lead, &Layout::permuted(follower, &view.perm), &dims)?;
    let inputs = if lead == 0 { vec![view.value, other] } else { vec![other, view.value] };
    Ok((inputs, Out::permuted(shape, &view.perm)))
}

/// The input whose order the other takes: one computed at run time, the larger, the one that is not in
/// TFLite's order (an image goes on to kernels that want it so).
fn leader(site: &mut Site, lens: [usize; 2]) -> Result<usize, Fault> {
    let mut rank = [(false, 0, false); 2];
    for (input, rank) in rank.iter_mut().enumerate() {
        *rank = (!site.is_constant(input), lens[input], !site.layout(input)?.is_plain());
    }
    Ok(usize::from(rank[1] > rank[0]))
}

fn fold_binary(site: &mut Site) -> Result<(), Fault> {
    let (a, b) = (ints(site, 0)?, ints(site, 1)?);
    let f: fn(i64, i64) -> Option<i64> = match site.op() {
        "ADD" => |a, b| Some(a.wrapping_add(b)),
        "SUB" => |a, b| Some(a.wrapping_sub(b)),
        "MUL" => |a, b| Some(a.wrapping_mul(b)),
        "DIV" => i64::checked_div,
        "FLOOR_DIV" => fold::floor_div,
        "FLOOR_MOD" => |a, b| Some(a.wrapping_sub(fold::floor_div(a, b)?.wrapping_mul(b))),
        "MAXIMUM" => |a, b| Some(a.max(b)),
        "MINIMUM" => |a, b| Some(a.min(b)),
        other => return Err(format!("{other} of integers is not supported").into()),
    };
    let result = fold::binary(&a, &b, f)?;
    site.set_ints(result.shape, result.data)
}

/// FLOOR_MOD.
pub(super) fn floor_mod(site: &mut Site) -> Result<(), Fault> {
    if site.all_ints() {
        return fold_binary(site);
    }
    let (inputs, out) = operands(site)?;
    if !site.tensor(0)?.dtype.is_float() {
        return site.emit(Op::Binary(BinaryOp::Mod { truncated: false }), inputs, out);
    }
    // a - floor(a / b) * b.
    let [a, b] = inputs[..] else { return Err("two inputs are due".into()) };
    let quotient = site.before("quotient", Op::Binary(BinaryOp::Div), vec![a, b], &out.dims)?;
    let whole = site.before("whole", Op::Unary(UnaryOp::Floor), vec![quotient], &out.dims)?;
    let product = site.before("product", Op::Binary(BinaryOp::Mul), vec![whole, b], &out.dims)?;
    site.emit(Op::Binary(BinaryOp::Sub), vec![a, product], out)
}
