//! Additions of two values of one shape, of which a convolution or a matrix product writes one: it adds the
//! other before it stores, and may take its bytes.

use super::Draft;
use crate::graph::{BinaryOp, Op, ValueId};

pub(super) fn join(draft: &mut Draft, at: usize) -> bool {
    let Some(node) = draft.node(at) else { return false };
    let (a, b) = match (&node.op, &node.inputs[..]) {
        (Op::Binary(BinaryOp::Add) | Op::Sum, [a, b]) if a != b => (*a, *b),
        _ => return false,
    };
    let shape = &draft.graph.get(node.outputs[0]).shape;
    if [a, b].iter().any(|id| draft.graph.get(*id).shape != *shape) {
        return false;
    }
    let choice = |product: ValueId, other: ValueId| {
        let at = draft.open(product)?;
        let is_early = draft.writer[other.index()].is_none_or(|writer| writer < at);
        let has_room = draft.node(at).is_some_and(|n| n.inputs.len() <= 3);
        (is_early && has_room).then_some((at, other))
    };
    // The later of two products: what the other wrote is there by then.
    let Some((product, addend)) = choice(a, b).max(choice(b, a)) else { return false };
    let Some((op, mut inputs)) = draft.node(product).map(|n| (n.op.clone(), n.inputs.clone())) else {
        return false;
    };
    if inputs.len() == 2 {
        let Some(columns) = draft.columns(product) else { return false };
        inputs.push(draft.constant("no_bias", vec![columns], vec![0.0; columns]));
    }
    inputs.push(addend);
    draft.join(product, at, op, inputs);
    true
}
