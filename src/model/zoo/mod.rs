//! Networks that sublet carries: published shapes, weights from a fixed seed.
//!
//! The structure is that of the papers' tables (as the TFLite planner sees them, arXiv 2001.03288): batch
//! normalisation folded into the convolutions, activations fused, one tensor a layer. The weights are
//! random; the networks compute a fixed function that is good for nothing but checking memory. They are
//! drawn when they are first asked for, so that planning a network costs none of its weights.

mod alexnet;
mod blazeface;
mod builder;
mod conv;
mod deeplab_v3_257;
mod dense;
mod densenet121;
mod googlenet;
mod gpt_block;
mod inception_resnet;
mod inception_v3;
mod lstm_seq2seq;
mod mobilenet_v1;
mod mobilenet_v2;
mod posenet;
mod random;
mod resnet50;
mod squeezenet;
mod unet;
mod vgg16;
mod vit_tiny;

use crate::graph::Graph;

/// Names that [`build`] knows, in alphabetical order.
pub fn names() -> &'static [&'static str] {
    &[
        "alexnet",
        "blazeface",
        "deeplab_v3_257",
        "densenet121",
        "googlenet",
        "gpt_block",
        "inception_resnet",
        "inception_v3",
        "lstm_seq2seq",
        "mobilenet_v1",
        "mobilenet_v2",
        "posenet",
        "resnet50",
        "squeezenet",
        "unet",
        "vgg16",
        "vit_tiny",
    ]
}

/// Builds the network of that name; `None` where [`names`] does not list it.
///
/// ```
/// let graph = sublet::model::zoo::build("mobilenet_v1").unwrap();
/// assert_eq!(graph.get(graph.inputs[0]).shape, [1, 3, 224, 224]);
/// assert_eq!(graph.get(graph.outputs[0]).shape, [1, 1001]);
/// ```
pub fn build(name: &str) -> Option<Graph> {
    let build: fn() -> Graph = match name {
        "alexnet" => alexnet::build,
        "blazeface" => blazeface::build,
        "deeplab_v3_257" => deeplab_v3_257::build,
        "densenet121" => densenet121::build,
        "googlenet" => googlenet::build,
        "gpt_block" => gpt_block::build,
        "inception_resnet" => inception_resnet::build,
        "inception_v3" => inception_v3::build,
        "lstm_seq2seq" => lstm_seq2seq::build,
        "mobilenet_v1" => mobilenet_v1::build,
        "mobilenet_v2" => mobilenet_v2::build,
        "posenet" => posenet::build,
        "resnet50" => resnet50::build,
        "squeezenet" => squeezenet::build,
        "unet" => unet::build,
        "vgg16" => vgg16::build,
        "vit_tiny" => vit_tiny::build,
        _ => return None,
    };
    Some(build())
}
