//! Reductions, and the pools over everything.

use crate::graph::{Op, PoolKind, ReduceKind, Window};
use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::tensor::Tensor;
use crate::model::shape as shapes;

/// What an operator type computes; `None` for the mean of floats.
fn kind(op: &str) -> Option<ReduceKind> {
    Some(match op {
        "ReduceSum" => ReduceKind::Sum,
        "ReduceMax" => ReduceKind::Max,
        "ReduceMin" => ReduceKind::Min,
        "ReduceProd" => ReduceKind::Prod,
        "ReduceL1" => ReduceKind::L1,
        "ReduceL2" => ReduceKind::L2,
        "ReduceSumSquare" => ReduceKind::SumSquare,
        "ReduceLogSum" => ReduceKind::LogSum,
        "ReduceLogSumExp" => ReduceKind::LogSumExp,
        _ => return None,
    })
}

/// The axes are an attribute in earlier operator sets, an input in later ones.
pub(super) fn reduce(site: &mut Site) -> Result<(), Fault> {
    let x = site.input(0)?;
    let product = x.i64_data().map(|data| data.iter().fold(1i64, |n, d| n.wrapping_mul(*d)));
    let (dims, float) = (x.shape.clone(), x.dtype.is_float());
    let given = match site.optional_ints(1)? {
        Some(axes) => Some(axes),
        None => site.attributes().ints("axes")?.map(<[i64]>::to_vec),
    };
    let given = given.filter(|axes| !axes.is_empty());
    let keep = site.attributes().flag("keepdims", true)?;
    let axes = match given {
        Some(list) => shapes::axes(&list, dims.len())?,
        None if site.attributes().flag("noop_with_empty_axes", false)? => {
            return site.emit(Op::Copy, &[0], dims);
        }
        None => (0..dims.len()).collect(),
    };
    let reduced = |i: usize| axes.contains(&i);
    let out: Vec<usize> = (0..dims.len())
        .filter(|i| keep || !reduced(*i))
        .map(|i| if reduced(i) { 1 } else { dims[i] })
        .collect();
    // Shape arithmetic is on 64-bit integers.
    if let ("ReduceProd", Some(product), true) = (site.op(), product, axes.len() == dims.len()) {
        site.set(0, Tensor::ints(out, vec![product]));
        return Ok(());
    }
    let op = match kind(site.op()) {
        Some(kind) => Op::Reduce { kind, axes },
        None if float => Op::ReduceMean { axes },
        None => Op::Reduce { kind: ReduceKind::Mean, axes },
    };
    site.emit(op, &[0], out)
}

/// The spatial dimensions, and the shape with each of them 1.
fn global(site: &Site) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    let mut dims = site.shape(0)?;
    if dims.len() < 3 {
        return Err(format!("shape {dims:?} has no spatial dimension").into());
    }
    let axes: Vec<usize> = (2..dims.len()).collect();
    dims[2..].fill(1);
    Ok((axes, dims))
}

pub(super) fn global_average_pool(site: &mut Site) -> Result<(), Fault> {
    let (axes, out) = global(site)?;
    site.emit(Op::ReduceMean { axes }, &[0], out)
}

pub(super) fn global_max_pool(site: &mut Site) -> Result<(), Fault> {
    let (axes, out) = global(site)?;
    site.emit(Op::Reduce { kind: ReduceKind::Max, axes }, &[0], out)
}

pub(super) fn global_lp_pool(site: &mut Site) -> Result<(), Fault> {
    let (axes, out) = global(site)?;
    let p = exponent(site)?;
    let kind = match p {
        1 => ReduceKind::L1,
        2 => ReduceKind::L2,
        p => {
            let x = site.value(0)?;
            let dims = site.shape(0)?;
            let len = dims[2..].iter().product();
            let rows = super::compose::view(site, "rows", x, vec![dims[0], dims[1], len])?;
            let window = Window { kernel: [1, len], strides: [1, 1], pads: [0; 4], dilations: [1, 1] };
            let op = Op::Pool { kind: PoolKind::Lp { p }, window };
            let norm = site.emit_before("norm", op, vec![rows], vec![dims[0], dims[1], 1])?;
            return site.emit_values(Op::Copy, vec![norm], out);
        }
    };
    site.emit(Op::Reduce { kind, axes }, &[0], out)
}

/// The attribute `p` of a norm.
pub(super) fn exponent(site: &Site) -> Result<u32, Fault> {
    let p = site.attributes().int("p")?.unwrap_or(2);
    match u32::try_from(p) {
        Ok(p) if p >= 1 => Ok(p),
        _ => Err(format!("p is {p}; from 1 on is supported").into()),
    }
}
