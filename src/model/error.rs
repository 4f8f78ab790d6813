//! What can be wrong with a model or a tensor file.

use crate::graph::GraphError;

/// A node whose operator sublet does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOperator {
    /// The node as in the model, or its first output where it has no name.
    pub node: String,
    /// Operator type.
    pub op: String,
    /// Operator set it comes from; empty for the standard one of ONNX, `TFLite` or `TFLite custom` in a
    /// `.tflite` file.
    pub domain: String,
    /// Version of that set as the model imports it, where it does; in a `.tflite` file of the operator.
    pub version: Option<i64>,
}

/// A model that cannot be imported, or a tensor file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The operating system refused the file.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The bytes are not what the format demands.
    #[error("{file}: {what}")]
    Malformed {
        /// The file, or the name given with the bytes.
        file: String,
        /// The rule and where it is broken.
        what: String,
    },
    /// Operators that sublet does not have; every one in the model is listed.
    #[error("{file}: operators that sublet does not have: {}", list(.operators))]
    UnknownOperators {
        /// The file, or the name given with the bytes.
        file: String,
        /// In the order of the model.
        operators: Vec<UnknownOperator>,
    },
    /// The model leaves a dimension of an input to the caller, who did not give it.
    #[error("input '{input}': dimension {axis} ({dimension}) of {declared} is open; give --shape {flag}")]
    OpenDimension {
        /// The graph input.
        input: String,
        /// Position of the dimension, from 0.
        axis: usize,
        /// Its name in the model, or `unnamed`.
        dimension: String,
        /// The shape as the model declares it.
        declared: String,
        /// What to write after `--shape`.
        flag: String,
    },
    /// A shape or dimension option that does not fit the model.
    #[error("{0}")]
    Option(String),
    /// A node whose attributes or inputs break a rule of its operator.
    #[error("node '{node}' ({op}): {what}")]
    Node {
        /// The node.
        node: String,
        /// Its operator.
        op: String,
        /// The rule and both numbers.
        what: String,
    },
    /// An initializer, input or output that cannot be used.
    #[error("tensor '{tensor}': {what}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// The rule and both numbers.
        what: String,
    },
    /// The graph that came out breaks a rule of the graph floor.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Operators by type, each with all of its nodes, in the order of first appearance.
fn list(operators: &[UnknownOperator]) -> String {
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for operator in operators {
        let set = match &operator.domain[..] {
            "" => "ai.onnx opset".into(),
            tflite if tflite.starts_with("TFLite") => format!("{tflite} version"),
            domain => format!("{domain} opset"),
        };
        let version = operator.version.map_or("not imported".into(), |v| v.to_string());
        let kind = format!("{} ({set} {version})", operator.op);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, nodes)) => nodes.push(&operator.node),
            None => kinds.push((kind, vec![&operator.node])),
        }
    }
    let line = |(kind, nodes): &(String, Vec<&str>)| format!("{kind} at '{}'", nodes.join("', '"));
    kinds.iter().map(line).collect::<Vec<_>>().join("; ")
}
