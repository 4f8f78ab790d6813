//! What several test files share.
#![allow(dead_code)] // each test file uses its own part

pub mod cases;
#[cfg(feature = "gpu")]
pub mod kernel_gpu;
pub mod oracle;
pub mod twin;
