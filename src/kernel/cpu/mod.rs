//! The twins: each kernel's loop on the CPU, with the shader's order of additions for every output element.
//!
//! Indices are `u32` and wrap exactly as in WGSL; only loops over whole rows are written for speed.

mod activation;
pub mod batch_norm;
pub mod binary;
mod block;
pub(super) mod conv2d;
pub(super) mod conv2d_depthwise;
pub(super) mod conv2d_tiled;
mod conv_params;
pub(super) mod conv_transpose;
pub mod copy;
pub mod lrn;
pub(super) mod matmul;
mod matmul_params;
pub(super) mod matvec;
pub mod pad;
mod parallel;
pub(super) mod pool2d;
pub mod reduce_mean;
pub(super) mod resample;
mod rows;
pub mod softmax;
pub mod unary;

/// The float in word `at` of a parameter block.
fn float(params: &[u32], at: usize) -> f32 {
    f32::from_bits(params[at])
}
