//! `sublet models`: the built-in networks.

use super::error::CliError;
use super::format::mib;
use crate::graph::usage;
use crate::model::zoo;
use crate::plan::{Alignment, bound};
use serde_json::json;
use std::process::ExitCode;

/// Lists them with tensors, naive total and max load (unaligned).
pub fn run(as_json: bool) -> Result<ExitCode, CliError> {
    let mut rows = Vec::new();
    if !as_json {
        println!("{:<14} {:>6} {:>8} {:>31}  {:>31}", "network", "nodes", "tensors", "naive total", "max load");
    }
    for name in zoo::names() {
        let Some(graph) = zoo::build(name) else { continue };
        let usage = usage(&graph, Alignment::new(1)?).map_err(crate::exec::ExecError::from)?;
        let (tensors, naive, load) = (usage.problem.len(), usage.problem.naive_bytes(), bound::max_load(&usage.problem));
        if as_json {
            rows.push(json!({
                "name": name,
                "nodes": graph.nodes.len(),
                "tensors": tensors,
                "naive_bytes": naive,
                "max_load_bytes": load,
            }));
        } else {
            println!("{name:<14} {:>6} {tensors:>8} {}  {}", graph.nodes.len(), mib(naive), mib(load));
        }
    }
    if as_json {
        println!("{}", json!({ "models": rows }));
    }
    Ok(ExitCode::SUCCESS)
}
