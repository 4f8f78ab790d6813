//! Operators that repeat or regroup elements.

use crate::graph::{Op, PadMode};
use crate::model::onnx::site::{Fault, Site};
use crate::model::shape as shapes;

pub(super) fn tile(site: &mut Site) -> Result<(), Fault> {
    let (dims, repeats) = (site.shape(0)?, shapes::dims(&site.ints(1)?)?);
    if repeats.len() != dims.len() {
        return Err(format!("{} repeats for {} dimensions", repeats.len(), dims.len()).into());
    }
    let product = |(dim, times): (&usize, &usize)| dim.checked_mul(*times);
    let out: Option<Vec<usize>> = dims.iter().zip(&repeats).map(product).collect();
    let out = out.ok_or_else(|| format!("{dims:?} repeated {repeats:?} times is too large"))?;
    site.emit(if out == dims { Op::Copy } else { Op::Tile }, &[0], out)
}

/// Side of a block, and the extents `[N, C, H, W]`.
fn block(site: &Site) -> Result<(usize, [usize; 4]), Fault> {
    let dims = site.shape(0)?;
    let size = site.attributes().int("blocksize")?.ok_or("attribute 'blocksize' is missing")?;
    let size = usize::try_from(size).ok().filter(|size| (1..1 << 15).contains(size));
    match (size, &dims[..]) {
        (Some(size), [n, c, h, w]) => Ok((size, [*n, *c, *h, *w])),
        (None, _) => Err("attribute 'blocksize' is not a size".into()),
        _ => Err(format!("shape {dims:?} is not [N, C, H, W]").into()),
    }
}

/// Reshape, transpose, reshape.
fn regroup(site: &mut Site, split: [usize; 6], perm: [usize; 6], out: Vec<usize>) -> Result<(), Fault> {
    let x = site.value(0)?;
    let x = site.emit_before("split", Op::Copy, vec![x], split.to_vec())?;
    let turned = perm.map(|p| split[p]).to_vec();
    let x = site.emit_before("turned", Op::Transpose { perm: perm.to_vec() }, vec![x], turned)?;
    site.emit_values(Op::Copy, vec![x], out)
}

pub(super) fn depth_to_space(site: &mut Site) -> Result<(), Fault> {
    let (b, [n, c, h, w]) = block(site)?;
    if c % (b * b) != 0 {
        return Err(format!("{c} channels do not divide into blocks of {b} x {b}").into());
    }
    let inner = c / (b * b);
    let out = vec![n, inner, h * b, w * b];
    match site.attributes().string("mode")?.unwrap_or("DCR") {
        "DCR" => regroup(site, [n, b, b, inner, h, w], [0, 3, 4, 1, 5, 2], out),
        "CRD" => regroup(site, [n, inner, b, b, h, w], [0, 1, 4, 2, 5, 3], out),
        other => Err(format!("mode '{other}' is neither DCR nor CRD").into()),
    }
}

pub(super) fn space_to_depth(site: &mut Site) -> Result<(), Fault> {
    let (b, [n, c, h, w]) = block(site)?;
    if h % b != 0 || w % b != 0 {
        return Err(format!("{h} x {w} does not divide into blocks of {b} x {b}").into());
    }
    let out = vec![n, c * b * b, h / b, w / b];
    regroup(site, [n, c, h / b, b, w / b, b], [0, 3, 5, 1, 2, 4], out)
}

/// Crops and pads around the middle; where a difference is odd, the part in front is the smaller one.
pub(super) fn center_crop_pad(site: &mut Site) -> Result<(), Fault> {
    let (dims, target) = (site.shape(0)?, shapes::dims(&site.ints(1)?)?);
    let axes = match site.attributes().ints("axes")? {
        Some(list) => list.iter().map(|a| shapes::axis(*a, dims.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..dims.len()).collect(),
    };
    if axes.len() != target.len() {
        return Err(format!("{} sizes for {} axes", target.len(), axes.len()).into());
    }
    let (mut starts, mut cropped, mut out) = (vec![0; dims.len()], dims.clone(), dims.clone());
    let mut before = vec![0; dims.len()];
    for (axis, size) in axes.into_iter().zip(target) {
        starts[axis] = (dims[axis].saturating_sub(size) / 2) as i64;
        before[axis] = (size.saturating_sub(dims[axis]) / 2) as i64;
        (cropped[axis], out[axis]) = (dims[axis].min(size), size);
    }
    let slice = Op::Slice { starts, steps: vec![1; dims.len()] };
    if out == cropped {
        return site.emit(if out == dims { Op::Copy } else { slice }, &[0], out);
    }
    let mut x = site.value(0)?;
    if cropped != dims {
        x = site.emit_before("cropped", slice, vec![x], cropped)?;
    }
    site.emit_values(Op::Pad { mode: PadMode::Constant(0.0), before }, vec![x], out)
}
