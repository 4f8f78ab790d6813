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
//!
//! ```
//! use sublet::plan::{Alignment, Planner, Problem};
//!
//! // What a tensor takes, and the first and the last step that touch it.
//! let mut problem = Problem::new(Alignment::new(256)?);
//! let conv = problem.tensor("conv1", 65_536, 0..=1)?;
//! let relu = problem.tensor("relu1", 65_536, 1..=2)?;
//! let pool = problem.tensor("pool1", 16_384, 2..=3)?;
//! let plan = Planner::auto().plan(&problem)?;
//! plan.validate(&problem)?;
//! assert_eq!(plan.peak_bytes(), 131_072); // of 147,456 without reuse
//! assert_eq!(plan.offset_bytes(pool), plan.offset_bytes(conv));
//! assert_ne!(plan.offset_bytes(relu), plan.offset_bytes(conv));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to begin
//!
//! | you have | begin with |
//! |---|---|
//! | tensors with sizes and lifetimes | [`plan::Problem`], [`plan::Planner`] |
//! | an engine on wgpu with own kernels | [`plan`], then `device::DeviceArena` and `legal::PlainKernel` |
//! | an ONNX or TFLite file | `model::onnx`, `model::tflite`, then [`exec::Program`] |
//! | a browser | `exec::Network` under the feature `web` |
//! | doubts about a plan | [`plan::Plan::validate`], [`exec::audit`], [`legal::check`] |
//!
//! The code lies in floors, lower ones know nothing of higher ones: [`plan`] and [`legal`]; [`graph`] and
//! [`kernel`]; [`model`] and `device`; [`exec`] and [`draw`]; `cli`. In the repository, docs/EMBEDDING.md has
//! an engine of each kind with code, docs/ALGORITHMS.md says how offsets are found, docs/BENCHMARK.md how
//! figures are made.
//!
//! # Features
//!
//! `legal`: naga, merging of bindings. `gpu`: wgpu, arenas, networks on a device. `onnx`, `tflite`: import.
//! `web`: the library in a browser. `cli`: the binary. None of them: the planner, the graph, the twins and
//! the CPU executor.
#![cfg_attr(not(feature = "driver-memory"), forbid(unsafe_code))]
// One file allows it, with its reason; a test of the sources holds the others to it.
#![cfg_attr(feature = "driver-memory", deny(unsafe_code))]
#![deny(missing_docs)]

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "gpu")]
pub mod device;
#[cfg(doctest)]
mod documents;
pub mod draw;
pub mod exec;
pub mod graph;
pub mod kernel;
pub mod legal;
pub mod model;
pub mod plan;
