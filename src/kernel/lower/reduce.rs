//! Reductions over any axes.

use super::LowerError;
use super::norm::lanes_for;
use super::site::Site;
use super::strides::{Space, row_major};
use crate::graph::{ReduceKind, int_word};
use crate::kernel::{Dispatch, KernelId, ParamWriter};

/// Code of a reduction in `reduce.wgsl` and `reduce_int.wgsl`, and the number that it starts from.
fn code(kind: ReduceKind) -> (u32, f32) {
    match kind {
        ReduceKind::Mean => (0, 0.0),
        ReduceKind::Sum => (1, 0.0),
        ReduceKind::Max => (2, f32::NEG_INFINITY),
        ReduceKind::Min => (3, f32::INFINITY),
        ReduceKind::Prod => (4, 1.0),
        ReduceKind::L1 => (5, 0.0),
        ReduceKind::L2 => (6, 0.0),
        ReduceKind::SumSquare => (7, 0.0),
        ReduceKind::LogSum => (8, 0.0),
        ReduceKind::LogSumExp => (9, 0.0),
    }
}

/// The word of an integer reduction's start.
fn int_start(site: &Site, kind: ReduceKind) -> Result<f32, LowerError> {
    let (lowest, highest) = site.output.dtype.int_range().unwrap_or((i32::MIN, i32::MAX));
    match kind {
        ReduceKind::Max => Ok(int_word(lowest)),
        ReduceKind::Min => Ok(int_word(highest)),
        ReduceKind::Prod => Ok(int_word(1)),
        ReduceKind::Mean | ReduceKind::Sum | ReduceKind::L1 | ReduceKind::SumSquare => Ok(int_word(0)),
        ReduceKind::L2 | ReduceKind::LogSum | ReduceKind::LogSumExp => {
            Err(site.unsupported("not computed of integers"))
        }
    }
}

pub(super) fn lower_reduce(
    site: &Site,
    kind: ReduceKind,
    axes: &[usize],
) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    let rank = x.shape.len();
    if let Some(axis) = axes.iter().find(|axis| **axis >= rank) {
        return Err(site.unsupported(format!("axis {axis} of a tensor of rank {rank}")));
    }
    let strides = row_major(&x.shape);
    let part = |reduced: bool| -> (Vec<usize>, Vec<i64>) {
        (0..rank).filter(|d| axes.contains(d) == reduced).map(|d| (x.shape[d], strides[d])).unzip()
    };
    let ((kept_dims, kept_strides), (dims, strides)) = (part(false), part(true));
    let (count, reduced) = (kept_dims.iter().product::<usize>(), dims.iter().product::<usize>());
    if count != site.output.len() {
        let what = format!("{count} results for an output of {} elements", site.output.len());
        return Err(site.unsupported(what));
    }
    let kept_space = Space::new(site, &kept_dims, [&kept_strides])?;
    let reduced_space = Space::new(site, &dims, [&strides])?;
    // With many outputs and elements far apart, neighbouring invocations read neighbouring elements if each
    // has a result.
    let apart = count >= 4096 && reduced_space.last_stride(0) != 1;
    let lanes = if apart { 1 } else { lanes_for(reduced) };
    let (kind_code, start) = code(kind);
    let (kernel, start) = match x.is_float() {
        true => (KernelId::Reduce, start),
        false => (KernelId::ReduceInt, int_start(site, kind)?),
    };
    let params = ParamWriter::new(2)
        .u32(count as u32)
        .u32(reduced as u32)
        .u32(lanes as u32)
        .u32(kept_space.rank())
        .u32(reduced_space.rank())
        .u32(kind_code)
        .f32(start);
    let params = reduced_space.write(kept_space.write(params));
    Ok(vec![site.lanes(kernel, params, count, lanes)?])
}
