//! Pooling windows.

use super::conv::{check_window, image_dims};
use super::grid::Lowering;
use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, Op, PoolKind};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Invocations of a workgroup.
const WORKGROUP: usize = 64;

/// The dispatch of an [`Op::Pool`].
pub(super) fn lower_pool(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
) -> Result<Vec<Dispatch>, LowerError> {
    let cx = Lowering::new(graph, node, limits);
    let Op::Pool { kind, window } = &node.op else {
        return Err(cx.unsupported("not a pooling"));
    };
    let (x, y) = (cx.input(0)?, cx.output()?);
    let [batch, channels, in_h, in_w] = image_dims(&cx, cx.shape(x), "the input")?;
    let [y_batch, y_channels, out_h, out_w] = image_dims(&cx, cx.shape(y), "the output")?;
    if (batch, channels) != (y_batch, y_channels) {
        return Err(cx.unsupported(format!(
            "input {:?} and output {:?} do not fit",
            cx.shape(x),
            cx.shape(y)
        )));
    }
    check_window(&cx, window, [out_h, out_w])?;
    let output = cx.whole(y)?;
    let Operand::Value { len, .. } = output else { return Ok(Vec::new()) };
    let (kind, power) = match kind {
        PoolKind::Max => (0, 1.0),
        PoolKind::Average { count_include_pad: false } => (1, 1.0),
        PoolKind::Average { count_include_pad: true } => (2, 1.0),
        PoolKind::Lp { p } => (3, *p as f32),
    };
    if power < 1.0 {
        return Err(cx.unsupported("the exponent of a norm is 0"));
    }
    let block = cx.words(ParamWriter::new(2), &[batch * channels, in_h, in_w, out_h, out_w])?;
    let block = cx.words(block, &window.kernel)?;
    let block = cx.words(block, &window.strides)?;
    let block = cx.words(block, &window.pads)?;
    let block = cx.words(block, &window.dilations)?;
    let [across, down] = cx.fold(len.div_ceil(WORKGROUP));
    Ok(vec![Dispatch {
        kernel: KernelId::Pool2d,
        inputs: vec![cx.whole(x)?],
        output,
        params: block.u32(kind).f32(power).finish(),
        workgroups: cx.workgroups([across, down, 1])?,
        fills_output: true,
        rows: None,
    }])
}
