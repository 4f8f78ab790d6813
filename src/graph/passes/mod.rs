//! Passes over a graph: rewriting it, and finding values that need no storage of their own.
//!
//! Each can be left out. What rewrites the graph changes the order of additions at most; what shares storage
//! changes no bit.

mod concat;
mod fuse;
mod in_place;
mod order;
mod strided;
mod views;
mod weigh;

use super::sharing::{Kind, kinds};
use super::{Graph, GraphError, Sharing};
use std::time::Duration;

/// Whose order the schedule has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// The model's.
    #[default]
    Given,
    /// The one found with the lowest max load; never a higher one than the model's.
    Memory,
    /// The lowest found in that time, which then depends on the machine.
    MemoryWithin(Duration),
}

/// Which passes run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    /// Batch normalisation, additions and activations join the convolution or matrix product before them; a
    /// convolution reads the parts of a concatenation where that lowers the max load.
    pub fuse: bool,
    /// Reshapes and contiguous slices are bytes of their input.
    pub views: bool,
    /// Producers write into the result of a concatenation.
    pub concat: bool,
    /// They do so row by row where the result is joined along an inner axis.
    pub strided: bool,
    /// Element-wise outputs may take the bytes of an input that dies.
    pub in_place: bool,
    /// The schedule.
    pub order: Order,
}

impl Default for Passes {
    fn default() -> Self {
        Passes::ALL
    }
}

impl Passes {
    /// Every pass, in the order given.
    pub const ALL: Passes =
        Passes { fuse: true, views: true, concat: true, strided: true, in_place: true, order: Order::Given };

    /// No pass: the graph as it came, every value with storage of its own.
    pub const NONE: Passes = Passes {
        fuse: false,
        views: false,
        concat: false,
        strided: false,
        in_place: false,
        order: Order::Given,
    };

    /// Rewrites a graph, and finds which of its values share storage.
    ///
    /// # Errors
    /// The graph breaks a rule of [`Graph::check`].
    pub fn apply(self, mut graph: Graph) -> Result<(Graph, Sharing), GraphError> {
        graph.check()?;
        if self.fuse {
            fuse::fuse(&mut graph);
            // What is measured is the same whatever else runs, so that the layouts compute the same bits.
            fuse::split_concats(&mut graph);
        }
        match self.order {
            Order::Given => {}
            Order::Memory => order::reorder(&mut graph, self, None),
            Order::MemoryWithin(time) => order::reorder(&mut graph, self, Some(time)),
        }
        let sharing = self.share(&graph);
        Ok((graph, sharing))
    }

    /// Which values of a graph share storage. Where that is a choice, the one with the lower max load is
    /// taken.
    pub fn share(self, graph: &Graph) -> Sharing {
        weigh::best(graph, self)
    }
}

/// One decision of a sharing: whether this node's output and inputs share storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    node: usize,
}

/// Builds the sharing in which the nodes of `refused` share nothing.
fn build(graph: &Graph, passes: Passes, refused: &[Choice]) -> Sharing {
    let kinds = kinds(graph);
    let mut sharing = Sharing::default();
    let wanted = |node: usize| refused.binary_search(&Choice { node }).is_err();
    if passes.views {
        for node in (0..graph.nodes.len()).filter(|n| wanted(*n)) {
            views::alias(graph, &kinds, node, &mut sharing);
        }
    }
    let uses = passes.strided.then(|| strided::Uses::new(graph));
    // The last first: what one concatenation collects may be a part of what a later one does.
    for node in (0..graph.nodes.len()).rev().filter(|n| wanted(*n)) {
        if passes.concat {
            concat::elide(graph, &kinds, node, &mut sharing);
        }
        if let Some(uses) = &uses {
            strided::elide(graph, &kinds, uses, node, &mut sharing);
        }
    }
    if passes.in_place {
        in_place::permit(graph, &kinds, &mut sharing);
    }
    sharing
}
