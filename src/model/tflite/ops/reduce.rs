//! Operators over groups of elements: means, sums, softmax, normalisation.

use super::constant;
use crate::graph::{BinaryOp, Op, UnaryOp, ValueId};
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

/// MEAN and SUM, and of constant integers the others.
pub(super) fn reduce(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let keep = site.flag(0)?;
    let mut axes = Vec::new();
    for axis in site.ints(1)?.iter() {
        axes.push(shapes::axis(*axis, shape.len())?);
    }
    axes.sort_unstable();
    axes.dedup();
    if site.is_ints(0) {
        return constant::reduce(site, &axes, keep);
    }
    let len: usize = axes.iter().map(|axis| shape[*axis]).product();
    let Reduction { view, axes, out } = resolve(site, &axes, keep)?;
    match site.op() {
        "MEAN" => site.emit(Op::ReduceMean { axes }, vec![view.value], out),
        "SUM" => {
            let mean = site.before("mean", Op::ReduceMean { axes }, vec![view.value], &out.dims)?;
            let count = number(site, "count", len as f32);
            site.emit(Op::Binary(BinaryOp::Mul), vec![mean, count], out)
        }
        other => Err(format!("{other} of floats is not supported").into()),
    }
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

/// Each row of the last dimension divided by the root of the sum of its squares.
pub(super) fn l2_normalization(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let last = shape.len().checked_sub(1).ok_or("the input has no dimension")?;
    let activation = site.activation(0)?;
    let len = shape[last] as f32;
    let Reduction { view, axes, out } = resolve(site, &[last], true)?;
    let whole = Out::permuted(shape, &view.perm);
    let squares = vec![view.value, view.value];
    let squares = site.before("squares", Op::Binary(BinaryOp::Mul), squares, &whole.dims)?;
    let mean = site.before("mean", Op::ReduceMean { axes }, vec![squares], &out.dims)?;
    let count = number(site, "count", len);
    let sum = site.before("sum", Op::Binary(BinaryOp::Mul), vec![mean, count], &out.dims)?;
    // TFLite's reference: no division by less than 1e-6.
    let least = UnaryOp::Clip { min: 1e-12, max: f32::MAX };
    let sum = site.before("clipped", Op::Unary(least), vec![sum], &out.dims)?;
    let root = site.before("root", Op::Unary(UnaryOp::Sqrt), vec![sum], &out.dims)?;
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
