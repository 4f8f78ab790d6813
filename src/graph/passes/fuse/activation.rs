//! Activations that a convolution or a matrix product applies before it stores.

use super::Draft;
use crate::graph::{Op, UnaryOp};

pub(super) fn join(draft: &mut Draft, at: usize) -> bool {
    let Some(node) = draft.node(at) else { return false };
    let Op::Unary(f @ (UnaryOp::Relu | UnaryOp::Clip { .. } | UnaryOp::LeakyRelu { .. })) = node.op else {
        return false;
    };
    let Some(product) = draft.open(node.inputs[0]) else { return false };
    let Some((mut op, inputs)) = draft.node(product).map(|n| (n.op.clone(), n.inputs.clone())) else {
        return false;
    };
    match &mut op {
        Op::Conv { activation, .. } | Op::MatMul { activation } | Op::Gemm { activation, .. } => {
            *activation = Some(f);
        }
        _ => return false,
    }
    draft.join(product, at, op, inputs);
    true
}
