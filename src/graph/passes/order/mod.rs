//! The order of the nodes with the lowest max load.
//!
//! Orders are searched in a picture of the load that is cheap to keep up ([`model`]), exactly where that can
//! be done ([`exact`]) and by a beam elsewhere ([`beam`]). What they are worth is judged by the sharing, the
//! max load and the peak that they really lead to; the order given stays unless another one is lower.

mod beam;
mod exact;
mod model;
mod pieces;
#[cfg(test)]
mod tests;

use super::{Passes, build, weigh};
use crate::graph::{Graph, Sharing, usage};
use crate::plan::{Alignment, Effort, Planner};
use exact::Budget;
use model::Model;
use pieces::Aim;
use std::time::Duration;

/// Searches that start from the best order so far.
const ROUNDS: usize = 3;
/// Nodes executed or weighed in all searches together.
const WORK: u64 = 100_000_000;

/// What is lower first: peak, max load, steps at the max load.
type Worth = (u64, weigh::Rank);

/// An order with what it leads to.
struct Candidate {
    graph: Graph,
    sharing: Sharing,
    worth: Worth,
}

/// Puts the nodes in the best order found; with a deadline, in the best that is found by then.
pub(super) fn reorder(graph: &mut Graph, passes: Passes, deadline: Option<Duration>) {
    let mut work = Budget::new(WORK).within(deadline);
    let sharing = passes.share(graph);
    let worth = worth(graph, &sharing, Effort::Fast, &work);
    let given = Candidate { graph: graph.clone(), sharing, worth };
    let mut best = None;
    for _ in 0..ROUNDS {
        let Some(better) = search(best.as_ref().unwrap_or(&given), passes, &mut work) else { break };
        best = Some(better);
    }
    if let Some(best) = best.filter(|best| is_lower(best, &given, &work)) {
        *graph = best.graph;
    }
}

/// Whether an order is lower than the one given once both are planned with more than the least effort.
fn is_lower(found: &Candidate, given: &Candidate, work: &Budget) -> bool {
    let [found, given] = [found, given].map(|c| {
        let is_at_load = c.worth.0 <= c.worth.1.0;
        if is_at_load { c.worth } else { worth(&c.graph, &c.sharing, Effort::Balanced, work) }
    });
    found < given
}

/// The best order that is better than the one so far.
fn search(so_far: &Candidate, passes: Passes, work: &mut Budget) -> Option<Candidate> {
    let graph = &so_far.graph;
    let least = build(graph, passes, &weigh::optional(graph, passes));
    let mut orders: Vec<Vec<u32>> = vec![(0..graph.nodes.len() as u32).collect()];
    let mut best: Option<Candidate> = None;
    for sharing in [&so_far.sharing, &least] {
        let model = Model::new(graph, sharing);
        for aim in [Aim::Highest, Aim::Everywhere] {
            if work.is_over() {
                return best;
            }
            let order = pieces::order(&model, aim, work);
            if orders.contains(&order) {
                continue;
            }
            let graph = permuted(graph, &order);
            orders.push(order);
            let sharing = passes.share(&graph);
            let now = best.as_ref().map_or(so_far.worth, |b| b.worth);
            // No peak is below the max load.
            let load = weigh::measure(&graph, &sharing).0.0;
            if load > so_far.worth.1.0 || load > now.0 {
                continue;
            }
            let worth = worth(&graph, &sharing, Effort::Fast, work);
            if worth < now {
                best = Some(Candidate { graph, sharing, worth });
            }
        }
    }
    best
}

/// The graph with its nodes in another order.
fn permuted(graph: &Graph, order: &[u32]) -> Graph {
    let nodes = order.iter().map(|at| graph.nodes[*at as usize].clone()).collect();
    Graph { nodes, ..graph.clone() }
}

/// What the planner makes of an order.
fn worth(graph: &Graph, sharing: &Sharing, effort: Effort, work: &Budget) -> Worth {
    let planner = Planner::auto().effort(effort);
    let planner = work.time_left().into_iter().fold(planner, Planner::deadline);
    let plan = usage(graph, Alignment::ONE, sharing).ok().and_then(|u| planner.plan(&u.problem).ok());
    (plan.map_or(u64::MAX, |plan| plan.peak_bytes()), weigh::measure(graph, sharing).0)
}
