//! Floor 2, feature `gpu`: arenas on a wgpu device. The caller owns device and queue; an engine with its
//! own graph and kernels needs only [`crate::plan`] and this.

mod arena;
mod error;
mod limits;
mod profile;
mod scope;
mod transfer;
mod witness;

pub use arena::{DeviceArena, View};
pub use error::DeviceError;
pub use limits::{DeviceLimits, descriptor};
pub use profile::Profile;
pub use scope::ErrorScopes;
pub use transfer::{Readback, Uploader, block_on};
pub use witness::{MemoryWitness, resident_peak_bytes};
