//! A second, tiny liveness: tensor usage records of a graph, written without the library's own.

use sublet::graph::Graph;

/// `size in bytes, first step, last step` of every intermediate, in order of first use; graph inputs, graph
/// outputs, constants and empty tensors do not count.
pub fn records(graph: &Graph) -> Vec<(u64, usize, usize)> {
    let mut out = Vec::new();
    for (step, node) in graph.nodes.iter().enumerate() {
        for id in &node.outputs {
            let value = graph.get(*id);
            if graph.outputs.contains(id) || value.size_bytes() == 0 {
                continue;
            }
            let last = graph.nodes.iter().rposition(|n| n.inputs.contains(id)).unwrap_or(step);
            out.push((value.size_bytes(), step, last));
        }
    }
    out
}

/// Count, naive total and max load in bytes.
pub fn summary(records: &[(u64, usize, usize)]) -> (usize, u64, u64) {
    let steps = records.iter().map(|r| r.2 + 1).max().unwrap_or(0);
    let load = |step| records.iter().filter(|r| (r.1..=r.2).contains(&step)).map(|r| r.0).sum();
    (records.len(), records.iter().map(|r| r.0).sum(), (0..steps).map(load).max().unwrap_or(0))
}
