//! Which nodes should share storage where that is a choice.
//!
//! A view keeps all of its base for as long as it is read, and a concatenation written in place holds its
//! bytes from its first producer on. So single nodes are turned over at the step where the load is highest,
//! for as long as that lowers the load there and raises it to that height nowhere else.

use super::{Choice, Passes, build, views};
use crate::graph::{Graph, Op, Sharing, usage};
use crate::plan::{Alignment, bound};

/// Sharings built in one search, times nodes.
const NODES_TRIED: usize = 400_000;

/// What is lower first: the max load, then the number of steps at it.
pub(super) type Rank = (u64, usize);

/// The lower of all that can be shared and only what costs nothing, with the first step at the max load.
pub(super) fn either(graph: &Graph, passes: Passes) -> (Rank, usize) {
    let [all, some] =
        [Vec::new(), optional(graph, passes)].map(|refused| measure(graph, &build(graph, passes, &refused)));
    all.min(some)
}

/// The best sharing found, starting from all and from none.
pub(super) fn best(graph: &Graph, passes: Passes) -> Sharing {
    let optional = optional(graph, passes);
    let all = build(graph, passes, &[]);
    if optional.is_empty() {
        return all;
    }
    let mut tries = (NODES_TRIED / graph.nodes.len()).clamp(4, 400);
    let mut best: Option<(Rank, Sharing)> = None;
    for refused in [Vec::new(), optional.clone()] {
        let found = tune(graph, passes, &optional, refused, &mut tries);
        if best.as_ref().is_none_or(|(rank, _)| found.0 < *rank) {
            best = Some(found);
        }
    }
    best.map_or(all, |(_, sharing)| sharing)
}

/// Nodes whose sharing may cost something: a whole view never does.
pub(super) fn optional(graph: &Graph, passes: Passes) -> Vec<Choice> {
    let costs = |node: &crate::graph::Node| match node.op {
        Op::Concat { .. } if node.inputs.len() > 1 => passes.concat || passes.strided,
        Op::Slice { .. } => passes.views && views::run_of_input(graph, node).is_some(),
        _ => false,
    };
    let nodes = graph.nodes.iter().enumerate().filter(|(_, node)| costs(node));
    nodes.map(|(node, _)| Choice { node }).collect()
}

/// Turns over one node after the other, the first that helps.
fn tune(
    graph: &Graph,
    passes: Passes,
    optional: &[Choice],
    mut refused: Vec<Choice>,
    tries: &mut usize,
) -> (Rank, Sharing) {
    let mut best = build(graph, passes, &refused);
    let (mut rank, mut peak) = measure(graph, &best);
    // Nodes are tried nearest to the peak first; after a success from the new peak.
    'again: loop {
        let mut near = optional.to_vec();
        near.sort_by_key(|choice| (choice.node.abs_diff(peak), choice.node));
        for choice in near {
            if *tries == 0 {
                return (rank, best);
            }
            *tries -= 1;
            let mut changed = refused.clone();
            match changed.binary_search(&choice) {
                Ok(at) => {
                    changed.remove(at);
                }
                Err(at) => changed.insert(at, choice),
            }
            let sharing = build(graph, passes, &changed);
            let (found, at) = measure(graph, &sharing);
            if found < rank {
                (rank, peak, best, refused) = (found, at, sharing, changed);
                continue 'again;
            }
        }
        return (rank, best);
    }
}

/// The max load with its number of steps, and the first of them.
pub(super) fn measure(graph: &Graph, sharing: &Sharing) -> (Rank, usize) {
    let Ok(usage) = usage(graph, Alignment::ONE, sharing) else { return ((u64::MAX, 0), 0) };
    let breadths = bound::breadths(&usage.problem);
    let highest = breadths.iter().copied().max().unwrap_or(0);
    let first = breadths.iter().position(|b| *b == highest).unwrap_or(0);
    ((highest, breadths.iter().filter(|b| **b == highest).count()), first)
}
