//! Activations that a convolution applies before it stores.

use super::Draft;
use crate::graph::{Op, UnaryOp};

pub(super) fn join(draft: &mut Draft, at: usize) -> bool {
    let Some(node) = draft.node(at) else { return false };
    let Op::Unary(f @ (UnaryOp::Relu | UnaryOp::Clip { .. } | UnaryOp::LeakyRelu { .. })) = node.op else {
        return false;
    };
    let Some(conv) = draft.open_conv(node.inputs[0]) else { return false };
    let Some((Op::Conv { window, groups, .. }, inputs)) =
        draft.node(conv).map(|n| (n.op.clone(), n.inputs.clone()))
    else {
        return false;
    };
    draft.join(conv, at, Op::Conv { window, groups, activation: Some(f) }, inputs);
    true
}
