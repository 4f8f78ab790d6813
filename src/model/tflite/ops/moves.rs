//! Operators that change the shape of a tensor: most move no element.

use super::constant::{int, ints};
use crate::graph::{Op, PadMode};
use crate::model::fault::Fault;
use crate::model::shape as shapes;
use crate::model::tflite::site::{Out, Site};

/// The same elements, as TFLite counts them, under another shape.
fn reshaped(site: &mut Site, shape: Vec<usize>) -> Result<(), Fault> {
    if site.is_ints(0) {
        let data = ints(site, 0)?.data;
        return site.set_ints(shape, data);
    }
    let to = shape.clone();
    site.relabel(0, shape, |layout| layout.reshaped(&to))
}

/// The shape is an input or an attribute.
pub(super) fn reshape(site: &mut Site) -> Result<(), Fault> {
    let target = match site.optional(1) {
        Some(_) => site.ints(1)?.to_vec(),
        None => site.list(0)?,
    };
    let from = site.shape(0)?;
    let shape = shapes::reshape(&from, &target, true)?;
    reshaped(site, shape)
}

pub(super) fn squeeze(site: &mut Site) -> Result<(), Fault> {
    let from = site.shape(0)?;
    let list = site.list(0)?;
    let axes = match list.is_empty() {
        true => (0..from.len()).filter(|d| from[*d] == 1).collect(),
        false => shapes::axes(&list, from.len())?,
    };
    if let Some(axis) = axes.iter().find(|axis| from[**axis] != 1) {
        return Err(format!("dimension {axis} of {from:?} is not 1").into());
    }
    let shape = (0..from.len()).filter(|d| !axes.contains(d)).map(|d| from[d]).collect();
    reshaped(site, shape)
}

pub(super) fn expand_dims(site: &mut Site) -> Result<(), Fault> {
    let mut shape = site.shape(0)?;
    let axis = shapes::axis(int(site, 1)?, shape.len() + 1)?;
    shape.insert(axis, 1);
    reshaped(site, shape)
}

pub(super) fn transpose(site: &mut Site) -> Result<(), Fault> {
    let from = site.shape(0)?;
    let list = site.ints(1)?;
    let perm = list.iter().map(|axis| shapes::axis(*axis, from.len())).collect::<Result<Vec<_>, _>>()?;
    if shapes::axes(&list, from.len())?.len() != from.len() {
        return Err(format!("{list:?} is not a permutation of {} dimensions", from.len()).into());
    }
    let shape = perm.iter().map(|axis| from[*axis]).collect();
    site.relabel(0, shape, |layout| Some(layout.transposed(&from, &perm)))
}

/// Elements added before and after each dimension.
fn paddings(site: &mut Site, input: usize) -> Result<Vec<[i64; 2]>, Fault> {
    let (rank, list) = (site.shape(0)?.len(), site.ints(input)?);
    let (pairs, rest) = list.as_chunks::<2>();
    if pairs.len() != rank || !rest.is_empty() {
        return Err(format!("{} paddings for {rank} dimensions", list.len()).into());
    }
    match pairs.iter().flatten().find(|p| !(0..1 << 31).contains(*p)) {
        Some(pad) => Err(format!("a padding is {pad}").into()),
        None => Ok(pairs.to_vec()),
    }
}

/// PAD with zeros, PADV2 with one number.
pub(super) fn pad(site: &mut Site) -> Result<(), Fault> {
    let value = match site.op() {
        "PADV2" => site.number(2)?.ok_or("input 2 must be one constant number")?,
        _ => 0.0,
    };
    let pads = paddings(site, 1)?;
    padded(site, PadMode::Constant(value), &pads)
}

/// REFLECT leaves the edge out, SYMMETRIC repeats it.
pub(super) fn mirror_pad(site: &mut Site) -> Result<(), Fault> {
    let pads = paddings(site, 1)?;
    let widest = pads.iter().flatten().max().copied().unwrap_or(0);
    let mode = match site.option::<i8>(0, 0)? {
        0 => PadMode::Reflect,
        1 if widest <= 1 => PadMode::Edge,
        1 => return Err(format!("SYMMETRIC padding by {widest}; by 1 is supported").into()),
        other => return Err(format!("its mode is {other}, not 0 (REFLECT) or 1 (SYMMETRIC)").into()),
    };
    let shape = site.shape(0)?;
    for (d, (dim, pads)) in shape.iter().zip(&pads).enumerate() {
        if mode == PadMode::Reflect && pads.iter().any(|pad| *pad >= *dim as i64) {
            return Err(
                format!("paddings {pads:?} of dimension {d} mirror more than its {dim} elements").into()
            );
        }
    }
    padded(site, mode, &pads)
}

fn padded(site: &mut Site, mode: PadMode, pads: &[[i64; 2]]) -> Result<(), Fault> {
    let from = site.shape(0)?;
    if pads.iter().flatten().all(|pad| *pad == 0) {
        return reshaped(site, from);
    }
    // Zeros around an image are the convolution's own.
    if let (PadMode::Constant(0.0), [[0, 0], [top, bottom], [left, right], [0, 0]]) = (mode, pads)
        && site.feeds_convolution()?
    {
        site.leave_padding([top, left, bottom, right].map(|pad| *pad as usize))?;
        return reshaped(site, from);
    }
    let shape = from.iter().zip(pads).map(|(dim, [before, after])| dim + (before + after) as usize).collect();
    let view = site.view(0)?;
    let before: Vec<i64> = pads.iter().map(|pad| pad[0]).collect();
    let op = Op::Pad { mode, before: view.arrange(&before) };
    site.emit(op, vec![view.value], Out::permuted(shape, &view.perm))
}
