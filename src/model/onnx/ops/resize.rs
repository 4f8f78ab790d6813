//! Resize and Upsample: interpolations along some axes, two at a time.

use crate::graph::Op;
use crate::model::onnx::shape as shapes;
use crate::model::onnx::site::{Fault, Site};
use crate::model::resample::{Axis, Coordinates, Filter, Nearest, Table, table};

/// Output size and scale of one axis.
type Target = (usize, f32);

/// What all axes of a node share.
struct Manner {
    coordinates: Coordinates,
    filter: Filter,
    exclude_outside: bool,
}

/// Upsample, and Resize before operator set 11: scales alone, positions are multiples of the step.
fn by_scales(site: &mut Site, scales: &[f32]) -> Result<(), Fault> {
    let dims = site.shape(0)?;
    if scales.len() != dims.len() {
        return Err(format!("{} scales for {} dimensions", scales.len(), dims.len()).into());
    }
    let targets = (dims.iter().zip(scales).map(|(dim, scale)| scaled(*dim, *scale)))
        .collect::<Result<Vec<Target>, String>>()?;
    let linear = match site.attributes().string("mode")?.unwrap_or("nearest") {
        "nearest" => false,
        "linear" | "bilinear" => true,
        other => return Err(format!("mode is '{other}'").into()),
    };
    let manner = |scale: f32| {
        // As ONNX Runtime does: the element before where the axis grows, after where it shrinks.
        let nearest = if scale < 1.0 { Nearest::Ceil } else { Nearest::Floor };
        let filter = if linear { Filter::Linear { antialias: false } } else { Filter::Nearest(nearest) };
        Manner { coordinates: Coordinates::Asymmetric, filter, exclude_outside: false }
    };
    let axes = targets.iter().enumerate().map(|(d, target)| (d, *target, manner(target.1)));
    interpolate(site, axes.collect(), 0.0)
}

pub(super) fn upsample(site: &mut Site) -> Result<(), Fault> {
    let scales = match site.opset() < 9 {
        true => site.attributes().floats("scales")?.ok_or("attribute 'scales' is missing")?.to_vec(),
        false => floats(site, 1)?.ok_or("input 1 (scales) is missing")?,
    };
    by_scales(site, &scales)
}

pub(super) fn resize(site: &mut Site) -> Result<(), Fault> {
    if site.opset() < 11 {
        let scales = floats(site, 1)?.ok_or("input 1 (scales) is missing")?;
        return by_scales(site, &scales);
    }
    let dims = site.shape(0)?;
    let axes = match site.attributes().ints("axes")? {
        Some(list) => list.iter().map(|a| shapes::axis(*a, dims.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..dims.len()).collect(),
    };
    shapes::axes(&axes.iter().map(|a| *a as i64).collect::<Vec<_>>(), dims.len())?;
    let targets = targets(site, &dims, &axes)?;
    let filter = filter(site)?;
    let exclude_outside = site.attributes().flag("exclude_outside", false)?;
    let outside = site.attributes().float("extrapolation_value")?.unwrap_or(0.0);
    let mut all = Vec::new();
    for (i, (axis, target)) in axes.iter().zip(targets).enumerate() {
        let coordinates = coordinates(site, i, axes.len())?;
        all.push((*axis, target, Manner { coordinates, filter, exclude_outside }));
    }
    interpolate(site, all, outside)
}

/// The numbers of a constant float input, where it is given and not empty.
fn floats(site: &Site, index: usize) -> Result<Option<Vec<f32>>, Fault> {
    let Some(tensor) = site.optional(index) else { return Ok(None) };
    match tensor.f32_data() {
        Some(data) => Ok(Some(data.to_vec()).filter(|data| !data.is_empty())),
        None => Err(format!("input {index} must be constant floats").into()),
    }
}

fn scaled(dim: usize, scale: f32) -> Result<Target, String> {
    let size = (dim as f64 * f64::from(scale)).floor();
    match scale > 0.0 && size < (1u64 << 31) as f64 {
        true => Ok((size as usize, scale)),
        false => Err(format!("scale {scale} of a dimension of {dim}")),
    }
}

/// Output size and scale of the axes, from `sizes` or `scales`.
fn targets(site: &Site, dims: &[usize], axes: &[usize]) -> Result<Vec<Target>, Fault> {
    let counts = |what: &str, found: usize| match found == axes.len() {
        true => Ok(()),
        false => Err(format!("{found} {what} for {} axes", axes.len())),
    };
    let sizes = site.optional_ints(3)?.filter(|sizes| !sizes.is_empty());
    match (floats(site, 2)?, sizes) {
        (Some(scales), None) => {
            counts("scales", scales.len())?;
            let scaled = axes.iter().zip(scales).map(|(d, scale)| scaled(dims[*d], scale));
            Ok(scaled.collect::<Result<Vec<_>, String>>()?)
        }
        (None, Some(sizes)) => {
            counts("sizes", sizes.len())?;
            let sizes = shapes::dims(&sizes)?;
            let policy = site.attributes().string("keep_aspect_ratio_policy")?.unwrap_or("stretch");
            Ok(sized(dims, axes, &sizes, policy)?)
        }
        _ => Err("either scales or sizes must be given".into()),
    }
}

fn sized(dims: &[usize], axes: &[usize], sizes: &[usize], policy: &str) -> Result<Vec<Target>, String> {
    let scales = axes.iter().zip(sizes).map(|(d, size)| *size as f32 / dims[*d].max(1) as f32);
    let common = match policy {
        "stretch" => return Ok(sizes.iter().copied().zip(scales).collect()),
        "not_larger" => scales.fold(f32::INFINITY, f32::min),
        "not_smaller" => scales.fold(0.0, f32::max),
        other => return Err(format!("keep_aspect_ratio_policy is '{other}'")),
    };
    let size = |d: &usize| (f64::from(common) * dims[*d] as f64 + 0.5).floor() as usize;
    Ok(axes.iter().map(|d| (size(d), common)).collect())
}

fn filter(site: &Site) -> Result<Filter, Fault> {
    let attributes = site.attributes();
    let antialias = attributes.flag("antialias", false)?;
    Ok(match attributes.string("mode")?.unwrap_or("nearest") {
        "nearest" => {
            Filter::Nearest(match attributes.string("nearest_mode")?.unwrap_or("round_prefer_floor") {
                "round_prefer_floor" => Nearest::RoundPreferFloor,
                "round_prefer_ceil" => Nearest::RoundPreferCeil,
                "floor" => Nearest::Floor,
                "ceil" => Nearest::Ceil,
                other => return Err(format!("nearest_mode is '{other}'").into()),
            })
        }
        "linear" => Filter::Linear { antialias },
        "cubic" => {
            Filter::Cubic { coefficient: attributes.float("cubic_coeff_a")?.unwrap_or(-0.75), antialias }
        }
        other => return Err(format!("mode is '{other}'").into()),
    })
}

/// Coordinates of the axis at position `i` of `count`; the region of interest lists all starts, then ends.
fn coordinates(site: &Site, i: usize, count: usize) -> Result<Coordinates, Fault> {
    let mode = site.attributes().string("coordinate_transformation_mode")?.unwrap_or("half_pixel");
    Ok(match mode {
        "half_pixel" => Coordinates::HalfPixel,
        "half_pixel_symmetric" => Coordinates::HalfPixelSymmetric,
        "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
        "align_corners" => Coordinates::AlignCorners,
        "asymmetric" => Coordinates::Asymmetric,
        "tf_half_pixel_for_nn" => Coordinates::TfHalfPixelForNn,
        "tf_crop_and_resize" => {
            let roi = floats(site, 1)?.ok_or("tf_crop_and_resize needs input 1 (roi)")?;
            if roi.len() != 2 * count {
                return Err(format!("roi holds {} numbers, {} are due", roi.len(), 2 * count).into());
            }
            Coordinates::Crop { start: roi[i], end: roi[i + count] }
        }
        other => return Err(format!("coordinate_transformation_mode is '{other}'").into()),
    })
}

/// Appends the nodes: one for each two axes that change anything, or a copy.
fn interpolate(site: &mut Site, axes: Vec<(usize, Target, Manner)>, outside: f32) -> Result<(), Fault> {
    let mut dims = site.shape(0)?;
    let mut tables: Vec<(usize, Table)> = Vec::new();
    for (d, (output, scale), manner) in axes {
        let Manner { coordinates, filter, exclude_outside } = manner;
        let axis = Axis { input: dims[d], output, scale, coordinates, filter, exclude_outside };
        let table = table(&axis).map_err(|what| format!("dimension {d}: {what}"))?;
        if !table.is_identity(dims[d]) {
            tables.push((d, table));
        }
    }
    tables.sort_by_key(|(d, _)| *d);
    if tables.is_empty() {
        return site.emit(Op::Copy, &[0], dims);
    }
    let mut x = site.value(0)?;
    let count = tables.len().div_ceil(2);
    for (i, pair) in tables.chunks(2).enumerate() {
        let one = (pair[0].0, Table::one());
        let [(first, a), (second, b)] = [&pair[0], pair.get(1).unwrap_or(&one)];
        dims[*first] = a.positions;
        if second != first {
            dims[*second] = b.positions;
        }
        let op = Op::Resample { axes: [*first, *second], taps: [a.taps, b.taps], outside };
        let tables = [a, b].map(|t| site.constant("table", vec![t.positions, 2 * t.taps], t.data.clone()));
        let inputs = vec![x, tables[0], tables[1]];
        match i + 1 == count {
            true => site.emit_values(op, inputs, dims.clone())?,
            false => x = site.emit_before("axes", op, inputs, dims.clone())?,
        }
    }
    Ok(())
}
