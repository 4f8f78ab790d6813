//! Floor 2, feature `gpu`: arenas on a wgpu device. The caller owns device and queue; an engine with its
//! own graph and kernels needs only [`crate::plan`] and this.
//!
//! ```
//! use sublet::device::{DeviceArena, DeviceError, DeviceLimits, block_on};
//! use sublet::plan::{Alignment, Planner, Problem};
//!
//! // wgpu's backend without a driver; an engine passes the device that it has.
//! let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
//! let limits = DeviceLimits::new(&device.limits());
//! let mut problem = Problem::new(Alignment::new(limits.storage_alignment_bytes)?);
//! let a = problem.tensor("a", 1000, 0..=1)?;
//! let b = problem.tensor("b", 5000, 1..=2)?;
//! let plan = Planner::auto().max_buffer_bytes(limits.max_buffer_bytes).plan(&problem)?;
//!
//! // Every allocation happens here; what is over a limit is refused by name before.
//! let arena = block_on(&device, DeviceArena::new(&device, &problem, &plan))?;
//! let (a, b) = (arena.view(a).unwrap(), arena.view(b).unwrap());
//! assert!(a.bytes.end <= b.bytes.start || b.bytes.end <= a.bytes.start);
//! assert_eq!(a.bytes.start % 256, 0);
//!
//! let mut problem = Problem::new(Alignment::PORTABLE);
//! problem.tensor("huge", 1 << 40, 0..=0)?;
//! let plan = Planner::auto().plan(&problem)?;
//! let refused = block_on(&device, DeviceArena::new(&device, &problem, &plan)).err().unwrap();
//! assert!(matches!(refused, DeviceError::OverLimit { .. }), "{refused}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arena;
#[cfg(all(feature = "driver-memory", not(target_arch = "wasm32")))]
mod driver;
mod error;
mod ledger;
mod limits;
mod memory;
mod pipelines;
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
pub(crate) use pipelines::{Pipelines, Shader};
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
