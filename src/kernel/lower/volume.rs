//! Convolutions over three dimensions, transposed ones over one to three, and indices of largest elements.

use super::conv::FURTHEST;
use super::grid::Lowering;
use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, Op, Window3};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Invocations of a workgroup, and output channels of each.
const WORKGROUP: usize = 64;
const OUTPUTS: usize = 4;

/// A convolution in either direction, its sizes read.
struct Volume<'a> {
    window: &'a Window3,
    groups: usize,
    batch: usize,
    channels: [usize; 2],
    input: [usize; 3],
    out: [usize; 3],
}

/// The dispatch of an [`Op::Conv3d`] or an [`Op::ConvTranspose`].
pub(super) fn lower_volume(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
) -> Result<Vec<Dispatch>, LowerError> {
    let cx = Lowering::new(graph, node, limits);
    let (window, groups, kernel) = match &node.op {
        Op::Conv3d { window, groups } => (window, *groups, KernelId::Conv3d),
        Op::ConvTranspose { window, groups } => (window, *groups, KernelId::ConvTranspose),
        _ => return Err(cx.unsupported("not a convolution over three dimensions")),
    };
    let volume = Volume::read(&cx, window, groups, kernel)?;
    let output = cx.whole(cx.output()?)?;
    if output == Operand::Absent {
        return Ok(Vec::new());
    }
    let bias = node.inputs.get(2).map_or(Ok(Operand::Absent), |id| cx.whole(*id))?;
    let places: usize = volume.out.iter().product();
    let items = volume.batch * groups * (volume.channels[1] / groups).div_ceil(OUTPUTS) * places;
    let [across, down] = cx.fold(items.div_ceil(WORKGROUP));
    Ok(vec![Dispatch {
        kernel,
        inputs: vec![cx.whole(cx.input(0)?)?, cx.whole(cx.input(1)?)?, bias],
        output,
        params: volume.params(&cx)?.u32(u32::from(bias != Operand::Absent)).finish(),
        workgroups: cx.workgroups([across, down, 1])?,
        fills_output: true,
        rows: None,
    }])
}

impl<'a> Volume<'a> {
    fn read(
        cx: &Lowering,
        window: &'a Window3,
        groups: usize,
        kernel: KernelId,
    ) -> Result<Volume<'a>, LowerError> {
        let (x, w, y) = (cx.shape(cx.input(0)?), cx.shape(cx.input(1)?), cx.shape(cx.output()?));
        let [batch, in_channels, input @ ..] = volume_dims(cx, x, "the input")?;
        let [first, second, taps @ ..] = volume_dims(cx, w, "the weight")?;
        let [y_batch, out_channels, out @ ..] = volume_dims(cx, y, "the output")?;
        // A transposed convolution stores its weights by input channels.
        let transposed = kernel == KernelId::ConvTranspose;
        let (by, of) = if transposed { (in_channels, out_channels) } else { (out_channels, in_channels) };
        let bias_len = cx.node.inputs.get(2).map(|id| cx.graph.get(*id).len());
        let fits = groups > 0
            && first == by
            && by.checked_rem(groups) == Some(0)
            && second.checked_mul(groups) == Some(of)
            && taps == window.kernel
            && y_batch == batch
            && bias_len.is_none_or(|len| len == out_channels);
        if !fits {
            return Err(cx.unsupported(format!(
                "input {x:?}, weight {w:?}, bias {bias_len:?}, output {y:?}, kernel {:?}, {groups} groups",
                window.kernel
            )));
        }
        check_reach(cx, window, if transposed { input } else { out }, if transposed { out } else { input })?;
        Ok(Volume { window, groups, batch, channels: [in_channels, out_channels], input, out })
    }

    /// The parameter block up to the bias.
    fn params(&self, cx: &Lowering) -> Result<ParamWriter, LowerError> {
        let block = cx.words(ParamWriter::new(4), &[self.batch, self.channels[0]])?;
        let block = cx.words(block, &self.input)?;
        let block = cx.words(block, &[self.channels[1]])?;
        let block = cx.words(block, &self.out)?;
        let block = cx.words(block, &[self.groups])?;
        window_words(cx, block, self.window)
    }
}

/// Kernel, strides, pads in front, dilations.
fn window_words(cx: &Lowering, block: ParamWriter, window: &Window3) -> Result<ParamWriter, LowerError> {
    let block = cx.words(block, &window.kernel)?;
    let block = cx.words(block, &window.strides)?;
    let block = cx.words(block, &window.pads[..3])?;
    cx.words(block, &window.dilations)
}

/// The dispatch of an [`Op::MaxPoolIndices`].
pub(super) fn lower_max_pool_indices(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
    window: &Window3,
    column_major: bool,
) -> Result<Vec<Dispatch>, LowerError> {
    let cx = Lowering::new(graph, node, limits);
    let (x, y) = (cx.input(0)?, cx.output()?);
    let [batch, channels, input @ ..] = volume_dims(&cx, cx.shape(x), "the input")?;
    let [y_batch, y_channels, out @ ..] = volume_dims(&cx, cx.shape(y), "the output")?;
    if (batch, channels) != (y_batch, y_channels) {
        let what = format!("input {:?} and output {:?} do not fit", cx.shape(x), cx.shape(y));
        return Err(cx.unsupported(what));
    }
    check_reach(&cx, window, out, input)?;
    let output = cx.whole(y)?;
    let Operand::Value { len, .. } = output else { return Ok(Vec::new()) };
    let [d, h, w] = input;
    // Dimensions that the input does not have are 1 and step nowhere.
    let steps = if column_major { [1, d, d * h] } else { [h * w, w, 1] };
    let block = cx.words(ParamWriter::new(2), &[batch * channels])?;
    let block = cx.words(cx.words(block, &input)?, &out)?;
    let block = cx.words(window_words(&cx, block, window)?, &steps)?;
    let [across, down] = cx.fold(len.div_ceil(WORKGROUP));
    Ok(vec![Dispatch {
        kernel: KernelId::MaxPoolIndices,
        inputs: vec![cx.whole(x)?],
        output,
        params: block.finish(),
        workgroups: cx.workgroups([across, down, 1])?,
        fills_output: true,
        rows: None,
    }])
}

/// `[N, C, D, H, W]` of a tensor with 1 to 3 spatial dimensions.
fn volume_dims(cx: &Lowering, shape: &[usize], role: &str) -> Result<[usize; 5], LowerError> {
    match *shape {
        [n, c, d, h, w] => Ok([n, c, d, h, w]),
        [n, c, h, w] => Ok([n, c, 1, h, w]),
        [n, c, l] => Ok([n, c, 1, 1, l]),
        _ => Err(cx.unsupported(format!("{role} has {} dimensions, 3 to 5 are computed", shape.len()))),
    }
}

/// Refuses windows that do not step, and positions that leave 32 bits: `starts` windows over `size` elements.
fn check_reach(
    cx: &Lowering,
    window: &Window3,
    starts: [usize; 3],
    size: [usize; 3],
) -> Result<(), LowerError> {
    for axis in 0..3 {
        let (kernel, stride, dilation) = (window.kernel[axis], window.strides[axis], window.dilations[axis]);
        if kernel == 0 || stride == 0 || dilation == 0 {
            return Err(cx.unsupported(format!("kernel {kernel}, stride {stride}, dilation {dilation}")));
        }
        let last = (starts[axis].max(1) - 1).checked_mul(stride);
        let reach = last.and_then(|l| (kernel - 1).checked_mul(dilation)?.checked_add(l));
        let furthest = reach.map_or(usize::MAX, |r| r.max(size[axis].saturating_add(window.pads[axis])));
        if furthest > FURTHEST {
            return Err(cx.unsupported(format!("window reaches position {furthest}, beyond {FURTHEST}")));
        }
    }
    Ok(())
}
