//! Changing shapes: one plan for every shape within bounds.
//!
//! A [`ShapedProblem`] is a problem whose sizes are expressions of named dimensions, each with an upper
//! bound. Its plan is made at the bounds, where every size is largest, and therefore holds for every shape
//! within them, at the same offsets: what grows is reserved and never moves.
//!
//! ```
//! use sublet::plan::{Alignment, Planner, ShapedProblem, Size};
//!
//! let mut shaped = ShapedProblem::new(Alignment::PORTABLE);
//! let tokens = shaped.dim("tokens", 512)?;
//! let keys = shaped.tensor("keys", Size::from(2048) * tokens, 0..=3)?;
//! let scores = shaped.tensor("scores", Size::from(128) * tokens, 1..=2)?;
//! shaped.keep(keys)?;
//! let plan = Planner::auto().plan(shaped.bound())?;
//! let shape = shaped.shape(&[(tokens, 7)])?;
//! assert_eq!(shaped.size_bytes(keys, &shape), 2048 * 7);
//! assert!(shaped.shape(&[(tokens, 513)]).is_err());
//! # let _ = (scores, plan);
//! # Ok::<(), sublet::plan::PlanError>(())
//! ```

mod size;

use std::ops::RangeInclusive;

use super::{Alignment, PlanError, Problem, TensorId};

pub use size::{Dim, Size};

/// A problem whose sizes depend on dimensions with upper bounds.
#[derive(Debug, Clone)]
pub struct ShapedProblem {
    /// At the bounds.
    bound: Problem,
    sizes: Vec<Size>,
    dims: Vec<(String, u64)>,
}

/// A value within its bound for every dimension of a problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    values: Vec<u64>,
}

impl Shape {
    /// The values in the order of [`ShapedProblem::dim`]: tells a [`super::Recorder`] profiles apart.
    pub fn values(&self) -> &[u64] {
        &self.values
    }
}

impl ShapedProblem {
    /// An empty problem; `alignment` holds for every tensor.
    pub fn new(alignment: Alignment) -> Self {
        ShapedProblem { bound: Problem::new(alignment), sizes: Vec::new(), dims: Vec::new() }
    }

    /// Adds a dimension that is at most `bound`.
    ///
    /// # Errors
    /// A name that exists already.
    pub fn dim(&mut self, name: impl Into<String>, bound: u64) -> Result<Dim, PlanError> {
        let name = name.into();
        if self.dims.iter().any(|(known, _)| *known == name) {
            return Err(PlanError::Dimension { name, what: "exists already".to_owned() });
        }
        self.dims.push((name, bound));
        Ok(Dim((self.dims.len() - 1) as u32))
    }

    /// Adds a tensor, as [`Problem::tensor`] does.
    ///
    /// # Errors
    /// As [`Problem::tensor`]; a size that is over 64 bits at the bounds, or of a dimension that is not of
    /// this problem.
    pub fn tensor(
        &mut self,
        label: impl Into<String>,
        size: impl Into<Size>,
        usage: RangeInclusive<u32>,
    ) -> Result<TensorId, PlanError> {
        let (label, size) = (label.into(), size.into());
        let bounds: Vec<u64> = self.dims.iter().map(|(_, bound)| *bound).collect();
        let Some(size_bytes) = size.at(&bounds) else {
            return Err(PlanError::Dimension {
                name: label,
                what: "has a size over 64 bits at the bounds, or of an unknown dimension".to_owned(),
            });
        };
        let id = self.bound.tensor(label, size_bytes, usage)?;
        self.sizes.push(size);
        Ok(id)
    }

    /// As [`Problem::keep`]: what grows from run to run is kept.
    ///
    /// # Errors
    /// As [`Problem::keep`].
    pub fn keep(&mut self, id: TensorId) -> Result<(), PlanError> {
        self.bound.keep(id)
    }

    /// As [`Problem::allow_in_place`]. At the bounds the output fits, and so it does within them: the place
    /// of the input is reserved for its largest size.
    ///
    /// # Errors
    /// As [`Problem::allow_in_place`].
    pub fn allow_in_place(&mut self, output: TensorId, input: TensorId) -> Result<(), PlanError> {
        self.bound.allow_in_place(output, input)
    }

    /// The problem at the bounds: a plan for it holds for every shape.
    pub fn bound(&self) -> &Problem {
        &self.bound
    }

    /// A shape; dimensions not named are at their bound.
    ///
    /// # Errors
    /// A value over its bound, a dimension of another problem.
    pub fn shape(&self, values: &[(Dim, u64)]) -> Result<Shape, PlanError> {
        let mut all: Vec<u64> = self.dims.iter().map(|(_, bound)| *bound).collect();
        for (dim, value) in values {
            let Some((name, bound)) = self.dims.get(dim.0 as usize) else {
                return Err(PlanError::Dimension {
                    name: format!("#{}", dim.0),
                    what: format!("is none of the {} of this problem", self.dims.len()),
                });
            };
            if value > bound {
                let what = format!("is {value}, its upper bound is {bound}");
                return Err(PlanError::Dimension { name: name.clone(), what });
            }
            all[dim.0 as usize] = *value;
        }
        Ok(Shape { values: all })
    }

    /// Bytes of a tensor at a shape, never more than at the bounds; 0 for an unknown id.
    pub fn size_bytes(&self, id: TensorId, shape: &Shape) -> u64 {
        let at_bounds = self.bound.get(id).map_or(0, |tensor| tensor.size_bytes());
        let size = self.sizes.get(id.index()).and_then(|size| size.at(&shape.values));
        size.unwrap_or(0).min(at_bounds)
    }

    /// The problem at one shape: what a plan for it alone would need. Permissions to compute in place stay
    /// where they still fit.
    ///
    /// # Errors
    /// None that the problem at the bounds did not have.
    pub fn at(&self, shape: &Shape) -> Result<Problem, PlanError> {
        let mut problem = Problem::new(self.bound.alignment());
        for (id, tensor) in self.bound.ids().zip(self.bound.tensors()) {
            let usage = tensor.first()..=tensor.last();
            problem.tensor(tensor.label(), self.size_bytes(id, shape), usage)?;
        }
        for (id, tensor) in self.bound.ids().zip(self.bound.tensors()) {
            if tensor.is_kept() {
                problem.keep(id)?;
            }
            let size = self.size_bytes(id, shape);
            for input in tensor.in_place().iter().filter(|input| self.size_bytes(**input, shape) >= size) {
                problem.allow_in_place(id, *input)?;
            }
        }
        Ok(problem)
    }
}
