//! What several test files share.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod cases;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "legal")]
pub mod collisions;
pub mod examples;
pub mod forward;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod graphs;
#[cfg(feature = "gpu")]
pub mod kernel_gpu;
#[cfg(feature = "legal")]
pub mod launches;
pub mod nn_cases;
pub mod nn_oracle;
#[cfg(feature = "onnx")]
pub mod onnx_encoder;
pub mod oracle;
pub mod oversize;
#[cfg(feature = "cli")]
pub mod pool;
pub mod random_graph;
pub mod random_problem;
pub mod records;
#[cfg(feature = "onnx")]
pub mod single;
pub mod snapshot;
pub mod steps;
pub mod strided;
#[cfg(feature = "tflite")]
pub mod tflite_encoder;
pub mod twin;

/// Runs a future that never waits for a device.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// A fresh folder for what a test writes.
pub fn scratch(name: &str) -> std::path::PathBuf {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("the target folder is writable");
    dir
}
