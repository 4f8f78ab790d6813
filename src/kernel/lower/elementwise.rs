//! Element-wise operators: unary, binary with broadcasting, sum.

use super::LowerError;
use super::segments::{Segment, Walked};
use super::site::Site;
use super::strides::{Space, broadcast, row_major};
use crate::graph::{BinaryOp, UnaryOp, Value};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Code and constants of a function in `unary.wgsl`.
fn unary_code(op: UnaryOp) -> (u32, f32, f32) {
    match op {
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
    }
}

/// Code of a function in `binary.wgsl`.
fn binary_code(op: BinaryOp) -> u32 {
    match op {
        BinaryOp::Add => 0,
        BinaryOp::Sub => 1,
        BinaryOp::Mul => 2,
        BinaryOp::Div => 3,
        BinaryOp::Pow => 4,
        BinaryOp::Prelu => 5,
    }
}

pub(super) fn lower_unary(site: &Site, op: UnaryOp) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_output(&x.shape)?;
    let (code, a, b) = unary_code(op);
    let line = |operand| Walked { operand, start: 0, strides: vec![1], tail_len: 1, movable: false };
    let segments = site.segments(&[x.len()], &[line(site.operand(0)), line(site.output_operand())]);
    let dispatch = |segment: &Segment| {
        let params = ParamWriter::new(2).u32(segment.dims[0] as u32).u32(code).f32(a).f32(b);
        site.linear_segment(KernelId::Unary, segment, params)
    };
    segments.iter().map(dispatch).collect()
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
    let [a, b] = operands;
    let walked = [
        space.walked(0, a, 0),
        space.walked(1, b, 0),
        Walked {
            operand: site.output_operand(),
            start: 0,
            strides: row_major(space.dims()),
            tail_len: 1,
            movable: false,
        },
    ];
    let dispatch = |segment: &Segment| {
        let space = space.part(site, segment)?;
        let count = segment.dims.iter().product::<usize>() as u32;
        let params = ParamWriter::new(3).u32(count).u32(binary_code(op)).u32(space.rank());
        let params = params.u32(segment.starts[0] as u32).u32(segment.starts[1] as u32);
        site.linear_segment(KernelId::Binary, segment, space.write(params))
    };
    site.segments(space.dims(), &walked).iter().map(dispatch).collect()
}
