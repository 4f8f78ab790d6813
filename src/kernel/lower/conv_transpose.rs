//! Transposed convolutions.

use super::conv::FURTHEST;
use super::grid::Lowering;
use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, Op, Window3};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Invocations of a workgroup, and output channels of each.
const WORKGROUP: usize = 64;
const OUTPUTS: usize = 4;

/// The dispatch of an [`Op::ConvTranspose`].
pub(super) fn lower_conv_transpose(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
) -> Result<Vec<Dispatch>, LowerError> {
    let cx = Lowering::new(graph, node, limits);
    let Op::ConvTranspose { window, groups } = &node.op else {
        return Err(cx.unsupported("not a transposed convolution"));
    };
    let (x, w, y) = (cx.input(0)?, cx.input(1)?, cx.output()?);
    let [batch, in_channels, input @ ..] = volume_dims(&cx, cx.shape(x), "the input")?;
    let [w_in, group_out, kernel @ ..] = volume_dims(&cx, cx.shape(w), "the weight")?;
    let [y_batch, out_channels, out @ ..] = volume_dims(&cx, cx.shape(y), "the output")?;
    let bias_len = node.inputs.get(2).map(|id| graph.get(*id).len());
    let fits = *groups > 0
        && in_channels.checked_rem(*groups) == Some(0)
        && w_in == in_channels
        && group_out.checked_mul(*groups) == Some(out_channels)
        && kernel == window.kernel
        && y_batch == batch
        && bias_len.is_none_or(|len| len == out_channels);
    if !fits {
        return Err(cx.unsupported(format!(
            "input {:?}, weight {:?}, bias {bias_len:?}, output {:?}, kernel {:?}, {groups} groups",
            cx.shape(x),
            cx.shape(w),
            cx.shape(y),
            window.kernel
        )));
    }
    check_reach(&cx, window, input, out)?;
    let output = cx.whole(y)?;
    if output == Operand::Absent {
        return Ok(Vec::new());
    }
    let bias = node.inputs.get(2).map_or(Ok(Operand::Absent), |id| cx.whole(*id))?;
    let block = cx.words(ParamWriter::new(4), &[batch, in_channels])?;
    let block = cx.words(block, &input)?;
    let block = cx.words(block, &[out_channels])?;
    let block = cx.words(block, &out)?;
    let block = cx.words(block, &[*groups])?;
    let block = cx.words(block, &window.kernel)?;
    let block = cx.words(block, &window.strides)?;
    let block = cx.words(block, &window.pads[..3])?;
    let block = cx.words(block, &window.dilations)?;
    let items = batch * groups * group_out.div_ceil(OUTPUTS) * out.iter().product::<usize>();
    let [across, down] = cx.fold(items.div_ceil(WORKGROUP));
    Ok(vec![Dispatch {
        kernel: KernelId::ConvTranspose,
        inputs: vec![cx.whole(x)?, cx.whole(w)?, bias],
        output,
        params: block.u32(u32::from(bias != Operand::Absent)).finish(),
        workgroups: cx.workgroups([across, down, 1])?,
        fills_output: true,
    }])
}

/// `[N, C, D, H, W]` of a tensor with 1 to 3 spatial dimensions.
pub(super) fn volume_dims(cx: &Lowering, shape: &[usize], role: &str) -> Result<[usize; 5], LowerError> {
    match *shape {
        [n, c, d, h, w] => Ok([n, c, d, h, w]),
        [n, c, h, w] => Ok([n, c, 1, h, w]),
        [n, c, l] => Ok([n, c, 1, 1, l]),
        _ => Err(cx.unsupported(format!("{role} has {} dimensions, 3 to 5 are computed", shape.len()))),
    }
}

/// Refuses windows that do not step, and positions that leave 32 bits.
fn check_reach(
    cx: &Lowering,
    window: &Window3,
    input: [usize; 3],
    out: [usize; 3],
) -> Result<(), LowerError> {
    for axis in 0..3 {
        let (kernel, stride, dilation) = (window.kernel[axis], window.strides[axis], window.dilations[axis]);
        if kernel == 0 || stride == 0 || dilation == 0 {
            return Err(cx.unsupported(format!("kernel {kernel}, stride {stride}, dilation {dilation}")));
        }
        let last = (input[axis].max(1) - 1).checked_mul(stride);
        let reach = last.and_then(|l| (kernel - 1).checked_mul(dilation)?.checked_add(l));
        let furthest = reach.map_or(usize::MAX, |r| r.max(out[axis].saturating_add(window.pads[axis])));
        if furthest > FURTHEST {
            return Err(cx.unsupported(format!("window reaches position {furthest}, beyond {FURTHEST}")));
        }
    }
    Ok(())
}
