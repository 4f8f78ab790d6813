//! Operators over groups of elements: means, sums, softmax, normalisation.

use super::constant;
use crate::graph::{BinaryOp, Op, ReduceKind, UnaryOp, ValueId};
use crate::model::fault::Fault;
use crate::model::shape as shapes;
use crate::model::tflite::layout::Layout;
use crate::model::tflite::site::{Out, Site, View};
use crate::model::tflite::tensor;

/// A reduction resolved: what it reads, over which of the value's dimensions, and what it writes.
struct Reduction {
    view: View,
    axes: Vec<usize>,
    out: Out,
}

fn resolve(site: &mut Site, axes: &[usize], keep: bool) -> Result<Reduction, Fault> {
    let shape = site.shape(0)?;
    let view = site.view(0)?;
    let ones: Vec<usize> =
        shape.iter().enumerate().map(|(d, dim)| if axes.contains(&d) { 1 } else { *dim }).collect();
    let mut out = Out::permuted(ones, &view.perm);
    if !keep {
        out.shape = (0..shape.len()).filter(|d| !axes.contains(d)).map(|d| shape[d]).collect();
        out.dims = view.perm.iter().filter(|d| !axes.contains(d)).map(|d| shape[*d]).collect();
    }
    let mut places: Vec<usize> = axes.iter().map(|axis| view.place(*axis)).collect();
    places.sort_unstable();
    Ok(Reduction { view, axes: places, out })
}

/// MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, and of bools REDUCE_ANY and REDUCE_ALL.
pub(super) fn reduce(site: &mut Site) -> Result<(), Fault> {
    let rank = site.shape(0)?.len();
    let keep = site.flag(0)?;
    let mut axes = Vec::new();
    for axis in site.ints(1)?.iter() {
        axes.push(shapes::axis(*axis, rank)?);
    }
    axes.sort_unstable();
    axes.dedup();
    if site.is_ints(0) {
        return constant::reduce(site, &axes, keep);
    }
    let Reduction { view, axes, out } = resolve(site, &axes, keep)?;
    let kind = match site.op() {
        "MEAN" if site.tensor(0)?.dtype.is_float() => {
            return site.emit(Op::ReduceMean { axes }, vec![view.value], out);
        }
        "MEAN" => ReduceKind::Mean,
        "SUM" => ReduceKind::Sum,
        "REDUCE_PROD" => ReduceKind::Prod,
        "REDUCE_MAX" | "REDUCE_ANY" => ReduceKind::Max,
        "REDUCE_MIN" | "REDUCE_ALL" => ReduceKind::Min,
        other => return Err(format!("{other} is not a reduction").into()),
    };
    site.emit(Op::Reduce { kind, axes }, vec![view.value], out)
}

fn number(site: &mut Site, what: &str, value: f32) -> ValueId {
    site.constant(what, Vec::new(), vec![value])
}

/// Over the last dimension, of `beta * x`.
pub(super) fn softmax(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let Some(last) = shape.len().checked_sub(1) else {
        return Err("the input has no dimension".into());
    };
    let beta = site.option(0, 1.0f32)?;
    let view = site.view(0)?;
    let axis = view.place(last);
    let out = Out::permuted(shape, &view.perm);
    let mut value = view.value;
    if beta != 1.0 {
        let beta = number(site, "beta", beta);
        value = site.before("scaled", Op::Binary(BinaryOp::Mul), vec![value, beta], &out.dims)?;
    }
    site.emit(Op::Softmax { first_axis: axis, last_axis: axis + 1 }, vec![value], out)
}

/// Over the last dimension.
pub(super) fn log_softmax(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let last = shape.len().checked_sub(1).ok_or("the input has no dimension")?;
    let view = site.view(0)?;
    let axis = view.place(last);
    let op = Op::LogSoftmax { first_axis: axis, last_axis: axis + 1 };
    site.emit(op, vec![view.value], Out::permuted(shape, &view.perm))
}

/// Each row of the last dimension divided by the root of the sum of its squares.
pub(super) fn l2_normalization(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let last = shape.len().checked_sub(1).ok_or("the input has no dimension")?;
    let activation = site.activation(0)?;
    let Reduction { view, axes, out } = resolve(site, &[last], true)?;
    let op = Op::Reduce { kind: ReduceKind::L2, axes };
    let root = site.before("root", op, vec![view.value], &out.dims)?;
    // TFLite's reference: no division by less than 1e-6.
    let least = UnaryOp::Clip { min: 1e-6, max: f32::MAX };
    let root = site.before("clipped", Op::Unary(least), vec![root], &out.dims)?;
    let whole = Out::permuted(shape, &view.perm);
    site.emit_activated(Op::Binary(BinaryOp::Div), vec![view.value, root], whole, activation)
}

/// Where the largest or least element along a dimension stands; the first of equals.
pub(super) fn arg_extreme(site: &mut Site) -> Result<(), Fault> {
    let rank = site.shape(0)?.len();
    let axis = shapes::axis(constant::int(site, 1)?, rank)?;
    let Reduction { view, axes, out } = resolve(site, &[axis], false)?;
    let op = Op::ArgExtreme { axis: axes[0], largest: site.op() == "ARG_MAX", last: false };
    let dtype = tensor::dtype(site.output_type(0)?)?;
    site.emit(op, vec![view.value], Out { dtype: Some(dtype), ..out })
}

/// Running sums along a dimension.
pub(super) fn cumsum(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let axis = shapes::axis(constant::int(site, 1)?, shape.len())?;
    let (exclusive, reverse) = (site.flag(0)?, site.flag(1)?);
    let view = site.view(0)?;
    let op = Op::CumSum { axis: view.place(axis), exclusive, reverse };
    site.emit(op, vec![view.value], Out::permuted(shape, &view.perm))
}

/// The largest elements of the last dimension in order, and where they stand.
pub(super) fn top_k(site: &mut Site) -> Result<(), Fault> {
    let mut shape = site.shape(0)?;
    let last = shape.len().checked_sub(1).ok_or("the input has no dimension")?;
    let count = usize::try_from(constant::int(site, 1)?).ok().filter(|k| *k <= shape[last]);
    shape[last] = count.ok_or_else(|| format!("more than the {} elements of a row", shape[last]))?;
    let view = site.view(0)?;
    let axis = view.place(last);
    for (output, indices) in [(0, false), (1, true)] {
        if output < site.output_count() {
            let dtype = if indices { Some(tensor::dtype(site.output_type(output)?)?) } else { None };
            let out = Out { dtype, ..Out::permuted(shape.clone(), &view.perm) };
            site.emit_output(output, Op::TopK { axis, largest: true, indices }, vec![view.value], out)?;
        }
    }
    Ok(())
}

/// TFLite divides by `(bias + alpha * sum of squares)^beta` over `2 * radius + 1` channels.
pub(super) fn local_response_normalization(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let radius = site.option::<i32>(0, 0)?;
    let size = usize::try_from(radius).ok().filter(|r| *r < 1 << 20).map(|r| 2 * r + 1);
    let size = size.ok_or_else(|| format!("radius is {radius}"))?;
    let (bias, alpha, beta) = (site.option(1, 0.0f32)?, site.option(2, 0.0f32)?, site.option(3, 0.0f32)?);
    let rank = shape.len();
    if rank < 2 {
        return Err(format!("shape {shape:?} has no channel dimension").into());
    }
    let perm: Vec<usize> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
    let value = site.permuted(0, &perm)?;
    // The graph's operator divides alpha by the size.
    let op = Op::Lrn { size, alpha: alpha * size as f32, beta, bias };
    let dims = perm.iter().map(|d| shape[*d]).collect();
    let layout = Layout::permuted(&shape, &perm);
    site.emit(op, vec![value], Out { shape, layout, dims, dtype: None })
}
