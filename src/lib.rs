//! sublet: the GPU-aware device arena manager for wgpu.
//!
//! Tensors sublet bytes of a few large wgpu buffers for just as long as they live. Three jobs, each usable
//! alone:
//!
//! 1. **plan** - [`plan`] gives every intermediate tensor an offset inside a few large buffers, at the
//!    lowest peak;
//! 2. **hold** - `device` (feature `gpu`) owns those buffers and hands out views that are legal in one
//!    dispatch;
//! 3. **prove** - `exec` (feature `gpu`) runs WGSL kernels over the views, shows that sharing bytes changed
//!    no bit of any result, and measures what the device really spent.
#![cfg_attr(not(feature = "driver-memory"), forbid(unsafe_code))]
// One file allows it, with its reason; a test of the sources holds the others to it.
#![cfg_attr(feature = "driver-memory", deny(unsafe_code))]
#![deny(missing_docs)]

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "gpu")]
pub mod device;
pub mod draw;
pub mod exec;
pub mod graph;
pub mod kernel;
pub mod legal;
pub mod model;
pub mod plan;
