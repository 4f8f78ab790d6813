//! Concatenations whose inputs are written where they belong in the result, one after the other.

use super::Kind;
use crate::graph::{Graph, Op, Sharing, ValueId};

/// Makes inputs of a concatenation part of its result, or the result part of what its inputs are in already.
///
/// That works where the inputs lie one after the other in the result: no dimension before the axis is longer
/// than 1. An input that is part of something else, or that another concatenation has taken, is copied.
pub(super) fn elide(graph: &Graph, kinds: &[Kind], node: usize, sharing: &mut Sharing) {
    let Op::Concat { axis } = graph.nodes[node].op else { return };
    let [output] = graph.nodes[node].outputs[..] else { return };
    let before: usize = graph.get(output).shape[..axis].iter().product();
    if before != 1 || graph.get(output).is_empty() || sharing.touches(node) {
        return;
    }
    let inputs = &graph.nodes[node].inputs;
    if kinds[output.index()] == Kind::Intermediate && is_part(graph, inputs, output, sharing) {
        inputs.iter().enumerate().for_each(|(i, _)| sharing.elide(node, i));
        return;
    }
    let mut start = 0;
    for (i, input) in inputs.iter().enumerate() {
        if take(graph, kinds, *input, output, start, sharing) {
            sharing.elide(node, i);
        }
        start += graph.get(*input).len();
    }
}

/// Where all inputs lie one after the other in something else, the output is a part of that.
fn is_part(graph: &Graph, inputs: &[ValueId], output: ValueId, sharing: &mut Sharing) -> bool {
    let (root, first) = sharing.place(inputs[0]);
    let in_rows = inputs.iter().any(|input| sharing.rows(*input).is_some());
    if root == inputs[0] || in_rows || !sharing.is_alone(output) {
        return false;
    }
    let mut start = first;
    for input in inputs {
        if sharing.place(*input) != (root, start) {
            return false;
        }
        start += graph.get(*input).len();
    }
    sharing.put(output, root, first);
    true
}

/// Puts the storage of `input`, all of it, into `output`; whether it is there then.
fn take(
    graph: &Graph,
    kinds: &[Kind],
    input: ValueId,
    output: ValueId,
    start: usize,
    sharing: &mut Sharing,
) -> bool {
    if graph.get(input).is_empty() {
        return true;
    }
    let (root, root_start) = sharing.place(input);
    let (whole, whole_start) = sharing.place(output);
    if sharing.rows(input).or(sharing.rows(output)).is_some() {
        return false;
    }
    if root == whole {
        return root_start == whole_start + start;
    }
    let is_whole = root_start == 0 && graph.get(root).len() == graph.get(input).len();
    if !is_whole || kinds[root.index()] != Kind::Intermediate {
        return false;
    }
    sharing.put(root, output, start);
    true
}
