//! Floor 0, pure (and naga): what WebGPU lets one dispatch bind, and how bindings of a kernel are merged so
//! that any plan becomes lawful.
//!
//! Two rules shape everything. A buffer is tracked as a whole: within one dispatch it is either read-only or
//! writable, even for disjoint ranges. And a writable range may not overlap any other bound range of its
//! buffer; browsers refuse that, native wgpu does not look, and wrong data comes out.

mod check;
#[cfg(feature = "legal")]
mod kernel;
#[cfg(feature = "legal")]
mod merge;
mod window;

pub use check::{Access, BindingLimits, BoundRange, CopyEnd, Rule, Violation, check, check_copy};
#[cfg(feature = "legal")]
pub use kernel::{LawfulKernel, Operand, PlainKernel};
#[cfg(feature = "legal")]
pub use merge::{MergeError, merge};
pub use window::{Partition, Wanted, Window, WindowLimits, windows};
