//! Concatenations of channels that convolutions alone read: each convolution reads the parts one after the
//! other and adds up, so that the whole is never stored. Done where that lowers the max load.

use super::{add_constant, forget_unread};
use crate::graph::passes::{Passes, weigh};
use crate::graph::{Graph, Node, Op, Value, ValueId};

/// Graphs measured at most, times nodes.
const NODES_TRIED: usize = 100_000;

/// Splits the readers of concatenations for as long as that lowers the max load, those nearest to its first
/// step first.
pub(in crate::graph::passes) fn split_concats(graph: &mut Graph) {
    if graph.nodes.is_empty() {
        return;
    }
    let (mut rank, mut peak) = weigh::either(graph, Passes::ALL);
    let mut tries = (NODES_TRIED / graph.nodes.len()).clamp(4, 100);
    'again: loop {
        let mut near = candidates(graph);
        near.sort_by_key(|node| (node.abs_diff(peak), *node));
        for node in near {
            if tries == 0 {
                return;
            }
            tries -= 1;
            let mut changed = graph.clone();
            split(&mut changed, node);
            let found = weigh::either(&changed, Passes::ALL);
            if found.0 < rank {
                (rank, peak) = found;
                *graph = changed;
                continue 'again;
            }
        }
        return;
    }
}

/// Concatenations all of whose readers are convolutions that can be split.
fn candidates(graph: &Graph) -> Vec<usize> {
    let fits = |node: &&Node| {
        let output = node.outputs[0];
        matches!(node.op, Op::Concat { axis: 1 })
            && node.inputs.len() > 1
            && node.inputs.iter().all(|id| !graph.get(*id).is_empty() && graph.get(*id).constant.is_none())
            && !graph.outputs.contains(&output)
            && graph
                .nodes
                .iter()
                .filter(|n| n.inputs.contains(&output))
                .all(|n| reads_parts(graph, n, output))
    };
    let found = graph.nodes.iter().enumerate().filter(|(_, node)| fits(node));
    found.map(|(at, _)| at).collect()
}

/// Whether a node is a convolution of one group over that value, with constant weights.
fn reads_parts(graph: &Graph, node: &Node, value: ValueId) -> bool {
    matches!(node.op, Op::Conv { groups: 1, .. })
        && node.inputs[0] == value
        && node.inputs.iter().filter(|id| **id == value).count() == 1
        && graph.get(node.inputs[1]).is_float()
        && graph.get(node.inputs[1]).constant.is_some()
}

/// Puts a chain of convolutions in place of each reader of a concatenation, which goes.
fn split(graph: &mut Graph, concat: usize) {
    let parts = graph.nodes[concat].inputs.clone();
    let whole = graph.nodes[concat].outputs[0];
    let nodes = std::mem::take(&mut graph.nodes);
    for (at, node) in nodes.into_iter().enumerate() {
        match () {
            () if at == concat => {}
            () if node.inputs.first() == Some(&whole) => chain(graph, node, &parts),
            () => graph.nodes.push(node),
        }
    }
    forget_unread(graph);
}

/// One convolution a part; the first adds bias and addend, the last applies the activation.
fn chain(graph: &mut Graph, node: Node, parts: &[ValueId]) {
    let Op::Conv { window, groups, activation } = node.op else { return };
    let (w, output) = (node.inputs[1], node.outputs[0]);
    let maps = graph.get(w).shape[0];
    let (mut first_channel, mut before) = (0, None);
    for (i, part) in parts.iter().enumerate() {
        let channels = graph.get(*part).shape[1];
        let weights = columns(graph, w, first_channel, channels);
        first_channel += channels;
        let mut inputs = vec![*part, weights];
        match before {
            None => inputs.extend(&node.inputs[2..]),
            Some(sum) => inputs.extend([add_constant(graph, "no_bias", vec![maps], vec![0.0; maps]), sum]),
        }
        let is_last = i + 1 == parts.len();
        let written = if is_last {
            output
        } else {
            let Value { name, shape, .. } = graph.get(output).clone();
            graph.value(Value::f32(format!("{name}/part{i}#{}", graph.values.len()), shape))
        };
        let op = Op::Conv { window, groups, activation: activation.filter(|_| is_last) };
        let name = if is_last { node.name.clone() } else { format!("{}/part{i}", node.name) };
        graph.node(name, op, inputs, vec![written]);
        before = Some(written);
    }
}

/// The weights of some input channels.
fn columns(graph: &mut Graph, w: ValueId, first: usize, channels: usize) -> ValueId {
    let Value { name, mut shape, .. } = graph.get(w).clone();
    let taps: usize = shape[2..].iter().product();
    let row = (shape[1] * taps).max(1);
    let range = first * taps..(first + channels) * taps;
    let data = graph.get(w).f32_data().unwrap_or_default();
    let data: Vec<f32> = data.chunks_exact(row).flat_map(|row| row[range.clone()].to_vec()).collect();
    shape[1] = channels;
    add_constant(graph, &format!("{name}/from{first}"), shape, data)
}
