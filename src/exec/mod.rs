//! Floor 3: runs a graph over a plan, on a wgpu device (feature `gpu`) or on the CPU, and proves that
//! sharing bytes changed no bit.
//!
//! A [`Program`] is a graph lowered to dispatches with its planning problem. `Network` (feature `gpu`) runs
//! it on a device, [`CpuNetwork`] on the CPU; [`audit()`] proves either. With a device it is
//! `Network::compile(&device, &queue, graph).await?`, then `network.run(&inputs).await?`.
//!
//! ```
//! use std::sync::Arc;
//! use sublet::exec::{CpuNetwork, Program};
//! use sublet::kernel::LowerLimits;
//! use sublet::plan::{Alignment, Planner};
//!
//! let graph = sublet::model::zoo::build("blazeface").unwrap();
//! let limits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };
//! let program = Arc::new(Program::new(graph, Alignment::PORTABLE, limits)?);
//! let plan = Planner::auto().plan(&program.usage.problem)?;
//! let inputs = program.default_inputs();
//! let mut network = CpuNetwork::new(program.clone(), &plan)?;
//! let outputs = network.run(&inputs)?;
//! assert_eq!(outputs.len(), program.graph.outputs.len());
//! assert!(outputs.iter().flatten().all(|x| x.is_finite()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
