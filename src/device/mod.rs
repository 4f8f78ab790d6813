//! Floor 2, feature `gpu`: arenas on a wgpu device. The caller owns device and queue; an engine with its
//! own graph and kernels needs only [`crate::plan`] and this.

mod arena;
#[cfg(all(feature = "driver-memory", not(target_arch = "wasm32")))]
mod driver;
mod error;
mod ledger;
mod limits;
mod memory;
mod pool;
mod profile;
mod recorder;
mod required;
mod scope;
mod shaped;
mod transfer;
mod watch;
mod witness;

pub use arena::{DeviceArena, View};
pub use error::DeviceError;
pub use ledger::{Ledger, MemoryRow};
pub use limits::{DeviceLimits, descriptor};
pub use memory::{MemoryReport, PlannedBytes};
pub(crate) use pool::Gate;
pub use pool::{
    ArenaKey, ArenaPool, Extend, Generation, LabelReport, Lane, Lease, PoolBytes, PoolOptions, PoolReport,
    PoolView, Session, SessionKey, SessionReport, SessionSpec, StateGuard, Weight, WeightSource,
};
pub use profile::Profile;
pub use recorder::DeviceRecorder;
pub use required::{Required, required};
pub use scope::ErrorScopes;
pub use shaped::ShapedArena;
pub use transfer::{Readback, Uploader, block_on};
pub use watch::DeviceWatch;
pub use witness::{MemoryWitness, resident_peak_bytes};
