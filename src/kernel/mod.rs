//! Floor 1, pure: the kernels. One kernel = `shaders/<kernel>.wgsl` = one [`KernelId`] = `cpu/<kernel>.rs`,
//! its twin on the CPU, with the same loop. [`lower`] turns a graph's nodes into dispatches of these
//! kernels.
//!
//! ```
//! use sublet::kernel::{LowerLimits, lower, run_twin};
//!
//! let graph = sublet::model::zoo::build("mobilenet_v1").unwrap();
//! let limits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };
//! // The last node is the softmax over 1,001 classes.
//! let node = graph.nodes.last().unwrap();
//! let dispatches = lower(&graph, node, limits)?;
//! assert_eq!(dispatches.len(), 1);
//!
//! // The twin computes what the shader would: of equal logits, equal shares.
//! let (logits, mut shares) = (vec![0.5; 1001], vec![0.0; 1001]);
//! run_twin(&dispatches[0], |_| &logits, &mut shares);
//! assert!(shares.iter().all(|share| (share - 1.0 / 1001.0).abs() < 1e-6));
//! # Ok::<(), sublet::kernel::LowerError>(())
//! ```

pub mod cpu;
mod dispatch;
mod evaluate;
mod lower;
mod registry;

pub use dispatch::{Dispatch, Operand, ParamWriter};
pub use evaluate::{fold, run_twin};
pub use lower::{LowerError, LowerLimits, lower, lower_shared};
pub use registry::{Kernel, KernelId, Tolerance};
