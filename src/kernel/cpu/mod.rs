//! The twins: each kernel's loop on the CPU, with the shader's order of additions for every output element.

mod activation;
mod block;
pub(super) mod conv2d;
pub(super) mod conv2d_depthwise;
pub(super) mod conv2d_tiled;
mod conv_params;
pub(super) mod matmul;
mod matmul_params;
pub(super) mod matvec;
mod parallel;
pub(super) mod pool2d;
