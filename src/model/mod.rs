//! Floor 2, pure: where graphs come from. [`onnx`] and [`tflite`] import files, [`zoo`] builds the networks
//! that sublet carries, [`npy`] reads and writes the tensors that go in and come out.

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
