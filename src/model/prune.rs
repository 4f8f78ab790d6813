//! Removes what no output depends on.

use crate::graph::{Graph, Node, Value, ValueId};

/// Drops nodes whose outputs nobody needs, and values that no remaining node names; graph inputs stay.
pub(super) fn prune(graph: Graph) -> Graph {
    let mut needed = vec![false; graph.values.len()];
    for id in &graph.outputs {
        needed[id.index()] = true;
    }
    let mut kept: Vec<Node> = Vec::new();
    for node in graph.nodes.into_iter().rev() {
        if node.outputs.iter().any(|id| needed[id.index()]) {
            node.inputs.iter().chain(&node.outputs).for_each(|id| needed[id.index()] = true);
            kept.push(node);
        }
    }
    kept.reverse();
    graph.inputs.iter().for_each(|id| needed[id.index()] = true);

    let mut new_ids = Vec::with_capacity(needed.len());
    let mut values: Vec<Value> = Vec::new();
    for (value, needed) in graph.values.into_iter().zip(needed) {
        new_ids.push(ValueId(values.len() as u32));
        if needed {
            values.push(value);
        }
    }
    let renumber = |ids: Vec<ValueId>| ids.into_iter().map(|id| new_ids[id.index()]).collect();
    let nodes = kept
        .into_iter()
        .map(|n| Node { inputs: renumber(n.inputs), outputs: renumber(n.outputs), ..n })
        .collect();
    Graph {
        name: graph.name,
        values,
        nodes,
        inputs: renumber(graph.inputs),
        outputs: renumber(graph.outputs),
    }
}
