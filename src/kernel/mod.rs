//! Floor 1, pure: the kernels. One kernel = `shaders/<kernel>.wgsl` = one [`KernelId`] = `cpu/<kernel>.rs`,
//! its twin on the CPU, with the same loop. [`lower`] turns a graph's nodes into dispatches of these
//! kernels.

pub mod cpu;
mod dispatch;
mod evaluate;
mod lower;
mod registry;

pub use dispatch::{Dispatch, Operand, ParamWriter};
pub use evaluate::{fold, run_twin};
pub use lower::{LowerError, LowerLimits, lower, lower_without};
pub use registry::{Kernel, KernelId, Tolerance};
