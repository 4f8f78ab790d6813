//! Additions of a constant for each column of a matrix product, which adds it before it stores.

use super::Draft;
use crate::graph::{BinaryOp, Op, ValueId};

pub(super) fn join(draft: &mut Draft, at: usize) -> bool {
    let Some(node) = draft.node(at) else { return false };
    let (a, b) = match (&node.op, &node.inputs[..]) {
        (Op::Binary(BinaryOp::Add) | Op::Sum, [a, b]) => (*a, *b),
        _ => return false,
    };
    let shape = &draft.graph.get(node.outputs[0]).shape;
    let choice = |product: ValueId, constant: ValueId| {
        let at = draft.open(product).filter(|_| draft.graph.get(product).shape == *shape)?;
        let columns = draft.columns(at)?;
        let data = draft.graph.get(constant).f32_data()?;
        let is_row = data.len() == columns && draft.graph.get(constant).shape.last() == Some(&columns);
        match data {
            [one] => Some((at, constant, vec![*one; columns])),
            row if is_row => Some((at, constant, row.to_vec())),
            _ => None,
        }
    };
    let Some((product, constant, bias)) = choice(a, b).or_else(|| choice(b, a)) else { return false };
    let Some((mut op, mut inputs)) = draft.node(product).map(|n| (n.op.clone(), n.inputs.clone())) else {
        return false;
    };
    match &mut op {
        Op::MatMul { .. } if inputs.len() == 2 => {}
        Op::Gemm { beta, .. } if inputs.len() == 2 => *beta = 1.0,
        _ => return false,
    }
    let is_plain = draft.graph.get(constant).shape == [bias.len()];
    let name = draft.graph.get(constant).name.clone();
    inputs.push(if is_plain { constant } else { draft.constant(&name, vec![bias.len()], bias) });
    draft.join(product, at, op, inputs);
    true
}
