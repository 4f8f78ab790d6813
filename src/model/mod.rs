//! Floor 2, pure: where graphs come from. [`onnx`] and [`tflite`] import files, [`zoo`] builds the networks
//! that sublet carries, [`npy`] reads and writes the tensors that go in and come out.
//!
//! A file becomes a [`crate::graph::Graph`] with every shape known: what a model leaves open is told in
//! [`ImportOptions`], what is constant is folded, and an operator that is not known is an error that lists
//! all of them.
//!
//! ```
//! # #[cfg(feature = "onnx")] {
//! use std::path::Path;
//! use sublet::model::{ImportOptions, onnx};
//!
//! let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rten_mnist.onnx");
//! let graph = onnx::load(&path, &ImportOptions::default()).unwrap();
//! assert_eq!(graph.get(graph.inputs[0]).shape, [1, 1, 28, 28]);
//! let error = onnx::load(Path::new("no such file.onnx"), &ImportOptions::default()).unwrap_err();
//! assert!(error.to_string().contains("no such file.onnx"));
//! # }
//! ```

mod error;
#[cfg(any(feature = "onnx", feature = "tflite"))]
mod fault;
#[cfg(any(feature = "onnx", feature = "tflite"))]
mod names;
pub mod npy;
#[cfg(feature = "onnx")]
pub mod onnx;
mod options;
#[cfg(any(feature = "onnx", feature = "tflite"))]
mod prune;
#[cfg(any(feature = "onnx", feature = "tflite"))]
mod resample;
#[cfg(any(feature = "onnx", feature = "tflite"))]
mod shape;
#[cfg(any(feature = "onnx", feature = "tflite"))]
mod size;
#[cfg(feature = "tflite")]
pub mod tflite;
pub mod zoo;

pub use error::{ModelError, UnknownOperator};
pub use options::ImportOptions;
