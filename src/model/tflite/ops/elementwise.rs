//! Element-wise operators.

use crate::graph::{BinaryOp, Op, UnaryOp, ValueId};
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

/// MAXIMUM and MINIMUM with one constant number are bounds.
pub(super) fn extreme(site: &mut Site) -> Result<(), Fault> {
    if site.all_ints() {
        return fold_binary(site);
    }
    let (bound, input) = match (site.number(1)?, site.number(0)?) {
        (Some(bound), _) => (bound, 0),
        (None, Some(bound)) => (bound, 1),
        (None, None) => return Err("neither input is one constant number; others are not supported".into()),
    };
    let op = match site.op() {
        "MAXIMUM" => UnaryOp::Clip { min: bound, max: f32::MAX },
        _ => UnaryOp::Clip { min: f32::MIN, max: bound },
    };
    let (value, mut out) = site.stored(input)?;
    out.shape = shapes::broadcast(&site.shape(0)?, &site.shape(1)?)?;
    site.emit(Op::Unary(op), vec![value], out)
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
            let number_value = site.plain(number, &[1])?;
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

/// FLOOR_DIV and FLOOR_MOD are computed at import only.
pub(super) fn fold_only(site: &mut Site) -> Result<(), Fault> {
    match site.all_ints() {
        true => fold_binary(site),
        false => {
            Err(format!("{} is computed at import only, and an input is not constant integers", site.op())
                .into())
        }
    }
}
