//! Floor 3: runs a graph over a plan, on a wgpu device (feature `gpu`) or on the CPU, and proves that
//! sharing bytes changed no bit.

mod audit;
mod bind;
#[cfg(feature = "gpu")]
mod commands;
mod cost;
mod cpu;
mod error;
mod layout;
mod machine;
#[cfg(feature = "gpu")]
mod network;
#[cfg(feature = "gpu")]
mod pipelines;
#[cfg(feature = "gpu")]
mod pooled;
mod program;
#[cfg(feature = "gpu")]
mod resident;
mod twin;
mod weights;

pub use audit::{Audit, FirstBad, MutationCounts, audit, mutate, watch};
pub use bind::{Bound, BufferKey, bind, lawful};
pub use cost::{BindingCost, binding_cost};
pub use cpu::{CpuHost, CpuNetwork};
pub use error::ExecError;
pub use layout::Layout;
pub use machine::{Host, Machine};
#[cfg(feature = "gpu")]
pub use network::Network;
#[cfg(feature = "gpu")]
pub use pooled::PooledNetwork;
pub use program::{Place, Program, default_input};
#[cfg(feature = "gpu")]
pub use resident::{Resident, SharedResident};
pub use twin::TwinReport;
pub use weights::WeightMap;
