//! Floor 0, pure: the planner.
//!
//! A [`Problem`] holds tensor usage records and their constraints, a [`Planner`] makes a [`Plan`] of it, and
//! [`Plan::validate`] judges the plan with code that no strategy shares.
//!
//! ```
//! use sublet::plan::{Alignment, Planner, Problem};
//!
//! let mut problem = Problem::new(Alignment::new(256)?);
//! let a = problem.tensor("conv1", 100_000, 0..=1)?;
//! let b = problem.tensor("relu1", 80_000, 1..=2)?;
//! let c = problem.tensor("conv2", 60_000, 2..=3)?;
//! let plan = Planner::auto().plan(&problem)?;
//! plan.validate(&problem)?;
//! assert!(plan.peak_bytes() < problem.naive_bytes());
//! assert_ne!(plan.offset_bytes(a), plan.offset_bytes(b));
//! println!("{}", plan.report(&problem));
//! # Ok::<(), sublet::plan::PlanError>(())
//! ```

mod auto;
pub mod bound;
mod capacity;
pub(crate) mod clock;
pub mod csv;
mod error;
pub mod file;
mod fingerprint;
mod ids;
mod inplace;
mod keyed_pool;
mod names;
mod pack;
mod placement;
mod planner;
mod problem;
mod progress;
pub mod record;
pub mod report;
mod resolve;
mod search;
mod separate;
mod shapes;
pub mod snapshot;
mod strategy;
mod synthetic;
mod validate;
pub mod what_if;

pub use capacity::{Misfit, MisfitTensor};
pub use error::PlanError;
pub use fingerprint::Fingerprint;
pub use ids::{Alignment, ArenaId, StepId, TensorId};
pub use keyed_pool::keyed_pool_bytes;
pub use names::nearest;
pub use placement::Plan;
pub use planner::Planner;
pub use problem::{Alias, Problem, Tensor};
pub use progress::{Effort, Phase, Progress, Proof};
pub use record::{Block, Recorder};
pub use report::Report;
pub use separate::Separation;
pub use shapes::{Dim, Shape, ShapedProblem, Size};
pub use strategy::{SharedPlan, SharedStrategy, Strategy};
pub use synthetic::Synthetic;
pub use validate::Violation;
