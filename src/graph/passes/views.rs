//! Nodes whose output is a run of their input's elements: no node needs to run for it.

use super::Kind;
use crate::graph::{Graph, Node, Op, PadMode, Sharing, Value};

/// First element of the input at which the output's elements lie one after the other, if they do.
pub(super) fn run_of_input(graph: &Graph, node: &Node) -> Option<usize> {
    let ([x], [y]) = (&node.inputs[..], &node.outputs[..]) else { return None };
    let (x, y) = (graph.get(*x), graph.get(*y));
    let same = (x.len() == y.len()).then_some(0);
    match &node.op {
        Op::Copy | Op::Expand | Op::Concat { .. } | Op::Sum => same,
        Op::Pad { mode: PadMode::Constant(_), before } if before.iter().all(|b| *b == 0) => same,
        Op::Transpose { perm } => same.filter(|_| keeps_order(x, perm)),
        Op::Slice { starts, steps } => contiguous(x, y, starts, steps),
        _ => None,
    }
}

/// Whether a permutation moves no two dimensions longer than 1 past each other.
fn keeps_order(x: &Value, perm: &[usize]) -> bool {
    perm.iter().filter(|d| x.shape[**d] > 1).is_sorted()
}

/// First element of a slice that is one run: behind the first dimension that it cuts, everything is taken.
fn contiguous(x: &Value, y: &Value, starts: &[i64], steps: &[i64]) -> Option<usize> {
    if y.is_empty() || x.shape.len() != y.shape.len() {
        return None;
    }
    let mut start = 0usize;
    let mut cut = false;
    let mut stride = 1;
    for d in (0..x.shape.len()).rev() {
        // Inside a cut dimension's element all dimensions are whole; outside, only one index is left.
        if y.shape[d] > 1 && (steps[d] != 1 || cut) {
            return None;
        }
        cut |= y.shape[d] < x.shape[d];
        start += usize::try_from(starts[d]).ok()? * stride;
        stride *= x.shape[d];
    }
    Some(start)
}

/// Makes the output part of its input's storage, or the input part of the output's where that is the
/// caller's buffer.
pub(super) fn alias(graph: &Graph, kinds: &[Kind], node: usize, sharing: &mut Sharing) {
    let Some(start) = run_of_input(graph, &graph.nodes[node]) else { return };
    let (x, y) = (graph.nodes[node].inputs[0], graph.nodes[node].outputs[0]);
    let (root, root_start) = sharing.place(x);
    if graph.get(y).is_empty() || graph.get(root).constant.is_some() {
        return;
    }
    if kinds[y.index()] == Kind::Intermediate {
        sharing.put(y, x, start);
        sharing.elide(node, 0);
    } else if kinds[root.index()] == Kind::Intermediate
        && start + root_start == 0
        && graph.get(root).len() == graph.get(y).len()
    {
        sharing.put(root, y, 0);
        sharing.elide(node, 0);
    }
}
