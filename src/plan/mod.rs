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

pub mod bound;
pub mod csv;
mod error;
pub mod file;
mod fingerprint;
mod ids;
mod names;
mod pack;
mod planner;
mod problem;
pub mod report;
mod resolve;
#[allow(dead_code, reason = "the planner does not call the search yet")]
mod search;
mod strategy;
mod validate;

pub use error::PlanError;
pub use fingerprint::Fingerprint;
pub use ids::{Alignment, ArenaId, StepId, TensorId};
pub use names::nearest;
pub use planner::{Plan, Planner};
pub use problem::{Alias, Problem, Tensor};
pub use report::Report;
pub use strategy::{SharedPlan, SharedStrategy, Strategy};
pub use validate::Violation;
