//! Operators that normalise groups of elements.

use super::LowerError;
use super::segments::{Segment, Walked};
use super::site::Site;
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Invocations that share one item of `len` elements: a power of two up to 256, about 8 elements each.
pub(super) fn lanes_for(len: usize) -> usize {
    if len <= 16 { 1 } else { len.div_ceil(8).next_power_of_two().min(256) }
}

/// Channels and elements behind each of `[N, C, ..]`.
fn channels(site: &Site) -> Result<(usize, usize), LowerError> {
    match site.inputs[0].shape[..] {
        [_, channels, ref rest @ ..] => Ok((channels, rest.iter().product())),
        ref shape => Err(site.unsupported(format!("input {shape:?} has no channel dimension"))),
    }
}

pub(super) fn lower_batch_norm(site: &Site, epsilon: f32) -> Result<Vec<Dispatch>, LowerError> {
    let [x, statistics @ ..] = site.inputs::<5>()?;
    site.expect_output(&x.shape)?;
    let (channels, inner) = channels(site)?;
    if let Some(wrong) = statistics.iter().find(|v| v.len() != channels) {
        let what = format!("'{}' has {} elements for {channels} channels", wrong.name, wrong.len());
        return Err(site.unsupported(what));
    }
    let strides = [(channels * inner) as i64, inner as i64, 1];
    let plane =
        |operand| Walked { operand, start: 0, strides: strides.to_vec(), tail_len: 1, movable: false };
    let statistic = |i| Walked { strides: vec![0, 1, 0], movable: true, ..plane(site.operand(i)) };
    let mut walked = vec![plane(site.operand(0))];
    walked.extend((1..5).map(statistic));
    walked.push(plane(site.output_operand()));
    let dispatch = |segment: &Segment| {
        let (dims, count) = (&segment.dims, segment.dims.iter().product::<usize>());
        let params = ParamWriter::new(6).u32(count as u32).u32(dims[1] as u32).u32(dims[2] as u32);
        // The statistics are equally long, so that they start alike.
        let params = params.f32(epsilon).u32(segment.starts[1] as u32);
        site.linear_segment(KernelId::BatchNorm, segment, params)
    };
    site.segments(&[x.shape[0], channels, inner], &walked).iter().map(dispatch).collect()
}

/// Rows, elements and inner dimension of `[outer, axis, inner]`.
fn rows(site: &Site, first_axis: usize, last_axis: usize) -> Result<[usize; 3], LowerError> {
    let [x] = site.inputs()?;
    site.expect_output(&x.shape)?;
    let rank = x.shape.len();
    if first_axis > last_axis || last_axis > rank {
        return Err(site.unsupported(format!("axes {first_axis}..{last_axis} of a tensor of rank {rank}")));
    }
    let axis: usize = x.shape[first_axis..last_axis].iter().product();
    let inner: usize = x.shape[last_axis..].iter().product();
    Ok([x.len() / axis, axis, inner])
}

pub(super) fn lower_softmax(
    site: &Site,
    first_axis: usize,
    last_axis: usize,
    log: bool,
) -> Result<Vec<Dispatch>, LowerError> {
    let [rows, axis, inner] = rows(site, first_axis, last_axis)?;
    // With a long inner dimension, neighbouring invocations read neighbouring elements if each has its own
    // row.
    let lanes = if inner < 16 { lanes_for(axis) } else { 1 };
    let params = ParamWriter::new(2).u32(rows as u32).u32(axis as u32).u32(inner as u32).u32(lanes as u32);
    let params = params.u32(u32::from(log));
    Ok(vec![site.lanes(KernelId::Softmax, params, rows, lanes)?])
}

pub(super) fn lower_hardmax(
    site: &Site,
    first_axis: usize,
    last_axis: usize,
) -> Result<Vec<Dispatch>, LowerError> {
    let [rows, axis, inner] = rows(site, first_axis, last_axis)?;
    let params = ParamWriter::new(2).u32(rows as u32).u32(axis as u32).u32(inner as u32);
    Ok(vec![site.linear(KernelId::Hardmax, vec![site.operand(0)], params, rows)?])
}

pub(super) fn lower_normalize(
    site: &Site,
    len: usize,
    repeat: usize,
    epsilon: f32,
    centred: bool,
) -> Result<Vec<Dispatch>, LowerError> {
    let count = site.inputs.len();
    let Some((x, factors)) = site.inputs.split_first().filter(|_| count <= 3) else {
        return Err(site.unsupported(format!("{count} inputs, needs 1 to 3")));
    };
    site.expect_output(&x.shape)?;
    if len == 0 || repeat == 0 || !x.len().is_multiple_of(len) {
        let what = format!("runs of {len} of {} elements, channels of {repeat}", x.len());
        return Err(site.unsupported(what));
    }
    let channels = factors.first().map_or(1, |scale| scale.len());
    if let Some(wrong) = factors.iter().find(|v| v.len() != channels || v.is_empty()) {
        let what = format!("'{}' has {} elements for {channels} channels", wrong.name, wrong.len());
        return Err(site.unsupported(what));
    }
    let runs = x.len() / len;
    let lanes = lanes_for(len);
    let words = [runs, len, lanes, channels, repeat];
    let params = words.into_iter().fold(ParamWriter::new(4), |params, word| params.u32(word as u32));
    let params = params.f32(epsilon).u32(u32::from(centred));
    let params = params.u32(u32::from(count > 1)).u32(u32::from(count > 2));
    let operand = |i: usize| if i < count { site.operand(i) } else { Operand::Absent };
    let inputs = vec![operand(0), operand(1), operand(2)];
    Ok(vec![site.dispatch(KernelId::Normalize, inputs, params, runs.div_ceil(256 / lanes))?])
}

pub(super) fn lower_lrn(
    site: &Site,
    size: usize,
    [alpha, beta, bias]: [f32; 3],
) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_output(&x.shape)?;
    let (channels, inner) = channels(site)?;
    if size == 0 {
        return Err(site.unsupported("size 0, needs 1 or more"));
    }
    if alpha < 0.0 || bias < 0.0 {
        return Err(site.unsupported(format!("alpha {alpha} and bias {bias}: a negative base of a power")));
    }
    // A window wider than all channels reads no more than they hold.
    let (before, after) = (((size - 1) / 2).min(channels), (size / 2).min(channels));
    let params = ParamWriter::new(2)
        .u32(x.len() as u32)
        .u32(channels as u32)
        .u32(inner as u32)
        .u32(before as u32)
        .u32(after as u32)
        .f32(alpha / size as f32)
        .f32(beta)
        .f32(bias);
    Ok(vec![site.linear(KernelId::Lrn, vec![site.operand(0)], params, x.len())?])
}
