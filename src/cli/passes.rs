//! `--passes` and `--order`: what is done to a model before it is planned.

use super::error::CliError;
use super::units;
use crate::exec::Layout;
use crate::graph::passes::{Order, Passes};
use crate::graph::{Graph, Sharing};
use std::time::Duration;

/// Passes over a model.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PassArgs {
    /// on, off, or those to run of fuse, views, concat and in-place, separated by commas.
    #[arg(long, default_value = "on", value_name = "LIST", value_parser = passes)]
    passes: Passes,
    /// Order of a model's operators: given, or searched for the lowest max load (memory).
    #[arg(long, default_value = "given", value_name = "NAME", value_parser = order)]
    order: Order,
    /// Take the lowest order found after that long (2s, 500ms).
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    order_deadline: Option<Duration>,
}

impl PassArgs {
    /// Rewrites a graph as asked, and finds what shares storage in that layout.
    ///
    /// # Errors
    /// The graph breaks a rule.
    pub fn apply(&self, graph: Graph, layout: Layout) -> Result<(Graph, Sharing), CliError> {
        let order = match (self.order, self.order_deadline) {
            (Order::Memory, Some(time)) => Order::MemoryWithin(time),
            (Order::Memory, None) => Order::Memory,
            (_, None) => Order::Given,
            (_, Some(_)) => return Err(CliError::input("--order-deadline goes with --order memory")),
        };
        let passes = layout.allows(Passes { order, ..self.passes });
        Ok(passes.apply(graph)?)
    }
}

fn order(text: &str) -> Result<Order, String> {
    match text {
        "given" => Ok(Order::Given),
        "memory" => Ok(Order::Memory),
        _ => Err(format!("no order '{text}': given or memory")),
    }
}

fn passes(text: &str) -> Result<Passes, String> {
    match text {
        "on" => return Ok(Passes::ALL),
        "off" => return Ok(Passes::NONE),
        _ => {}
    }
    let mut passes = Passes::NONE;
    for name in text.split(',') {
        match name.trim() {
            "fuse" => passes.fuse = true,
            "views" => passes.views = true,
            "concat" => passes.concat = true,
            "in-place" => passes.in_place = true,
            other => return Err(format!("no pass '{other}': on, off, fuse, views, concat, in-place")),
        }
    }
    Ok(passes)
}
