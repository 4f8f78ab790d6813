//! The twins: each kernel's loop on the CPU, with the shader's order of additions for every output element.
//!
//! Indices are `u32` and wrap exactly as in WGSL; only loops over whole rows are written for speed.

mod activation;
pub mod arg_max;
pub mod batch_norm;
pub mod binary;
pub mod binary_int;
mod block;
pub mod compare;
pub(super) mod conv2d;
pub(super) mod conv2d_depthwise;
pub(super) mod conv2d_tiled;
pub(super) mod conv3d;
mod conv_params;
pub(super) mod conv_transpose;
pub mod convert;
pub mod copy;
pub mod cum_sum;
pub mod gate;
mod gates;
pub mod gather;
pub mod gather_elements;
pub mod gru_cell;
pub mod hardmax;
pub mod lrn;
pub mod lstm_cell;
pub(super) mod matmul;
mod matmul_params;
pub(super) mod matvec;
pub(super) mod max_pool_indices;
pub mod normalize;
pub mod one_hot;
pub mod pad;
mod parallel;
pub(super) mod pool2d;
pub mod reduce;
pub mod reduce_int;
pub(super) mod resample;
pub mod reverse_sequence;
mod rows;
pub mod scatter_elements;
pub mod scatter_nd;
pub mod select;
pub mod softmax;
pub mod top_k;
pub mod trigonometry;
pub mod trilu;
pub mod unary;
pub mod unary_int;
mod volume_params;
mod words;

/// The float in word `at` of a parameter block.
fn float(params: &[u32], at: usize) -> f32 {
    f32::from_bits(params[at])
}
