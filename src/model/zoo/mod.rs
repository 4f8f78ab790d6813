//! Networks that sublet carries: published shapes, weights from a fixed seed.
//!
//! The structure is that of the papers' tables (as the TFLite planner sees them, arXiv 2001.03288): batch
//! normalisation folded into the convolutions, activations fused, one tensor a layer. The weights are
//! random; the networks compute a fixed function that is good for nothing but checking memory.

mod builder;
mod mobilenet_v1;
mod mobilenet_v2;

use crate::graph::Graph;

/// Names that [`build`] knows, in alphabetical order.
pub fn names() -> &'static [&'static str] {
    &["mobilenet_v1", "mobilenet_v2"]
}

/// Builds the network of that name; `None` where [`names`] does not list it.
///
/// ```
/// let graph = sublet::model::zoo::build("mobilenet_v1").unwrap();
/// assert_eq!(graph.get(graph.inputs[0]).shape, [1, 3, 224, 224]);
/// assert_eq!(graph.get(graph.outputs[0]).shape, [1, 1001]);
/// ```
pub fn build(name: &str) -> Option<Graph> {
    match name {
        "mobilenet_v1" => Some(mobilenet_v1::build()),
        "mobilenet_v2" => Some(mobilenet_v2::build()),
        _ => None,
    }
}
