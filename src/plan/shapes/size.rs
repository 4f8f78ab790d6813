//! Sizes that depend on dimensions: small expressions that never shrink where a dimension grows.

use std::num::NonZeroU64;
use std::ops::{Add, Mul};

/// A named dimension of a [`super::ShapedProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim(pub(super) u32);

/// Bytes as an expression of dimensions: constants, dimensions, sums, products, divisions that round up. What
/// cannot be written here is what could shrink while a dimension grows, so that the size at the bounds is
/// the largest there is.
///
/// ```
/// # use std::num::NonZeroU64;
/// # use sublet::plan::{Alignment, ShapedProblem, Size};
/// let mut shaped = ShapedProblem::new(Alignment::PORTABLE);
/// let tokens = shaped.dim("tokens", 1000)?;
/// let blocks = Size::from(tokens).ceil_div(NonZeroU64::new(64).unwrap());
/// assert_eq!((blocks * 4096 + 16).at(&[65]), Some(2 * 4096 + 16));
/// # Ok::<(), sublet::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size(Expression);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expression {
    Constant(u64),
    Dim(Dim),
    Sum(Box<Size>, Box<Size>),
    Product(Box<Size>, Box<Size>),
    CeilDiv(Box<Size>, NonZeroU64),
}

impl Size {
    /// Divided, rounded up.
    pub fn ceil_div(self, divisor: NonZeroU64) -> Size {
        Size(Expression::CeilDiv(Box::new(self), divisor))
    }

    /// Rounded up to a multiple.
    pub fn round_up(self, multiple: NonZeroU64) -> Size {
        self.ceil_div(multiple) * multiple.get()
    }

    /// Its value where the dimensions have those values, in the order of [`super::ShapedProblem::dim`];
    /// `None` where a dimension has none, or where it is over 64 bits.
    pub fn at(&self, dims: &[u64]) -> Option<u64> {
        match &self.0 {
            Expression::Constant(value) => Some(*value),
            Expression::Dim(dim) => dims.get(dim.0 as usize).copied(),
            Expression::Sum(a, b) => a.at(dims)?.checked_add(b.at(dims)?),
            Expression::Product(a, b) => a.at(dims)?.checked_mul(b.at(dims)?),
            Expression::CeilDiv(a, divisor) => Some(a.at(dims)?.div_ceil(divisor.get())),
        }
    }
}

impl From<u64> for Size {
    fn from(value: u64) -> Self {
        Size(Expression::Constant(value))
    }
}

impl From<Dim> for Size {
    fn from(dim: Dim) -> Self {
        Size(Expression::Dim(dim))
    }
}

impl<T: Into<Size>> Add<T> for Size {
    type Output = Size;

    fn add(self, other: T) -> Size {
        Size(Expression::Sum(Box::new(self), Box::new(other.into())))
    }
}

impl<T: Into<Size>> Mul<T> for Size {
    type Output = Size;

    fn mul(self, other: T) -> Size {
        Size(Expression::Product(Box::new(self), Box::new(other.into())))
    }
}
