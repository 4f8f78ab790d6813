//! Floor 2, pure: where graphs come from. [`onnx`] imports a file, [`zoo`] builds the networks
//! that sublet carries, [`npy`] reads and writes the tensors that go in and come out.

mod error;
#[cfg(feature = "onnx")]
mod fault;
#[cfg(feature = "onnx")]
mod names;
pub mod npy;
#[cfg(feature = "onnx")]
pub mod onnx;
mod options;
#[cfg(feature = "onnx")]
mod prune;
#[cfg(feature = "onnx")]
mod resample;
#[cfg(feature = "onnx")]
mod shape;
#[cfg(feature = "onnx")]
mod size;
pub mod zoo;

pub use error::{ModelError, UnknownOperator};
pub use options::ImportOptions;
