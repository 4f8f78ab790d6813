//! Element-wise operators: unary, casts, binary and choice with broadcasting, sum.

use super::LowerError;
use super::segments::{Segment, Walked};
use super::site::Site;
use super::strides::{Space, broadcast, row_major};
use crate::graph::{BinaryOp, DType, UnaryOp, Value};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Function of `unary.wgsl`: code and two constants.
fn unary_code(op: UnaryOp) -> Option<(u32, f32, f32)> {
    Some(match op {
        UnaryOp::Relu => (0, 0.0, 0.0),
        UnaryOp::LeakyRelu { alpha } => (1, alpha, 0.0),
        UnaryOp::Clip { min, max } => (2, min, max),
        UnaryOp::Sigmoid => (3, 0.0, 0.0),
        UnaryOp::Tanh => (4, 0.0, 0.0),
        UnaryOp::HardSigmoid { alpha, beta } => (5, alpha, beta),
        UnaryOp::HardSwish => (6, 0.0, 0.0),
        UnaryOp::Sqrt => (7, 0.0, 0.0),
        UnaryOp::Exp => (8, 0.0, 0.0),
        UnaryOp::Neg => (9, 0.0, 0.0),
        UnaryOp::Reciprocal => (10, 0.0, 0.0),
        UnaryOp::Abs => (11, 0.0, 0.0),
        UnaryOp::Floor => (12, 0.0, 0.0),
        UnaryOp::Ceil => (13, 0.0, 0.0),
        UnaryOp::Round => (14, 0.0, 0.0),
        UnaryOp::Sign => (15, 0.0, 0.0),
        UnaryOp::Log => (16, 0.0, 0.0),
        UnaryOp::Erf => (17, 0.0, 0.0),
        UnaryOp::Softplus => (18, 0.0, 0.0),
        UnaryOp::Softsign => (19, 0.0, 0.0),
        UnaryOp::Elu { alpha } => (20, alpha, 0.0),
        UnaryOp::Selu { alpha, gamma } => (21, alpha, gamma),
        UnaryOp::Celu { alpha } => (22, alpha, 0.0),
        UnaryOp::ThresholdedRelu { alpha } => (23, alpha, 0.0),
        UnaryOp::Mish => (24, 0.0, 0.0),
        UnaryOp::Gelu { tanh } => (if tanh { 26 } else { 25 }, 0.0, 0.0),
        UnaryOp::Shrink { lambda, bias } => (27, lambda, bias),
        _ => return None,
    })
}

/// Function of `trigonometry.wgsl`.
fn trigonometry_code(op: UnaryOp) -> Option<u32> {
    Some(match op {
        UnaryOp::Sin => 0,
        UnaryOp::Cos => 1,
        UnaryOp::Tan => 2,
        UnaryOp::Asin => 3,
        UnaryOp::Acos => 4,
        UnaryOp::Atan => 5,
        UnaryOp::Sinh => 6,
        UnaryOp::Cosh => 7,
        UnaryOp::Asinh => 8,
        UnaryOp::Acosh => 9,
        UnaryOp::Atanh => 10,
        _ => return None,
    })
}

/// Function of `unary_int.wgsl`: code and two constants.
fn unary_int_code(op: UnaryOp) -> Option<(u32, i32, i32)> {
    Some(match op {
        UnaryOp::Neg => (0, 0, 0),
        UnaryOp::Abs => (1, 0, 0),
        UnaryOp::Sign => (2, 0, 0),
        UnaryOp::Not => (3, 0, 0),
        UnaryOp::BitwiseNot => (4, 0, 0),
        UnaryOp::ClipInt { min, max } => (5, min, max),
        UnaryOp::Relu => (6, 0, 0),
        _ => return None,
    })
}

/// Code of a function of two operands in its kernel; the three kernels share their codes where they share the
/// function.
fn binary_code(op: BinaryOp, floats: bool) -> Option<(KernelId, u32)> {
    use BinaryOp::*;
    let code = match op {
        Add => 0,
        Sub => 1,
        Mul => 2,
        Div => 3,
        Pow => 4,
        Prelu => 5,
        Min => 6,
        Max => 7,
        Mod { truncated: true } => 8,
        Mod { truncated: false } => 9,
        And => 10,
        Or => 11,
        Xor => 12,
        ShiftLeft => 13,
        ShiftRight => 14,
        Equal => 15,
        Less => 16,
        Greater => 17,
        LessOrEqual => 18,
        GreaterOrEqual => 19,
    };
    match (floats, code) {
        (false, code) => Some((KernelId::BinaryInt, code)),
        (true, 0..9) => Some((KernelId::Binary, code)),
        (true, 15..) => Some((KernelId::Compare, code)),
        (true, _) => None,
    }
}

/// How a shader brings an integer into the range of its type.
pub(super) fn wrap_code(dtype: DType) -> u32 {
    match dtype {
        DType::I8 => 1,
        DType::U8 => 2,
        DType::I16 => 3,
        DType::U16 => 4,
        DType::Bool => 5,
        _ => 0,
    }
}

pub(super) fn lower_unary(site: &Site, op: UnaryOp) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    let wrap = wrap_code(site.output.dtype);
    let plain = |code: u32| move |params: ParamWriter| params.u32(code);
    match (op, x.is_float()) {
        (UnaryOp::IsNan, true) => map(site, KernelId::Convert, |params| params.u32(6).u32(0)),
        (UnaryOp::IsInf { positive, negative }, true) => {
            let ends = u32::from(positive) | u32::from(negative) << 1;
            map(site, KernelId::Convert, |params| params.u32(7).u32(ends))
        }
        (op, true) => match (unary_code(op), trigonometry_code(op)) {
            (Some((code, a, b)), _) => map(site, KernelId::Unary, |params| params.u32(code).f32(a).f32(b)),
            (None, Some(code)) => map(site, KernelId::Trigonometry, plain(code)),
            (None, None) => Err(site.unsupported("not a function of floats")),
        },
        (op, false) => match unary_int_code(op) {
            Some((code, a, b)) => {
                map(site, KernelId::UnaryInt, |params| params.u32(code).i32(a).i32(b).u32(wrap))
            }
            None => Err(site.unsupported("not a function of integers")),
        },
    }
}

pub(super) fn lower_cast(site: &Site) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    let to = site.output.dtype;
    let code = match (x.is_float(), to.is_float()) {
        (true, true) if to == DType::F16 && x.dtype != DType::F16 => 4,
        (true, true) if to == DType::BF16 && x.dtype != DType::BF16 => 5,
        (true, true) => return super::shape::lower_copy(site),
        (true, false) if to == DType::Bool => 2,
        (true, false) => 0,
        // What float16 holds of integers is what float32 holds, rounded again.
        (false, true) => 1,
        (false, false) if wrap_code(to) == 0 => return super::shape::lower_copy(site),
        (false, false) => 3,
    };
    map(site, KernelId::Convert, |params| params.u32(code).u32(wrap_code(to)))
}

/// One dispatch an input's element, each writing the output's element of the same place; `rest` writes what
/// follows `count` in the block.
fn map(
    site: &Site,
    kernel: KernelId,
    rest: impl Fn(ParamWriter) -> ParamWriter,
) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_output(&x.shape)?;
    let line = |operand| Walked { operand, start: 0, strides: vec![1], tail_len: 1, movable: false };
    let segments = site.segments(&[x.len()], &[line(site.operand(0)), line(site.output_operand())]);
    let dispatch = |segment: &Segment| {
        let params = rest(ParamWriter::new(2).u32(segment.dims[0] as u32));
        site.linear_segment(kernel, segment, params)
    };
    segments.iter().map(dispatch).collect()
}

/// Inputs condition, a, b.
pub(super) fn lower_select(site: &Site) -> Result<Vec<Dispatch>, LowerError> {
    let values = site.inputs::<3>()?;
    let shape = &site.output.shape;
    let strides = values.map(|value| broadcast(&value.shape, shape));
    let [Some(c), Some(a), Some(b)] = &strides else {
        let shapes = values.map(|value| &value.shape);
        return Err(site.unsupported(format!("{shapes:?} do not broadcast to {shape:?}")));
    };
    let space = Space::new(site, shape, [c, a, b])?;
    let mut walked: Vec<Walked> = (0..3).map(|k| space.walked(k, site.operand(k), 0)).collect();
    walked.push(whole_output(site, &space));
    let dispatch = |segment: &Segment| {
        let space = space.part(site, segment)?;
        let count = segment.dims.iter().product::<usize>() as u32;
        let params = ParamWriter::new(4).u32(count).u32(space.rank());
        let params = segment.starts[..3].iter().fold(params, |params, start| params.u32(*start as u32));
        site.linear_segment(KernelId::Select, segment, space.write(params))
    };
    site.segments(space.dims(), &walked).iter().map(dispatch).collect()
}

/// The output, written front to back.
fn whole_output<const K: usize>(site: &Site, space: &Space<K>) -> Walked {
    let strides = row_major(space.dims());
    Walked { operand: site.output_operand(), start: 0, strides, tail_len: 1, movable: false }
}

pub(super) fn lower_binary(site: &Site, op: BinaryOp) -> Result<Vec<Dispatch>, LowerError> {
    let [a, b] = site.inputs()?;
    binary(site, op, [a, b], [site.operand(0), site.operand(1)])
}

/// The first two inputs are added, then each further one to the output, which is then bound twice.
pub(super) fn lower_sum(site: &Site) -> Result<Vec<Dispatch>, LowerError> {
    let inputs = &site.inputs;
    match inputs[..] {
        [] => Err(site.unsupported("0 inputs, needs 1 or more")),
        [x] => super::shape::lower_expanded(site, x),
        [first, second, ..] => {
            let operands = [site.operand(0), site.operand(1)];
            let mut dispatches = binary(site, BinaryOp::Add, [first, second], operands)?;
            for (i, next) in inputs.iter().enumerate().skip(2) {
                let operands = [site.output_operand(), site.operand(i)];
                dispatches.extend(binary(site, BinaryOp::Add, [site.output, next], operands)?);
            }
            Ok(dispatches)
        }
    }
}

fn binary(
    site: &Site,
    op: BinaryOp,
    values: [&Value; 2],
    operands: [Operand; 2],
) -> Result<Vec<Dispatch>, LowerError> {
    let [a, b] = values;
    let shape = &site.output.shape;
    let (Some(a_strides), Some(b_strides)) = (broadcast(&a.shape, shape), broadcast(&b.shape, shape)) else {
        return Err(
            site.unsupported(format!("{:?} and {:?} do not broadcast to {shape:?}", a.shape, b.shape))
        );
    };
    let space = Space::new(site, shape, [&a_strides, &b_strides])?;
    let floats = values[0].is_float();
    let (kernel, code) =
        binary_code(op, floats).ok_or_else(|| site.unsupported("not a function of floats"))?;
    let wrap = wrap_code(site.output.dtype);
    let [a, b] = operands;
    let walked = [space.walked(0, a, 0), space.walked(1, b, 0), whole_output(site, &space)];
    let dispatch = |segment: &Segment| {
        let space = space.part(site, segment)?;
        let count = segment.dims.iter().product::<usize>() as u32;
        let params = ParamWriter::new(3).u32(count).u32(code).u32(space.rank());
        let params = params.u32(segment.starts[0] as u32).u32(segment.starts[1] as u32);
        let params = if kernel == KernelId::BinaryInt { params.u32(wrap) } else { params };
        site.linear_segment(kernel, segment, space.write(params))
    };
    site.segments(space.dims(), &walked).iter().map(dispatch).collect()
}
