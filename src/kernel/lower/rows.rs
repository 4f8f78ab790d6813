//! Operators along one axis that neither add up nor normalise: order, running sums, marks, triangles,
//! reversal.

use super::LowerError;
use super::gather::check_axis;
use super::site::Site;
use crate::graph::Value;
use crate::kernel::{Dispatch, KernelId, ParamWriter};

/// Elements before, along and behind an axis.
fn around(value: &Value, axis: usize) -> [usize; 3] {
    let (head, tail) = value.shape.split_at(axis);
    [head.iter().product(), tail[0], tail[1..].iter().product()]
}

fn flag(on: bool) -> u32 {
    u32::from(on)
}

pub(super) fn lower_top_k(
    site: &Site,
    axis: usize,
    largest: bool,
    indices: bool,
) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    check_axis(site, x, axis)?;
    let mut due = x.shape.clone();
    due[axis] = site.output.shape.get(axis).copied().unwrap_or(0).min(x.shape[axis]);
    site.expect_output(&due)?;
    let [_, length, inner] = around(x, axis);
    let params = ParamWriter::new(2)
        .u32(x.len() as u32)
        .u32(length as u32)
        .u32(inner as u32)
        .u32(due[axis] as u32)
        .u32(flag(x.is_float()))
        .u32(flag(largest))
        .u32(flag(indices));
    Ok(vec![site.linear(KernelId::TopK, vec![site.operand(0)], params, x.len())?])
}

pub(super) fn lower_arg(
    site: &Site,
    axis: usize,
    largest: bool,
    last: bool,
) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    check_axis(site, x, axis)?;
    let [outer, length, inner] = around(x, axis);
    let count = outer * inner;
    if count != site.output.len() || length == 0 {
        let out = site.output.len();
        return Err(site.unsupported(format!("{count} rows of {length} for an output of {out} elements")));
    }
    let params = ParamWriter::new(2)
        .u32(count as u32)
        .u32(length as u32)
        .u32(inner as u32)
        .u32(flag(x.is_float()))
        .u32(flag(largest))
        .u32(flag(last));
    Ok(vec![site.linear(KernelId::ArgMax, vec![site.operand(0)], params, count)?])
}

pub(super) fn lower_cum_sum(
    site: &Site,
    axis: usize,
    exclusive: bool,
    reverse: bool,
) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_output(&x.shape)?;
    check_axis(site, x, axis)?;
    let [outer, length, inner] = around(x, axis);
    let params = ParamWriter::new(2)
        .u32((outer * inner) as u32)
        .u32(length as u32)
        .u32(inner as u32)
        .u32(flag(x.is_float()))
        .u32(flag(exclusive))
        .u32(flag(reverse));
    Ok(vec![site.linear(KernelId::CumSum, vec![site.operand(0)], params, outer * inner)?])
}

pub(super) fn lower_one_hot(site: &Site, axis: usize) -> Result<Vec<Dispatch>, LowerError> {
    let [indices, values] = site.inputs()?;
    check_axis(site, site.output, axis)?;
    let (head, tail) = site.output.shape.split_at(axis);
    if [head, &tail[1..]].concat() != indices.shape || values.len() != 2 {
        let (shape, out, count) = (&indices.shape, &site.output.shape, values.len());
        return Err(
            site.unsupported(format!("indices {shape:?}, output {out:?}, {count} values (2 are due)"))
        );
    }
    let [_, depth, inner] = around(site.output, axis);
    let count = site.output.len();
    let params = ParamWriter::new(3).u32(count as u32).u32(depth as u32).u32(inner as u32);
    Ok(vec![site.linear(KernelId::OneHot, vec![site.operand(0), site.operand(1)], params, count)?])
}

pub(super) fn lower_trilu(site: &Site, upper: bool, diagonal: i32) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_output(&x.shape)?;
    let [.., rows, columns] = x.shape[..] else {
        return Err(site.unsupported(format!("shape {:?} holds no matrix", x.shape)));
    };
    let params = ParamWriter::new(2)
        .u32(x.len() as u32)
        .u32(rows as u32)
        .u32(columns as u32)
        .i32(diagonal)
        .u32(flag(upper));
    Ok(vec![site.linear(KernelId::Trilu, vec![site.operand(0)], params, x.len())?])
}

pub(super) fn lower_reverse_sequence(
    site: &Site,
    batch_axis: usize,
    time_axis: usize,
) -> Result<Vec<Dispatch>, LowerError> {
    let [x, lengths] = site.inputs()?;
    site.expect_output(&x.shape)?;
    check_axis(site, x, batch_axis)?;
    check_axis(site, x, time_axis)?;
    let [_, batches, batch_stride] = around(x, batch_axis);
    let [_, steps, step_stride] = around(x, time_axis);
    if batch_axis == time_axis || lengths.len() != batches {
        return Err(site.unsupported(format!("{} lengths for {batches} sequences", lengths.len())));
    }
    let params = ParamWriter::new(3)
        .u32(x.len() as u32)
        .u32(batches as u32)
        .u32(batch_stride as u32)
        .u32(steps as u32)
        .u32(step_stride as u32);
    let inputs = vec![site.operand(0), site.operand(1)];
    Ok(vec![site.linear(KernelId::ReverseSequence, inputs, params, x.len())?])
}
