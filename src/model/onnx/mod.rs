//! ONNX files to graphs.
//!
//! [`load`] checks the bytes, decodes them with `rten-onnx`, fixes the shapes of the inputs, and then
//! visits the nodes in order: what depends on constants alone is computed at once (`fold`), the rest
//! becomes nodes of the graph with shapes known and attributes resolved (`ops`). Operator sets 7 and
//! later of the standard domain.

mod attributes;
mod fold;
mod importer;
mod inputs;
mod ops;
mod order;
mod site;
mod tensor;
mod wire;

use std::path::Path;

use rten_onnx::onnx::{ModelProto, TensorProto};
use rten_onnx::protobuf::{DecodeMessage, ValueReader};

use super::npy::Array;
pub use super::options::ImportOptions;
use super::{ModelError, shape};
use crate::graph::Graph;

/// Imports an `.onnx` file. An open first dimension of an input is the batch and taken as 1; any other open
/// dimension must be in `options`.
///
/// # Errors
/// Names the file, node, tensor or input that is at fault: unreadable or cut-short files, operators
/// that sublet does not have (all of them), open dimensions, shapes that do not agree, element
/// types that an operator does not take.
pub fn load(path: &Path, options: &ImportOptions) -> Result<Graph, ModelError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| ModelError::Io { path: file.clone(), source })?;
    let name = path.file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
    let model = decode(&bytes, &file)?;
    // The decoded model has its own copy of every weight.
    drop(bytes);
    importer::import(model, &file, name, options)
}

/// Imports a model from its bytes; `name` becomes the graph's name and stands for the file in errors.
///
/// # Errors
/// As [`load`].
pub fn parse(bytes: &[u8], name: &str, options: &ImportOptions) -> Result<Graph, ModelError> {
    importer::import(decode(bytes, name)?, name, name.to_string(), options)
}

/// Reads a `TensorProto`, as model repositories keep test inputs and outputs in files; `name` stands for
/// the file in errors. Returns the tensor's own name (which may be empty) with its data.
///
/// # Errors
/// Bytes that are damaged, or an element type that sublet does not have.
pub fn tensor(bytes: &[u8], name: &str) -> Result<(String, Array), ModelError> {
    let malformed = |what: String| ModelError::Malformed { file: name.to_string(), what };
    wire::check_tensor(bytes).map_err(|what| malformed(format!("not a tensor, or damaged: {what}")))?;
    let proto = TensorProto::decode(ValueReader::from_buf(bytes))
        .map_err(|e| malformed(format!("not a tensor: {e}")))?;
    let array = tensor::decode(&proto).map_err(malformed)?.into_array();
    Ok((proto.name.unwrap_or_default(), array.ok_or_else(|| malformed("it holds no data".into()))?))
}

fn decode(bytes: &[u8], file: &str) -> Result<ModelProto, ModelError> {
    let malformed = |what| ModelError::Malformed { file: file.to_string(), what };
    wire::check(bytes).map_err(|what| malformed(format!("not an ONNX model, or damaged: {what}")))?;
    ModelProto::parse_buf(bytes).map_err(|e| malformed(format!("not an ONNX model, or damaged: {e}")))
}
