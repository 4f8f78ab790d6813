//! Floor 2, pure: where graphs come from. [`onnx`] imports a file, [`zoo`] builds the networks that
//! sublet carries, [`npy`] reads and writes the tensors that go in and come out.

mod error;
pub mod npy;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod zoo;

pub use error::{ModelError, UnknownOperator};
