//! Convolutions: which of the three kernels, and weights over the binding limit in channel segments.

use super::grid::Lowering;
use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, Op, UnaryOp, Window};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Output channels and pixels below which a 64 x 64 tile is mostly empty.
const TILED_MIN: usize = 16;
/// Taps from which a row of one channel is a filter over a signal.
const FILTER_MIN: usize = 64;
/// Side of a tile of `conv2d_tiled`.
const TILE: usize = 64;
/// Invocations of a workgroup of the other two, and outputs of each.
const WORKGROUP: usize = 64;
const OUTPUTS: usize = 4;
/// Furthest position of a window; below 2^30, so that no sum of a position, an extent and pads leaves 32
/// bits.
pub(super) const FURTHEST: usize = 1 << 29;

/// The sizes of a convolution, checked against each other.
struct Conv {
    window: Window,
    groups: usize,
    batch: usize,
    in_channels: usize,
    input: [usize; 2],
    out_channels: usize,
    out: [usize; 2],
}

/// Dispatches of an [`Op::Conv`].
pub(super) fn lower_conv(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
) -> Result<Vec<Dispatch>, LowerError> {
    let cx = Lowering::new(graph, node, limits);
    let Op::Conv { window, groups, activation } = &node.op else {
        return Err(cx.unsupported("not a convolution"));
    };
    let conv = Conv::read(&cx, *window, *groups)?;
    let activation = activation_words(&cx, *activation)?;
    let (x, w, y) = (cx.whole(cx.input(0)?)?, cx.input(1)?, cx.whole(cx.output()?)?);
    let optional = |i: usize| node.inputs.get(i).map_or(Ok(Operand::Absent), |id| cx.whole(*id));
    let (bias, addend) = (optional(2)?, optional(3)?);
    if y == Operand::Absent {
        return Ok(Vec::new());
    }
    cx.whole(w)?;
    let kernel = conv.kernel();
    let row_len = conv.depth();
    let segments = cx.segments(w, conv.out_channels, row_len)?;
    if segments.len() > 1 && conv.groups > 1 {
        return Err(cx.unsupported(format!(
            "weights of {} bytes in {} groups, the device binds at most {}; grouped weights are not split",
            conv.out_channels * row_len * 4,
            conv.groups,
            limits.max_binding_bytes
        )));
    }
    let mut dispatches = Vec::with_capacity(segments.len());
    for (first, channels) in &segments {
        let w = match channels * row_len {
            0 => Operand::Absent,
            len => Operand::Value { value: w, start_len: first * row_len, len },
        };
        dispatches.push(Dispatch {
            kernel,
            inputs: vec![x, w, bias, addend],
            output: y,
            params: conv.params(&cx, [*first, *channels], [bias, addend], activation)?,
            workgroups: conv.workgroups(&cx, kernel, *channels)?,
            fills_output: segments.len() == 1,
            rows: None,
        });
    }
    Ok(dispatches)
}

/// `act`, `act_a`, `act_b` of the parameter block.
pub(super) fn activation_words(
    cx: &Lowering,
    activation: Option<UnaryOp>,
) -> Result<(u32, f32, f32), LowerError> {
    match activation {
        None => Ok((0, 0.0, 0.0)),
        Some(UnaryOp::Relu) => Ok((1, 0.0, 0.0)),
        Some(UnaryOp::Clip { min, max }) => Ok((2, min, max)),
        Some(UnaryOp::LeakyRelu { alpha }) => Ok((3, alpha, 0.0)),
        Some(other) => {
            Err(cx.unsupported(format!("{} is not applied as it is stored", Op::Unary(other).name())))
        }
    }
}

/// `[outer.., H, W]` of a tensor `[N, C, H, W]` or `[N, C, L]`.
pub(super) fn image_dims(cx: &Lowering, shape: &[usize], role: &str) -> Result<[usize; 4], LowerError> {
    match *shape {
        [n, c, h, w] => Ok([n, c, h, w]),
        [n, c, l] => Ok([n, c, 1, l]),
        _ => {
            Err(cx.unsupported(format!("{role} has {} dimensions, a window slides over 3 or 4", shape.len())))
        }
    }
}

/// Refuses windows that cannot slide, or reach too far.
pub(super) fn check_window(cx: &Lowering, window: &Window, out: [usize; 2]) -> Result<(), LowerError> {
    for (axis, out) in out.into_iter().enumerate() {
        let (kernel, stride, dilation) = (window.kernel[axis], window.strides[axis], window.dilations[axis]);
        if kernel == 0 || stride == 0 || dilation == 0 {
            return Err(cx.unsupported(format!("kernel {kernel}, stride {stride}, dilation {dilation}")));
        }
        let last = (out.max(1) - 1).checked_mul(stride);
        let reach = last.and_then(|l| (kernel - 1).checked_mul(dilation)?.checked_add(l));
        let furthest = reach.map_or(usize::MAX, |r| r.max(window.pads[axis]).max(window.pads[axis + 2]));
        if furthest > FURTHEST {
            return Err(cx.unsupported(format!("window reaches position {furthest}, beyond {FURTHEST}")));
        }
    }
    Ok(())
}

impl Conv {
    fn read(cx: &Lowering, window: Window, groups: usize) -> Result<Conv, LowerError> {
        let (x, w, y) = (cx.shape(cx.input(0)?), cx.shape(cx.input(1)?), cx.shape(cx.output()?));
        let [batch, in_channels, in_h, in_w] = image_dims(cx, x, "the input")?;
        let [out_channels, group_in, kernel_h, kernel_w] = image_dims(cx, w, "the weight")?;
        let [y_batch, y_channels, out_h, out_w] = image_dims(cx, y, "the output")?;
        let bias_len = cx.node.inputs.get(2).map(|id| cx.graph.get(*id).len());
        let fits = groups > 0
            && in_channels.checked_rem(groups) == Some(0)
            && in_channels / groups == group_in
            && out_channels.checked_rem(groups) == Some(0)
            && window.kernel == [kernel_h, kernel_w]
            && (y_batch, y_channels) == (batch, out_channels)
            && bias_len.is_none_or(|len| len == out_channels)
            && cx.node.inputs.get(3).is_none_or(|id| cx.shape(*id) == y);
        if !fits {
            return Err(cx.unsupported(format!(
                "input {x:?}, weight {w:?}, bias {bias_len:?}, output {y:?}, kernel {:?}, {groups} groups",
                window.kernel
            )));
        }
        let out = [out_h, out_w];
        check_window(cx, &window, out)?;
        Ok(Conv { window, groups, batch, in_channels, input: [in_h, in_w], out_channels, out })
    }

    /// Multiply-adds of one output element.
    fn depth(&self) -> usize {
        self.in_channels / self.groups * self.window.kernel[0] * self.window.kernel[1]
    }

    /// Whether long filters slide over one signal, as at the front of audio networks. Their outputs may be
    /// small differences of large products, and a logarithm often follows; only the direct kernel sums long
    /// rows in chunks.
    fn is_filter_bank(&self) -> bool {
        self.in_channels == self.groups && self.window.kernel[0] == 1 && self.window.kernel[1] >= FILTER_MIN
    }

    fn kernel(&self) -> KernelId {
        let pixels = self.batch * self.out[0] * self.out[1];
        if self.groups > 1 && self.groups == self.in_channels {
            KernelId::Conv2dDepthwise
        } else if self.is_filter_bank() {
            KernelId::Conv2d
        } else if self.out_channels / self.groups >= TILED_MIN && pixels >= TILED_MIN {
            KernelId::Conv2dTiled
        } else {
            KernelId::Conv2d
        }
    }

    fn params(
        &self,
        cx: &Lowering,
        [first, channels]: [usize; 2],
        [bias, addend]: [Operand; 2],
        (act, act_a, act_b): (u32, f32, f32),
    ) -> Result<Vec<u32>, LowerError> {
        let Window { kernel, strides, pads, dilations } = self.window;
        let block = cx.words(ParamWriter::new(5), &[self.batch, self.in_channels])?;
        let block = cx.words(block, &self.input)?;
        let block = cx.words(block, &[self.out_channels])?;
        let block = cx.words(block, &self.out)?;
        let block = cx.words(block, &[self.groups])?;
        let block = cx.words(block, &kernel)?;
        let block = cx.words(block, &strides)?;
        let block = cx.words(block, &pads[..2])?;
        let block = cx.words(block, &dilations)?;
        let block = cx.words(block, &[first, channels])?;
        let is_there = |operand| u32::from(operand != Operand::Absent);
        let block = block.u32(is_there(bias)).u32(act).f32(act_a).f32(act_b);
        Ok(block.u32(is_there(addend)).finish())
    }

    fn workgroups(&self, cx: &Lowering, kernel: KernelId, channels: usize) -> Result<[u32; 3], LowerError> {
        let group_out = channels / self.groups;
        let pixels = self.out[0] * self.out[1];
        let items = match kernel {
            KernelId::Conv2dTiled => {
                let [x, z] = cx.fold((self.batch * pixels).div_ceil(TILE));
                return cx.workgroups([x, self.groups * group_out.div_ceil(TILE), z]);
            }
            KernelId::Conv2dDepthwise => {
                self.batch * self.out_channels * self.out[0] * self.out[1].div_ceil(OUTPUTS)
            }
            _ => self.batch * self.groups * group_out.div_ceil(OUTPUTS) * pixels,
        };
        let [x, y] = cx.fold(items.div_ceil(WORKGROUP));
        cx.workgroups([x, y, 1])
    }
}
