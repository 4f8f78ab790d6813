//! Operators that slide a window: Conv, MaxPool, AveragePool, LpPool.

use super::{compose, reduce};
use crate::graph::{DType, Op, PoolKind, Window, Window3};
use crate::model::onnx::attributes::Attributes;
use crate::model::onnx::site::{Fault, Site};

/// A window over the spatial dimensions, and how many positions it has along each.
struct Resolved {
    kernel: Vec<usize>,
    strides: Vec<usize>,
    dilations: Vec<usize>,
    axes: Vec<Axis>,
}

impl Resolved {
    fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.axes.iter().map(|a| a.positions)
    }

    /// The window over dimensions `d` and `d + 1`; over `d` alone it is the second of two.
    fn two(&self, d: usize, alone: bool) -> Window {
        let pair = |list: &[usize], none: usize| if alone { [none, list[d]] } else { [list[d], list[d + 1]] };
        let side = |side: fn(&Axis) -> usize| pair(&self.axes.iter().map(side).collect::<Vec<_>>(), 0);
        let ([top, left], [bottom, right]) = (side(|a| a.before), side(|a| a.after));
        Window {
            kernel: pair(&self.kernel, 1),
            strides: pair(&self.strides, 1),
            pads: [top, left, bottom, right],
            dilations: pair(&self.dilations, 1),
        }
    }

    /// The window over up to three dimensions, which are the last ones.
    fn three(&self) -> Window3 {
        let front = 3 - self.kernel.len();
        let fill = |list: &[usize], none: usize| {
            std::array::from_fn(|d| if d < front { none } else { list[d - front] })
        };
        let side = |side: fn(&Axis) -> usize| fill(&self.axes.iter().map(side).collect::<Vec<_>>(), 0);
        let ([z, y, x], [back, bottom, right]) = (side(|a| a.before), side(|a| a.after));
        Window3 {
            kernel: fill(&self.kernel, 1),
            strides: fill(&self.strides, 1),
            pads: [z, y, x, back, bottom, right],
            dilations: fill(&self.dilations, 1),
        }
    }
}

/// Attributes beyond this are mistakes; sums and products of two fit 64 bits.
pub(super) const MAX_ATTRIBUTE: i64 = 1 << 31;

/// Most spatial dimensions of a pool.
const MAX_POOLED: usize = 6;

/// A list attribute of `len` numbers, each at least `min`.
pub(super) fn list(
    attributes: &Attributes,
    name: &str,
    len: usize,
    min: i64,
) -> Result<Option<Vec<usize>>, String> {
    let Some(values) = attributes.ints(name)? else { return Ok(None) };
    if values.len() != len {
        return Err(format!("attribute '{name}' has {} numbers, {len} are due", values.len()));
    }
    let check = |v: &i64| match *v {
        v if (min..MAX_ATTRIBUTE).contains(&v) => Ok(v as usize),
        v => Err(format!("attribute '{name}' holds {v}; from {min} on is supported")),
    };
    values.iter().map(check).collect::<Result<Vec<_>, _>>().map(Some)
}

/// How one dimension is padded and how many windows fit.
struct Axis {
    before: usize,
    after: usize,
    positions: usize,
}

/// TensorFlow's SAME: as many windows as strides, the odd cell of padding after (upper) or before (lower).
fn same(input: usize, reach: usize, stride: usize, upper: bool) -> Axis {
    let positions = input.div_ceil(stride);
    let total = (positions.saturating_sub(1) * stride + reach).saturating_sub(input);
    let small = total / 2;
    let (before, after) = if upper { (small, total - small) } else { (total - small, small) };
    Axis { before, after, positions }
}

fn explicit(input: usize, reach: usize, stride: usize, pads: [usize; 2], ceil: bool) -> Result<Axis, String> {
    let [before, after] = pads;
    let padded = input + before + after;
    let Some(room) = padded.checked_sub(reach) else {
        return Err(format!("a window of {reach} does not fit into {padded} ({input} + {before} + {after})"));
    };
    let mut positions = room / stride + 1;
    // With ceil_mode one more window may hang over the end, but it must start inside input or front padding.
    if ceil && !room.is_multiple_of(stride) && positions * stride < input + before {
        positions += 1;
    }
    Ok(Axis { before, after, positions })
}

/// Resolves kernel, strides, pads, dilations, auto_pad and ceil_mode over the dimensions `spatial`.
fn resolve(site: &Site, spatial: &[usize], kernel: &[usize], pool: bool) -> Result<Resolved, Fault> {
    let attributes = site.attributes();
    let rank = spatial.len();
    let ones = || vec![1; rank];
    let strides = list(&attributes, "strides", rank, 1)?.unwrap_or_else(ones);
    let dilations = list(&attributes, "dilations", rank, 1)?.unwrap_or_else(ones);
    let pads = list(&attributes, "pads", 2 * rank, 0)?.unwrap_or_else(|| vec![0; 2 * rank]);
    let ceil = pool && attributes.flag("ceil_mode", false)?;
    let auto = attributes.string("auto_pad")?.filter(|a| !a.is_empty()).unwrap_or("NOTSET");
    if auto != "NOTSET" && pads.iter().any(|p| *p > 0) {
        return Err(format!("auto_pad {auto} and pads {pads:?} exclude each other").into());
    }
    let mut axes = Vec::with_capacity(rank);
    for d in 0..rank {
        let reach = dilations[d] * (kernel[d] - 1) + 1;
        let pair = [pads[d], pads[d + rank]];
        if pool && pair.iter().any(|p| *p >= reach) {
            return Err(format!("padding {pair:?} is not smaller than the window of {reach}").into());
        }
        axes.push(match auto {
            "SAME_UPPER" => same(spatial[d], reach, strides[d], true),
            "SAME_LOWER" => same(spatial[d], reach, strides[d], false),
            "VALID" | "NOTSET" => explicit(spatial[d], reach, strides[d], pair, ceil)?,
            other => return Err(format!("auto_pad is '{other}'").into()),
        });
    }
    Ok(Resolved { kernel: kernel.to_vec(), strides, dilations, axes })
}

/// Batch, channels and spatial dimensions of an input.
fn spatial(shape: &[usize], most: usize) -> Result<(usize, usize, &[usize]), String> {
    match shape {
        [n, c, rest @ ..] if (1..=most).contains(&rest.len()) => Ok((*n, *c, rest)),
        _ => Err(format!(
            "input of {} dimensions {shape:?}; 3 (1-D) to {} ({most}-D) are supported",
            shape.len(),
            most + 2
        )),
    }
}

pub(super) fn conv(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    let shape = site.shape(0)?;
    let (batch, channels, dims) = spatial(&shape, 3)?;
    let weights = site.shape(1)?;
    if weights.len() != shape.len() {
        return Err(format!("weights {weights:?} do not match an input of {} dimensions", shape.len()).into());
    }
    let groups = attributes.int("group")?.unwrap_or(1);
    let groups =
        usize::try_from(groups).ok().filter(|g| *g >= 1).ok_or_else(|| format!("group is {groups}"))?;
    let (out_channels, group_channels, kernel) = (weights[0], weights[1], &weights[2..]);
    if group_channels.checked_mul(groups) != Some(channels) {
        return Err(format!(
            "the input has {channels} channels, the weights read {group_channels} in each of {groups} groups"
        )
        .into());
    }
    if !out_channels.is_multiple_of(groups) {
        return Err(format!("{out_channels} output channels do not divide into {groups} groups").into());
    }
    if let Some(stated) = attributes.ints("kernel_shape")?
        && !stated.iter().map(|k| *k as usize).eq(kernel.iter().copied())
    {
        return Err(format!("kernel_shape is {stated:?}, the weights hold {kernel:?}").into());
    }
    if kernel.iter().any(|k| !(1..MAX_ATTRIBUTE as usize).contains(k)) {
        return Err(format!("kernel {kernel:?}; from 1 to 2^31 on a side is supported").into());
    }
    let mut inputs = vec![0, 1];
    if let Some(bias) = site.optional(2) {
        if bias.shape[..] != [out_channels] {
            return Err(format!("bias {:?} for {out_channels} output channels", bias.shape).into());
        }
        inputs.push(2);
    }
    let resolved = resolve(site, dims, kernel, false)?;
    let mut out = vec![batch, out_channels];
    out.extend(resolved.positions());
    let op = match dims.len() {
        3 => Op::Conv3d { window: resolved.three(), groups },
        rank => Op::Conv { window: resolved.two(0, rank == 1), groups, activation: None },
    };
    site.emit(op, &inputs, out)
}

pub(super) fn max_pool(site: &mut Site) -> Result<(), Fault> {
    if site.output_used(1) {
        let shape = site.shape(0)?;
        let (batch, channels, dims) = spatial(&shape, 3)?;
        let resolved = pool_window(site, dims)?;
        let mut out = vec![batch, channels];
        out.extend(resolved.positions());
        let column_major = site.attributes().flag("storage_order", false)?;
        let op = Op::MaxPoolIndices { window: resolved.three(), column_major };
        let x = site.value(0)?;
        site.emit_output_as(1, op, vec![x], out, DType::I64)?;
    }
    pool(site, PoolKind::Max)
}

pub(super) fn average_pool(site: &mut Site) -> Result<(), Fault> {
    let count_include_pad = site.attributes().flag("count_include_pad", false)?;
    pool(site, PoolKind::Average { count_include_pad })
}

pub(super) fn lp_pool(site: &mut Site) -> Result<(), Fault> {
    let p = reduce::exponent(site)?;
    pool(site, PoolKind::Lp { p })
}

fn pool_window(site: &Site, dims: &[usize]) -> Result<Resolved, Fault> {
    let kernel = list(&site.attributes(), "kernel_shape", dims.len(), 1)?;
    let kernel = kernel.ok_or("attribute 'kernel_shape' is missing")?;
    resolve(site, dims, &kernel, true)
}

/// Over more than two dimensions a pool is a pool over the last two, then one over each other: the largest of
/// largest elements, the mean of means over the same cells, the norm of norms.
fn pool(site: &mut Site, kind: PoolKind) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let (batch, channels, dims) = spatial(&shape, MAX_POOLED)?;
    let resolved = pool_window(site, dims)?;
    let rank = dims.len();
    let mut out = vec![batch, channels];
    out.extend(resolved.positions());
    let mut x = site.value(0)?;
    let dtype = site.dtype_of(x);
    if !dtype.is_float() {
        // Narrow integers are exact as floats; the largest of them needs no more.
        let narrow = dtype.int_range().is_some_and(|(low, high)| low >= -(1 << 16) && high <= 1 << 16);
        if !narrow || kind != PoolKind::Max {
            return Err(format!("pools of {dtype} are not supported").into());
        }
        x = site.emit_before_as("floats", Op::Cast, vec![x], shape.clone(), DType::F32)?;
    }
    let result = if dtype.is_float() { Op::Copy } else { Op::Cast };
    if rank <= 2 {
        let op = Op::Pool { kind, window: resolved.two(0, rank == 1) };
        if dtype.is_float() {
            return site.emit_values(op, vec![x], out);
        }
        x = site.emit_before("pooled", op, vec![x], out.clone())?;
        return site.emit_output_as(0, result, vec![x], out, dtype);
    }
    // The first `outer` dimensions are still to be pooled, the others are.
    for outer in (0..rank - 1).rev() {
        let (last, behind) = match outer + 2 == rank {
            true => (dims[rank - 1], out[rank + 1]),
            false => (out[outer + 3..].iter().product(), out[outer + 3..].iter().product()),
        };
        let rows = channels * dims[..outer].iter().product::<usize>();
        x = compose::view(site, "planes", x, vec![batch, rows, dims[outer], last])?;
        let mut window = resolved.two(outer, false);
        if outer + 2 < rank {
            (window.kernel[1], window.strides[1], window.dilations[1]) = (1, 1, 1);
            (window.pads[1], window.pads[3]) = (0, 0);
        }
        let pooled = vec![batch, rows, out[outer + 2], behind];
        x = site.emit_before("pooled", Op::Pool { kind, window }, vec![x], pooled)?;
    }
    site.emit_output_as(0, result, vec![x], out, dtype)
}
