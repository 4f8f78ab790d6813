//! TFLite files to graphs.
//!
//! [`load`] reads the file's tables (`flat`, `schema`, `file`), fixes the shapes of the inputs, and then
//! visits the operators in order: integers that depend on constants alone are computed at once (`fold`), the
//! rest becomes nodes of the graph (`ops`). Tensors of a TFLite file are `[N, H, W, C]` and kernels want
//! `[N, C, H, W]`; `layout` remembers how each tensor is stored, and elements move only where their order
//! matters (`place`).

mod file;
mod flat;
mod fold;
mod importer;
mod inputs;
mod layout;
mod ops;
mod place;
mod schema;
mod site;
mod sparse;
mod tensor;

use std::path::Path;

use super::{ImportOptions, ModelError};
use crate::graph::Graph;

/// Imports a `.tflite` file. An open first dimension of an input is the batch and taken as 1; any other open
/// dimension must be in `options`. Graph inputs and outputs have the shapes and the order of the file.
///
/// # Errors
/// Names the file, node, tensor or input that is at fault: unreadable or cut-short files, operators
/// that sublet does not have (all of them), open dimensions, shapes that do not agree, run-time tensors
/// other than float32 (quantised models).
pub fn load(path: &Path, options: &ImportOptions) -> Result<Graph, ModelError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| ModelError::Io { path: file.clone(), source })?;
    let name = path.file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
    importer::import(&bytes, &file, name, options)
}

/// Imports a model from its bytes; `name` becomes the graph's name and stands for the file in errors.
///
/// # Errors
/// As [`load`].
pub fn parse(bytes: &[u8], name: &str, options: &ImportOptions) -> Result<Graph, ModelError> {
    importer::import(bytes, name, name.to_string(), options)
}
