//! Scales and shifts by channel, folded into the weights and the bias of a convolution: batch normalisation,
//! and arithmetic with constants.

use super::Draft;
use crate::graph::{BinaryOp, Graph, Node, Op, ValueId};

/// `scale * y + shift`, one of each an output channel.
struct Affine {
    scale: Vec<f64>,
    shift: Vec<f64>,
}

pub(super) fn join(draft: &mut Draft, at: usize) -> bool {
    let Some((conv, affine)) = draft.node(at).and_then(|node| find(draft, node)) else { return false };
    let Some((op, inputs)) = draft.node(conv).map(|n| (n.op.clone(), n.inputs.clone())) else { return false };
    // Weights that others read would have to be held twice; an addend is not scaled with them.
    if inputs.len() > 3 || draft.reads[inputs[1].index()] > 1 {
        return false;
    }
    let Some(w) = draft.graph.get(inputs[1]).f32_data() else { return false };
    let shape = draft.graph.get(inputs[1]).shape.clone();
    let bias = match inputs.get(2) {
        None => None,
        Some(id) => match draft.graph.get(*id).f32_data() {
            Some(data) => Some(data),
            None => return false,
        },
    };
    let channels = affine.scale.len();
    let row = w.len() / channels.max(1);
    let scaled = |(i, w): (usize, &f32)| (f64::from(*w) * affine.scale[i / row.max(1)]) as f32;
    let weights: Vec<f32> = w.iter().enumerate().map(scaled).collect();
    let shifted = |c: usize| {
        let bias = bias.map_or(0.0, |b| f64::from(b[c]));
        (bias * affine.scale[c] + affine.shift[c]) as f32
    };
    let bias: Vec<f32> = (0..channels).map(shifted).collect();
    let name = draft.graph.get(inputs[1]).name.clone();
    let unscaled = affine.scale.iter().all(|s| *s == 1.0);
    let weights =
        if unscaled { inputs[1] } else { draft.constant(&format!("{name}/scaled"), shape, weights) };
    let bias = draft.constant(&format!("{name}/shifted"), vec![channels], bias);
    draft.join(conv, at, op, vec![inputs[0], weights, bias]);
    true
}

/// The convolution and what the node does to its result.
fn find(draft: &Draft, node: &Node) -> Option<(usize, Affine)> {
    let graph = &*draft.graph;
    let shape = &graph.get(*node.outputs.first()?).shape;
    let channels = *shape.get(1)?;
    let conv = |value: ValueId| draft.open_conv(value).filter(|_| graph.get(value).shape == *shape);
    match &node.op {
        Op::BatchNormalization { epsilon } => {
            Some((conv(node.inputs[0])?, normalisation(graph, &node.inputs[1..], *epsilon)?))
        }
        Op::Binary(op) => {
            let (a, b) = (node.inputs[0], node.inputs[1]);
            let affine = |value: ValueId, constant: ValueId, swapped: bool| {
                let by_channel = by_channel(graph, constant, shape.len(), channels)?;
                Some((conv(value)?, arithmetic(*op, by_channel, swapped)?))
            };
            affine(a, b, false).or_else(|| affine(b, a, true))
        }
        _ => None,
    }
}

fn normalisation(graph: &Graph, statistics: &[ValueId], epsilon: f32) -> Option<Affine> {
    let data = |i: usize| graph.get(*statistics.get(i)?).f32_data();
    let (scale, bias, mean, variance) = (data(0)?, data(1)?, data(2)?, data(3)?);
    let factor: Vec<f64> = scale
        .iter()
        .zip(variance)
        .map(|(scale, variance)| f64::from(*scale) / (f64::from(*variance) + f64::from(epsilon)).sqrt())
        .collect();
    let shift = bias.iter().zip(mean).zip(&factor).map(|((b, m), f)| f64::from(*b) - f64::from(*m) * f);
    Some(Affine { shift: shift.collect(), scale: factor })
}

/// A constant's value for each channel, where it is one for all elements of a channel.
fn by_channel(graph: &Graph, constant: ValueId, rank: usize, channels: usize) -> Option<Vec<f64>> {
    let value = graph.get(constant);
    let data = value.f32_data()?;
    // Broadcasting lines dimensions up from the last; the channels are the second of the output's.
    let axis = (value.shape.len() + 1).checked_sub(rank);
    let along = axis.and_then(|axis| value.shape.get(axis)).copied().unwrap_or(1);
    match data.len() {
        1 => Some(vec![f64::from(data[0]); channels]),
        len if len == channels && along == channels => Some(data.iter().map(|x| f64::from(*x)).collect()),
        _ => None,
    }
}

/// Arithmetic with a constant on the right, or `swapped` on the left.
fn arithmetic(op: BinaryOp, constant: Vec<f64>, swapped: bool) -> Option<Affine> {
    let n = constant.len();
    let (scale, shift) = match (op, swapped) {
        (BinaryOp::Add, _) => (vec![1.0; n], constant),
        (BinaryOp::Sub, false) => (vec![1.0; n], constant.into_iter().map(|c| -c).collect()),
        (BinaryOp::Sub, true) => (vec![-1.0; n], constant),
        (BinaryOp::Mul, _) => (constant, vec![0.0; n]),
        (BinaryOp::Div, false) if constant.iter().all(|c| *c != 0.0) => {
            (constant.into_iter().map(|c| 1.0 / c).collect(), vec![0.0; n])
        }
        _ => return None,
    };
    Some(Affine { scale, shift })
}
