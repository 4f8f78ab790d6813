//! The twins: each kernel's loop on the CPU.
//!
//! Indices are `u32` and wrap exactly as in WGSL; only loops over whole rows are written for speed.

pub mod batch_norm;
pub mod binary;
pub mod copy;
pub mod lrn;
pub mod pad;
pub mod reduce_mean;
mod rows;
pub mod softmax;
pub mod unary;

/// The float in word `at` of a parameter block.
fn float(params: &[u32], at: usize) -> f32 {
    f32::from_bits(params[at])
}
