//! Normalisations.

use super::{compose, reduce};
use crate::graph::{BinaryOp, DType, Op, ReduceKind, UnaryOp, ValueId};
use crate::model::onnx::shape as shapes;
use crate::model::onnx::site::{Fault, Site};

pub(super) fn batch_normalization(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    let training = attributes.flag("training_mode", false)?;
    if !attributes.flag("spatial", true)? {
        return Err("spatial = 0; only one scale a channel is supported".into());
    }
    if !training && (1..site.output_count()).any(|i| site.output_used(i)) {
        return Err("its training outputs are read, and training_mode is 0".into());
    }
    let epsilon = epsilon(site)?;
    let dims = site.shape(0)?;
    let Some(channels) = dims.get(1).copied() else {
        return Err(format!("shape {dims:?} has no channel dimension").into());
    };
    for i in 1..5 {
        let shape = &site.input(i)?.shape;
        if shape[..] != [channels] {
            return Err(format!("input {i} has shape {shape:?}, the input has {channels} channels").into());
        }
    }
    match training {
        true => batch_normalization_of_itself(site, epsilon, dims),
        false => site.emit(Op::BatchNormalization { epsilon }, &[0, 1, 2, 3, 4], dims),
    }
}

/// With training_mode 1 the statistics are the batch's own, and the given ones move towards them.
fn batch_normalization_of_itself(site: &mut Site, epsilon: f32, dims: Vec<usize>) -> Result<(), Fault> {
    let (x, channels) = (site.value(0)?, dims[1]);
    let axes: Vec<usize> = (0..dims.len()).filter(|d| *d != 1).collect();
    let [mean, _, variance] = compose::moments(site, x, &axes)?;
    let mean = compose::view(site, "channel_mean", mean, vec![channels])?;
    let variance = compose::view(site, "channel_variance", variance, vec![channels])?;
    let momentum = site.attributes().float("momentum")?.unwrap_or(0.9);
    for (index, own) in [(1, mean), (2, variance)] {
        if site.output_used(index) {
            let kept = compose::scalar(site, "momentum", momentum);
            let new = compose::scalar(site, "rest", 1.0 - momentum);
            let given = site.value(index + 2)?;
            let kept = compose::binary(site, "kept", BinaryOp::Mul, given, kept)?;
            let new = compose::binary(site, "new", BinaryOp::Mul, own, new)?;
            let op = Op::Binary(BinaryOp::Add);
            site.emit_output_as(index, op, vec![kept, new], vec![channels], DType::F32)?;
        }
    }
    let (scale, bias) = (site.value(1)?, site.value(2)?);
    site.emit_values(Op::BatchNormalization { epsilon }, vec![x, scale, bias, mean, variance], dims)
}

pub(super) fn lrn(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    let size = attributes.int("size")?.ok_or("attribute 'size' is missing")?;
    let size = usize::try_from(size).ok().filter(|s| *s >= 1).ok_or_else(|| format!("size is {size}"))?;
    let dims = site.shape(0)?;
    if dims.len() < 2 {
        return Err(format!("shape {dims:?} has no channel dimension").into());
    }
    let op = Op::Lrn {
        size,
        alpha: attributes.float("alpha")?.unwrap_or(1e-4),
        beta: attributes.float("beta")?.unwrap_or(0.75),
        bias: attributes.float("bias")?.unwrap_or(1.0),
    };
    site.emit(op, &[0], dims)
}

/// Softmax, LogSoftmax and Hardmax. Before operator set 13 the input is seen as a matrix: all dimensions from
/// `axis` on are normalised together.
pub(super) fn softmax(site: &mut Site) -> Result<(), Fault> {
    let op = site.op();
    let dims = site.shape(0)?;
    let matrix = site.opset() < 13;
    let given = site.attributes().int("axis")?.unwrap_or(if matrix { 1 } else { -1 });
    let first_axis = shapes::axis(given, dims.len())?;
    let last_axis = if matrix { dims.len() } else { first_axis + 1 };
    let op = match op {
        "LogSoftmax" => Op::LogSoftmax { first_axis, last_axis },
        "Hardmax" => Op::Hardmax { first_axis, last_axis },
        _ => Op::Softmax { first_axis, last_axis },
    };
    site.emit(op, &[0], dims)
}

fn epsilon(site: &Site) -> Result<f32, Fault> {
    Ok(site.attributes().float("epsilon")?.unwrap_or(1e-5))
}

/// LayerNormalization and RMSNormalization: the dimensions from `axis` on are one run.
pub(super) fn layer_normalization(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axis = shapes::axis(site.attributes().int("axis")?.unwrap_or(-1), dims.len())?;
    let epsilon = epsilon(site)?;
    let centred = site.op() == "LayerNormalization";
    let len = dims[axis..].iter().product::<usize>();
    let op = Op::Normalize { len, repeat: 1, epsilon, centred };
    let factors: Vec<usize> = (1..3).filter(|i| site.optional(*i).is_some()).collect();
    for i in &factors {
        shapes::broadcasts_to(&site.input(*i)?.shape, &dims)?;
    }
    if (1..3).any(|i| site.output_used(i)) {
        statistics(site, &dims, axis, epsilon)?;
    }
    let whole = factors.iter().all(|i| site.optional(*i).is_some_and(|t| t.shape[..] == dims[axis..]));
    if whole && factors != [2] {
        return site.emit(op, &[&[0], &factors[..]].concat(), dims);
    }
    // Factors of another shape are applied afterwards, where they broadcast.
    let x = site.value(0)?;
    let mut y = site.emit_before("normal", op, vec![x], dims.clone())?;
    let last = factors.last().copied();
    for i in factors {
        let factor = site.value(i)?;
        let op = if i == 1 { BinaryOp::Mul } else { BinaryOp::Add };
        match Some(i) == last {
            true => site.emit_values(Op::Binary(op), vec![y, factor], dims.clone())?,
            false => y = compose::binary(site, "scaled", op, y, factor)?,
        }
    }
    Ok(())
}

/// The second and third output of LayerNormalization: mean, and one over the deviation.
fn statistics(site: &mut Site, dims: &[usize], axis: usize, epsilon: f32) -> Result<(), Fault> {
    let x = site.value(0)?;
    let axes: Vec<usize> = (axis..dims.len()).collect();
    let [mean, _, variance] = compose::moments(site, x, &axes)?;
    let shape = compose::dims(site, mean);
    if site.output_used(1) {
        site.emit_output_as(1, Op::Copy, vec![mean], shape.clone(), DType::F32)?;
    }
    if site.output_used(2) {
        let epsilon = compose::scalar(site, "epsilon", epsilon);
        let raised = compose::binary(site, "raised", BinaryOp::Add, variance, epsilon)?;
        let deviation = compose::unary(site, "deviation", UnaryOp::Sqrt, raised)?;
        site.emit_output_as(2, Op::Unary(UnaryOp::Reciprocal), vec![deviation], shape, DType::F32)?;
    }
    Ok(())
}

/// Channels, elements behind each, and that scale and bias hold `due` elements.
fn channels(site: &Site, due: Option<usize>) -> Result<(usize, usize), Fault> {
    let dims = site.shape(0)?;
    let [_, channels, rest @ ..] = &dims[..] else {
        return Err(format!("shape {dims:?} has no channel dimension").into());
    };
    let due = due.unwrap_or(*channels);
    for i in 1..3 {
        let shape = &site.input(i)?.shape;
        if shape[..] != [due] {
            return Err(format!("input {i} has shape {shape:?}, {due} numbers are due").into());
        }
    }
    Ok((*channels, rest.iter().product()))
}

pub(super) fn instance_normalization(site: &mut Site) -> Result<(), Fault> {
    let (_, inner) = channels(site, None)?;
    let op = Op::Normalize { len: inner, repeat: inner, epsilon: epsilon(site)?, centred: true };
    let dims = site.shape(0)?;
    site.emit(op, &[0, 1, 2], dims)
}

/// One scale a group in operator sets 18 to 20, one a channel from 21 on.
pub(super) fn group_normalization(site: &mut Site) -> Result<(), Fault> {
    let groups = site.attributes().int("num_groups")?.ok_or("attribute 'num_groups' is missing")?;
    let groups =
        usize::try_from(groups).ok().filter(|g| *g >= 1).ok_or_else(|| format!("num_groups is {groups}"))?;
    let by_group = site.opset() < 21;
    let (channels, inner) = channels(site, by_group.then_some(groups))?;
    if !channels.is_multiple_of(groups) {
        return Err(format!("{channels} channels do not divide into {groups} groups").into());
    }
    let len = channels / groups * inner;
    let repeat = if by_group { len } else { inner };
    let op = Op::Normalize { len, repeat, epsilon: epsilon(site)?, centred: true };
    let dims = site.shape(0)?;
    site.emit(op, &[0, 1, 2], dims)
}

pub(super) fn mean_variance_normalization(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axes = site.attributes().ints("axes")?.unwrap_or(&[0, 2, 3]);
    let axes = shapes::axes(axes, dims.len())?;
    let x = site.value(0)?;
    let [_, rest, variance] = compose::moments(site, x, &axes)?;
    let deviation = compose::unary(site, "deviation", UnaryOp::Sqrt, variance)?;
    let small = compose::scalar(site, "small", 1e-9);
    let divisor = compose::binary(site, "divisor", BinaryOp::Add, deviation, small)?;
    site.emit_values(Op::Binary(BinaryOp::Div), vec![rest, divisor], dims)
}

pub(super) fn lp_normalization(site: &mut Site) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    let axis = shapes::axis(site.attributes().int("axis")?.unwrap_or(-1), dims.len())?;
    let kind = match reduce::exponent(site)? {
        1 => ReduceKind::L1,
        2 => ReduceKind::L2,
        p => return Err(format!("p is {p}; 1 and 2 are supported").into()),
    };
    let x = site.value(0)?;
    let mut shape = dims.clone();
    shape[axis] = 1;
    let norm: ValueId = site.emit_before("norm", Op::Reduce { kind, axes: vec![axis] }, vec![x], shape)?;
    // A row of zeros stays one.
    let least = UnaryOp::Clip { min: f32::MIN_POSITIVE, max: f32::MAX };
    let divisor = compose::unary(site, "divisor", least, norm)?;
    site.emit_values(Op::Binary(BinaryOp::Div), vec![x, divisor], dims)
}
