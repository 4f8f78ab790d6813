//! Floor 3, pure: a plan as a picture.
//!
//! A [`Picture`] is what there is to see of one plan: steps across, bytes up, one rectangle a tensor, the
//! live bytes of every step and their maximum as lines, the step at which it is reached, padding, the arenas
//! one above the other, and what lies in other buffers apart. Four writers show it: [`svg`] for documents,
//! [`html`] for a page to look around in, [`trace`] for Perfetto and `chrome://tracing`, [`term`] for a
//! terminal. The same pictures give the same bytes, on every machine.
//!
//! ```
//! use sublet::draw::{Picture, svg};
//! use sublet::plan::{Alignment, Planner, Problem};
//!
//! let mut problem = Problem::new(Alignment::new(256)?);
//! problem.tensor("conv1", 65_536, 0..=1)?;
//! problem.tensor("relu1", 65_536, 1..=2)?;
//! let plan = Planner::auto().plan(&problem)?;
//! let picture = Picture::new("two layers", &problem, &plan)?;
//! assert!(svg::write(&[picture]).contains("<title>conv1"));
//! # Ok::<(), sublet::plan::PlanError>(())
//! ```

mod bands;
pub mod html;
mod labels;
mod palette;
mod picture;
mod plot;
mod rows;
mod scale;
pub mod svg;
pub mod term;
pub mod trace;

pub use picture::{Picture, Place, Record, Resident, Step};
