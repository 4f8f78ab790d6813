//! `sublet models`: the built-in networks.

use super::Output;
use super::error::CliError;
use crate::graph::{Sharing, usage};
use crate::model::zoo;
use crate::plan::report::mib;
use crate::plan::{Alignment, bound};
use serde_json::json;

/// Lists them with tensors, naive total and max load (unaligned).
pub fn run() -> Result<Output, CliError> {
    let mut human = format!(
        "{:<14} {:>6} {:>8} {:>38} {:>38}\n",
        "network", "nodes", "tensors", "naive total", "max load"
    );
    let mut rows = Vec::new();
    for name in zoo::names() {
        let Some(graph) = zoo::build(name) else { continue };
        let problem = usage(&graph, Alignment::ONE, &Sharing::default())?.problem;
        let (tensors, naive, load) = (problem.len(), problem.naive_bytes(), bound::max_load(&problem));
        let nodes = graph.nodes.len();
        human.push_str(&format!("{name:<14} {nodes:>6} {tensors:>8} {:>38} {:>38}\n", mib(naive), mib(load)));
        rows.push(json!({
            "name": name,
            "nodes": nodes,
            "tensors": tensors,
            "naive_bytes": naive,
            "max_load_bytes": load,
        }));
    }
    Ok(Output { human, json: json!({ "models": rows }), failure: None })
}
