//! Floor 0, pure (and naga): what WebGPU lets one dispatch bind, and how bindings of a kernel are merged so
//! that any plan becomes lawful.
//!
//! Two rules shape everything. A buffer is tracked as a whole: within one dispatch it is either read-only or
//! writable, even for disjoint ranges. And a writable range may not overlap any other bound range of its
//! buffer; browsers refuse that, native wgpu does not look, and wrong data comes out.
//!
//! [`check`] names what is wrong with a dispatch, `PlainKernel` (feature `legal`) makes it lawful:
//!
//! ```
//! use sublet::legal::{Access, BindingLimits, BoundRange, Rule, check};
//!
//! // WebGPU's limits on every device.
//! let limits = BindingLimits {
//!     storage_alignment_bytes: 256,
//!     uniform_alignment_bytes: 256,
//!     max_storage_binding_bytes: 128 << 20,
//!     max_uniform_binding_bytes: 64 << 10,
//!     max_storage_bindings: 8,
//!     max_workgroups: 65_535,
//! };
//! let bound = |tensor: &str, bytes, access| BoundRange {
//!     buffer: 0,
//!     bytes,
//!     buffer_bytes: Some(4096),
//!     access,
//!     tensor: tensor.to_owned(),
//! };
//! // Disjoint ranges of one buffer, one read and one written: refused, since a buffer counts as a whole.
//! let as_written = [bound("x", 0..1024, Access::Read), bound("y", 1024..2048, Access::ReadWrite)];
//! let found = check("relu", &as_written, [16, 1, 1], &limits);
//! assert_eq!(found[0].rule, Rule::WholeBufferUsage);
//! assert!(found[0].to_string().contains("'x'"), "{}", found[0]);
//! // Both writable: lawful, while they do not overlap.
//! let both = [bound("x", 0..1024, Access::ReadWrite), bound("y", 1024..2048, Access::ReadWrite)];
//! assert!(check("relu", &both, [16, 1, 1], &limits).is_empty());
//! ```

mod check;
#[cfg(feature = "legal")]
mod kernel;
#[cfg(feature = "legal")]
mod merge;
#[cfg(feature = "legal")]
mod rows;
mod window;

pub use check::{Access, BindingLimits, BoundRange, CopyEnd, Rule, Violation, check, check_copy};
#[cfg(feature = "legal")]
pub use kernel::{LawfulKernel, Operand, PlainKernel};
#[cfg(feature = "legal")]
pub use merge::{MergeError, merge};
#[cfg(feature = "legal")]
pub use rows::merge_rows;
pub use window::{Partition, Wanted, Window, WindowLimits, windows};
