//! Which cases are about float32, integers and bools alone.

use rten_onnx::onnx::{DataType, GraphProto, ValueInfoProto};

/// Element types that a run has as they are.
const PLAIN: [DataType; 10] = [
    DataType::FLOAT,
    DataType::INT8,
    DataType::INT16,
    DataType::INT32,
    DataType::INT64,
    DataType::UINT8,
    DataType::UINT16,
    DataType::UINT32,
    DataType::UINT64,
    DataType::BOOL,
];

/// Whether all inputs and outputs of a graph are.
pub fn is_plain(graph: &GraphProto) -> bool {
    let plain = |info: &ValueInfoProto| {
        let tensor_type = info.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
        tensor_type.and_then(|t| t.elem_type).is_some_and(|t| PLAIN.contains(&t))
    };
    graph.input.iter().chain(&graph.output).all(plain)
}
