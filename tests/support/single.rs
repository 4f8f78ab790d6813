//! Models of one node.

use sublet::graph::{Graph, Op};
use sublet::model::ModelError;
use sublet::model::onnx::{ImportOptions, parse};

use super::onnx_encoder::{Message, Model, Node, model, node};

/// Imports the model as a file named `test`.
pub fn import(model: Model) -> Result<Graph, ModelError> {
    parse(&model.bytes(), "test", &ImportOptions::default())
}

/// Why it is refused.
pub fn fault(model: Model) -> String {
    import(model).unwrap_err().to_string()
}

/// A model of one node that reads the float input x (and initializers) and writes the output y.
pub fn single(opset: i64, x: &[i64], node: Node, initializers: Vec<Message>) -> Model {
    let m = model(opset).input("x", x).node(node).output("y");
    initializers.into_iter().fold(m, Model::initializer)
}

/// Operator and output shape of the only node.
pub fn only(opset: i64, x: &[i64], node: Node, initializers: Vec<Message>) -> (Op, Vec<usize>) {
    let graph = import(single(opset, x, node, initializers)).unwrap();
    assert_eq!(graph.nodes.len(), 1);
    (graph.nodes[0].op.clone(), graph.get(graph.outputs[0]).shape.clone())
}

/// A node from x to y.
pub fn x_to_y(op: &str) -> Node {
    node(op, &["x"], &["y"])
}
