//! Operators that move elements: all are strided copies.

use super::segments::Segment;
use super::site::Site;
use super::strides::{Space, broadcast, row_major};
use super::{LowerError, Shared};
use crate::graph::Value;
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// One side of a strided copy: its first element and its strides over the copied dimensions.
struct Side<'a> {
    start: i64,
    strides: &'a [i64],
}

/// Copies `dims` elements from one side (an operand) to the other (the output).
fn copy(site: &Site, x: Operand, dims: &[usize], from: Side, to: Side) -> Result<Vec<Dispatch>, LowerError> {
    let space = Space::new(site, dims, [from.strides, to.strides])?;
    let walked = [space.walked(0, x, from.start), space.walked(1, site.output_operand(), to.start)];
    // Where elements are shuffled or repeated, a cut would show the same bytes to many dispatches.
    let segments = match space.is_in_order(0) && space.is_in_order(1) {
        true => site.segments(space.dims(), &walked),
        false => site.whole(space.dims(), &walked),
    };
    segments.iter().map(|segment| copy_segment(site, &space, segment)).collect()
}

fn copy_segment(site: &Site, space: &Space<2>, segment: &Segment) -> Result<Dispatch, LowerError> {
    let space = space.part(site, segment)?;
    let len: usize = segment.dims.iter().product();
    let params = ParamWriter::new(2).u32(len as u32).u32(space.rank());
    let params = segment.starts.iter().fold(params, |params, start| params.u32(*start as u32));
    let dispatch = site.linear_segment(KernelId::Copy, segment, space.write(params))?;
    let fills_output = matches!(dispatch.output, Operand::Value { len: bound, .. } if bound == len);
    Ok(Dispatch { fills_output, ..dispatch })
}

/// Copies into the whole output, in order.
fn gather(site: &Site, start: i64, strides: &[i64]) -> Result<Vec<Dispatch>, LowerError> {
    let dims = &site.output.shape;
    let to = row_major(dims);
    copy(site, site.operand(0), dims, Side { start, strides }, Side { start: 0, strides: &to })
}

pub(super) fn lower_copy(site: &Site) -> Result<Vec<Dispatch>, LowerError> {
    site.inputs::<1>()?;
    lower_identity(site)
}

/// Input 0 copied to the output, whatever the others are.
pub(super) fn lower_identity(site: &Site) -> Result<Vec<Dispatch>, LowerError> {
    let Some(x) = site.inputs.first() else { return Err(site.unsupported("0 inputs, needs 1 or more")) };
    let (len, out_len) = (x.len(), site.output.len());
    if len != out_len {
        return Err(site.unsupported(format!("input has {len} elements, output has {out_len}")));
    }
    gather(site, 0, &row_major(&site.output.shape))
}

pub(super) fn lower_expand(site: &Site) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    lower_expanded(site, x)
}

/// Input 0 broadcast to the output's shape.
pub(super) fn lower_expanded(site: &Site, x: &Value) -> Result<Vec<Dispatch>, LowerError> {
    let shape = &site.output.shape;
    let strides = broadcast(&x.shape, shape)
        .ok_or_else(|| site.unsupported(format!("{:?} does not broadcast to {shape:?}", x.shape)))?;
    gather(site, 0, &strides)
}

/// Each dimension is walked as one of repeats, which read the same elements, and one of the input.
pub(super) fn lower_tile(site: &Site) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_rank("output dimensions", site.output.shape.len())?;
    let (mut dims, mut strides) = (Vec::new(), Vec::new());
    for (d, stride) in row_major(&x.shape).into_iter().enumerate() {
        let (from, to) = (x.shape[d], site.output.shape[d]);
        if from == 0 || !to.is_multiple_of(from) {
            return Err(site.unsupported(format!("dimension {d} of {from} elements does not fill {to}")));
        }
        dims.extend([to / from, from]);
        strides.extend([0, stride]);
    }
    let to = row_major(&dims);
    copy(site, site.operand(0), &dims, Side { start: 0, strides: &strides }, Side { start: 0, strides: &to })
}

pub(super) fn lower_transpose(site: &Site, perm: &[usize]) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_rank("permutation entries", perm.len())?;
    let mut seen = vec![false; perm.len()];
    for axis in perm {
        if seen.get_mut(*axis).is_none_or(|seen| std::mem::replace(seen, true)) {
            return Err(site.unsupported(format!("{perm:?} is not a permutation")));
        }
    }
    let strides = row_major(&x.shape);
    site.expect_output(&perm.iter().map(|d| x.shape[*d]).collect::<Vec<_>>())?;
    gather(site, 0, &perm.iter().map(|d| strides[*d]).collect::<Vec<_>>())
}

pub(super) fn lower_slice(site: &Site, starts: &[i64], steps: &[i64]) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_rank("starts", starts.len())?;
    site.expect_rank("steps", steps.len())?;
    site.expect_rank("output dimensions", site.output.shape.len())?;
    let mut start = 0;
    let mut strides = Vec::new();
    for (d, stride) in row_major(&x.shape).into_iter().enumerate() {
        let (dim, count) = (x.shape[d], site.output.shape[d]);
        let last = starts[d] as i128 + (count as i128 - 1) * steps[d] as i128;
        let inside = 0..dim as i128;
        if !inside.contains(&(starts[d] as i128)) || !inside.contains(&last) {
            let what = format!("reads {}..={last} of dimension {d}, which has {dim} elements", starts[d]);
            return Err(site.unsupported(what));
        }
        start += starts[d] * stride;
        strides.push(if count == 1 { 0 } else { stride * steps[d] });
    }
    gather(site, start, &strides)
}

/// One dispatch an input; inputs without an element and those that are elided have none.
pub(super) fn lower_concat(site: &Site, axis: usize, shared: Shared) -> Result<Vec<Dispatch>, LowerError> {
    let out = site.output;
    let strides = row_major(&out.shape);
    let Some(axis_stride) = strides.get(axis) else {
        return Err(site.unsupported(format!("axis {axis} of a tensor of rank {}", out.shape.len())));
    };
    let mut dispatches = Vec::new();
    let mut at = 0;
    for (i, x) in site.inputs.iter().enumerate() {
        let fits = x.shape.len() == out.shape.len()
            && x.shape.iter().zip(&out.shape).enumerate().all(|(d, (a, b))| d == axis || a == b);
        if !fits {
            let Value { name, shape, .. } = x;
            let what = format!("input '{name}' {shape:?} does not fit {:?} along axis {axis}", out.shape);
            return Err(site.unsupported(what));
        }
        if !x.is_empty() && !shared.is_elided(i) && at + x.shape[axis] <= out.shape[axis] {
            let (operand, from) = read(site, i, shared)?;
            let start = at as i64 * axis_stride;
            let (from, to) = (Side { start: 0, strides: &from }, Side { start, strides: &strides });
            dispatches.extend(copy(site, operand, &x.shape, from, to)?);
        }
        at += x.shape[axis];
    }
    if at != out.shape[axis] {
        return Err(
            site.unsupported(format!("inputs hold {at} along axis {axis}, the output {}", out.shape[axis]))
        );
    }
    Ok(dispatches)
}

/// Input `i` and the strides at which its elements lie.
fn read(site: &Site, i: usize, shared: Shared) -> Result<(Operand, Vec<i64>), LowerError> {
    let x = site.inputs[i];
    match (site.operand(i), shared.rows(site.input_id(i))) {
        (Operand::Value { value, start_len, len }, Some(rows)) => {
            let strides = rows.strides(&x.shape).ok_or_else(|| {
                site.unsupported(format!("'{}' lies in rows that no dimension begins with", x.name))
            })?;
            Ok((Operand::Value { value, start_len, len: rows.span(len) }, strides))
        }
        (operand, _) => Ok((operand, row_major(&x.shape))),
    }
}
