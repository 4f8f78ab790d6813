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
    /// on, off, or those to run of fuse, views, concat, strided and in-place, separated by commas.
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

/// What can be asked for beyond what is, as the flags that ask for it.
impl PassArgs {
    /// The searched order, unless it is asked for already.
    pub fn with_order(&self) -> Option<(PassArgs, Vec<String>)> {
        let flags = ["--order".to_owned(), "memory".to_owned()];
        (self.order != Order::Memory)
            .then(|| (PassArgs { order: Order::Memory, ..self.clone() }, flags.into()))
    }

    /// Each pass that is off, on; and all of them where there are several.
    pub fn with_passes(&self) -> Vec<(PassArgs, Vec<String>)> {
        let names = ["fuse", "views", "concat", "strided", "in-place"];
        let on = |p: &Passes| [p.fuse, p.views, p.concat, p.strided, p.in_place];
        let now = on(&self.passes);
        let off: Vec<usize> = (0..names.len()).filter(|i| !now[*i]).collect();
        let mut found = Vec::new();
        for with in off.iter().map(|i| vec![*i]).chain((off.len() > 1).then(|| off.clone())) {
            let chosen: Vec<&str> =
                (0..names.len()).filter(|i| now[*i] || with.contains(i)).map(|i| names[i]).collect();
            let list = if chosen.len() == names.len() { "on".to_owned() } else { chosen.join(",") };
            if let Ok(passes) = passes(&list) {
                found.push((PassArgs { passes, ..self.clone() }, vec!["--passes".to_owned(), list]));
            }
        }
        found
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
            "strided" => passes.strided = true,
            "in-place" => passes.in_place = true,
            other => {
                return Err(format!("no pass '{other}': on, off, fuse, views, concat, strided, in-place"));
            }
        }
    }
    Ok(passes)
}
