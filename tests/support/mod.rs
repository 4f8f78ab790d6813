//! What several test files share.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod forward;
#[cfg(feature = "onnx")]
pub mod onnx_encoder;
pub mod records;
#[cfg(feature = "onnx")]
pub mod single;
