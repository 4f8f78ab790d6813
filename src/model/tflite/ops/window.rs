//! Operators that slide a window: convolutions and pooling.

use crate::graph::{Op, PoolKind, UnaryOp, ValueId, Window, Window3};
use crate::model::fault::Fault;
use crate::model::tflite::site::{NCHW, Out, Site};

/// Attributes beyond this are mistakes; sums and products of two fit 64 bits.
const MAX_ATTRIBUTE: i32 = 1 << 29;

/// How one dimension is padded and how many windows fit.
struct Axis {
    before: usize,
    after: usize,
    positions: usize,
}

/// TFLite's two paddings: SAME has as many windows as strides begin in the input and pads half before, the
/// odd cell after; VALID has as many as fit.
fn axis(same: bool, input: usize, reach: usize, stride: usize) -> Result<Axis, Fault> {
    if same {
        let positions = input.div_ceil(stride);
        let total = (positions.saturating_sub(1) * stride + reach).saturating_sub(input);
        return Ok(Axis { before: total / 2, after: total - total / 2, positions });
    }
    match input.checked_sub(reach) {
        Some(room) => Ok(Axis { before: 0, after: 0, positions: room / stride + 1 }),
        None => Err(format!("a window of {reach} does not fit into {input} without padding").into()),
    }
}

/// Whether an attribute says SAME (else VALID).
pub(super) fn is_same(site: &Site, field: usize) -> Result<bool, Fault> {
    match site.option::<i8>(field, 0)? {
        0 => Ok(true),
        1 => Ok(false),
        other => Err(format!("padding is {other}, not 0 (SAME) or 1 (VALID)").into()),
    }
}

/// A positive attribute.
pub(super) fn size(site: &Site, field: usize, default: i32, what: &str) -> Result<usize, Fault> {
    match site.option(field, default)? {
        value if (1..=MAX_ATTRIBUTE).contains(&value) => Ok(value as usize),
        value => Err(format!("{what} is {value}; from 1 to {MAX_ATTRIBUTE} is supported").into()),
    }
}

/// Rows and columns of the window's sizes, and the number of positions. `around` is padding that belongs to
/// the input: top, left, bottom, right.
fn window(
    same: bool,
    input: [usize; 2],
    around: [usize; 4],
    kernel: [usize; 2],
    strides: [usize; 2],
    dilations: [usize; 2],
) -> Result<(Window, [usize; 2]), Fault> {
    if kernel.iter().any(|k| !(1..=MAX_ATTRIBUTE as usize).contains(k)) {
        return Err(format!("kernel {kernel:?}; from 1 to {MAX_ATTRIBUTE} on a side is supported").into());
    }
    let reach = |d: usize| dilations[d] * (kernel[d] - 1) + 1;
    let along = |d: usize| axis(same, input[d] + around[d] + around[d + 2], reach(d), strides[d]);
    let [rows, columns] = [along(0)?, along(1)?];
    let own = [rows.before, columns.before, rows.after, columns.after];
    let pads = std::array::from_fn(|i| own[i] + around[i]);
    Ok((Window { kernel, strides, pads, dilations }, [rows.positions, columns.positions]))
}

/// Batch, rows, columns, channels.
pub(super) fn image(site: &Site, input: usize) -> Result<[usize; 4], Fault> {
    let shape = site.shape(input)?;
    <[usize; 4]>::try_from(&shape[..])
        .map_err(|_| format!("input {input} has {} dimensions {shape:?}, 4 are due", shape.len()).into())
}

/// What a convolution does to its output before it is stored; the rest is a node of its own.
fn fusable(activation: Option<UnaryOp>) -> (Option<UnaryOp>, Option<UnaryOp>) {
    match activation {
        Some(UnaryOp::Relu | UnaryOp::Clip { .. }) => (activation, None),
        other => (None, other),
    }
}

/// Weights are `[output channels, rows, columns, input channels of a group]`.
pub(super) fn conv_2d(site: &mut Site) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 0)?;
    let [out_channels, kernel_rows, kernel_columns, group_channels] = image(site, 1)?;
    if group_channels == 0 || !channels.is_multiple_of(group_channels) {
        return Err(format!("the input has {channels} channels, the weights read {group_channels}").into());
    }
    let groups = channels / group_channels;
    if !out_channels.is_multiple_of(groups) {
        return Err(format!("{out_channels} output channels do not divide into {groups} groups").into());
    }
    let strides = [size(site, 2, 1, "stride")?, size(site, 1, 1, "stride")?];
    let dilations = [size(site, 5, 1, "dilation")?, size(site, 4, 1, "dilation")?];
    let kernel = [kernel_rows, kernel_columns];
    let around = site.take_padding()?;
    let (window, positions) = window(is_same(site, 0)?, [rows, columns], around, kernel, strides, dilations)?;
    let shape = vec![batch, positions[0], positions[1], out_channels];
    let weights = site.permuted(1, &NCHW)?;
    convolve(site, window, groups, weights, shape, 3)
}

/// Weights are `[1, rows, columns, output channels]`, of which each input channel has as many as the next.
pub(super) fn depthwise_conv_2d(site: &mut Site) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 0)?;
    let [one, kernel_rows, kernel_columns, out_channels] = image(site, 1)?;
    if one != 1 || channels == 0 || !out_channels.is_multiple_of(channels) {
        let weights = site.shape(1)?;
        return Err(format!("weights {weights:?} for {channels} input channels").into());
    }
    let strides = [size(site, 2, 1, "stride")?, size(site, 1, 1, "stride")?];
    let dilations = [size(site, 6, 1, "dilation")?, size(site, 5, 1, "dilation")?];
    let kernel = [kernel_rows, kernel_columns];
    let around = site.take_padding()?;
    let (window, positions) = window(is_same(site, 0)?, [rows, columns], around, kernel, strides, dilations)?;
    let shape = vec![batch, positions[0], positions[1], out_channels];
    let weights = site.permuted(1, &[3, 0, 1, 2])?;
    convolve(site, window, channels, weights, shape, 4)
}

fn convolve(
    site: &mut Site,
    window: Window,
    groups: usize,
    weights: ValueId,
    shape: Vec<usize>,
    activation_field: usize,
) -> Result<(), Fault> {
    let (inside, behind) = fusable(site.activation(activation_field)?);
    let mut inputs = vec![site.permuted(0, &NCHW)?, weights];
    if site.optional(2).is_some() {
        inputs.push(bias(site, 2, shape[3])?);
    }
    let op = Op::Conv { window, groups, activation: inside };
    site.emit_activated(op, inputs, Out::permuted(shape, &NCHW), behind)
}

/// A bias of one element an output channel.
pub(super) fn bias(site: &mut Site, input: usize, channels: usize) -> Result<ValueId, Fault> {
    let shape = site.shape(input)?;
    if shape.iter().product::<usize>() != channels {
        return Err(format!("bias {shape:?} for {channels} output channels").into());
    }
    site.plain(input, &[channels])
}

/// The output's shape is input 0, weights are `[output channels, rows, columns, input channels]`. Padding is
/// that of the convolution which would lead back to the input.
pub(super) fn transpose_conv(site: &mut Site) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 2)?;
    let [out_channels, kernel_rows, kernel_columns, read_channels] = image(site, 1)?;
    let shape = crate::model::shape::dims(&site.ints(0)?)?;
    let [out_batch, out_rows, out_columns, due_channels] = <[usize; 4]>::try_from(&shape[..])
        .map_err(|_| format!("output {shape:?} has {} dimensions, 4 are due", shape.len()))?;
    if channels != read_channels {
        let what = format!("the input has {channels} channels, the weights read {read_channels}");
        return Err(what.into());
    }
    if (out_batch, due_channels) != (batch, out_channels) {
        return Err(format!("output {shape:?} for {batch} images and {out_channels} channels").into());
    }
    let strides = [size(site, 2, 1, "stride")?, size(site, 1, 1, "stride")?];
    let before = |input: usize, stride: usize, kernel: usize, output: usize| {
        let covered = (input.max(1) - 1).checked_mul(stride).and_then(|c| c.checked_add(kernel));
        covered.map(|covered| covered.saturating_sub(output) / 2).ok_or("it covers too many pixels")
    };
    let top = before(rows, strides[0], kernel_rows, out_rows)?;
    let left = before(columns, strides[1], kernel_columns, out_columns)?;
    let window = Window3 {
        kernel: [1, kernel_rows, kernel_columns],
        strides: [1, strides[0], strides[1]],
        pads: [0, top, left, 0, top, left],
        dilations: [1; 3],
    };
    let mut inputs = vec![site.permuted(2, &NCHW)?, site.permuted(1, &[3, 0, 1, 2])?];
    if site.optional(3).is_some() {
        inputs.push(bias(site, 3, out_channels)?);
    }
    let activation = site.activation(3)?;
    let op = Op::ConvTranspose { window, groups: 1 };
    site.emit_activated(op, inputs, Out::permuted(shape, &NCHW), activation)
}

pub(super) fn max_pool_2d(site: &mut Site) -> Result<(), Fault> {
    pool(site, PoolKind::Max)
}

/// Padding never counts.
pub(super) fn average_pool_2d(site: &mut Site) -> Result<(), Fault> {
    pool(site, PoolKind::Average { count_include_pad: false })
}

fn pool(site: &mut Site, kind: PoolKind) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 0)?;
    let strides = [size(site, 2, 1, "stride")?, size(site, 1, 1, "stride")?];
    let kernel = [size(site, 4, 1, "window")?, size(site, 3, 1, "window")?];
    let (window, positions) = window(is_same(site, 0)?, [rows, columns], [0; 4], kernel, strides, [1, 1])?;
    let shape = vec![batch, positions[0], positions[1], channels];
    let activation = site.activation(5)?;
    let input = site.permuted(0, &NCHW)?;
    site.emit_activated(Op::Pool { kind, window }, vec![input], Out::permuted(shape, &NCHW), activation)
}
