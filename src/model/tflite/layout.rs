//! How the elements of a tensor are stored: a permutation of the factors of its dimensions.
//!
//! A TFLite tensor is `[N, H, W, C]`; kernels want `[N, C, H, W]`. A reshape or a transposition of such a
//! tensor need not move an element: it changes what the stored order means. So a layout holds the factors of
//! the tensor's dimensions (`[1, 49]` may be `7 x 7`), slowest first, and the order in which they are stored.
//! Dimensions of 1 are no factors: they can stand anywhere.

use std::ops::Range;

/// The stored order of a tensor's elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Factors of the shape, none of them 1, slowest first: each dimension is the product of the next few.
    factors: Vec<usize>,
    /// Factors in the order in which they are stored, slowest first.
    order: Vec<usize>,
}

impl Layout {
    /// Stored as TFLite stores it.
    pub(super) fn plain(shape: &[usize]) -> Self {
        let factors: Vec<usize> = shape.iter().copied().filter(|d| *d != 1).collect();
        let order = (0..factors.len()).collect();
        Layout { factors, order }
    }

    /// Stored as the shape `[shape[perm[0]], shape[perm[1]], ..]`.
    pub(super) fn permuted(shape: &[usize], perm: &[usize]) -> Self {
        let factor_of = |axis: usize| shape[..axis].iter().filter(|d| **d != 1).count();
        let order = perm.iter().filter(|axis| shape[**axis] != 1).map(|axis| factor_of(*axis)).collect();
        Layout { order, ..Layout::plain(shape) }
    }

    /// Whether the elements lie as TFLite stores them.
    pub(super) fn is_plain(&self) -> bool {
        self.order.is_sorted()
    }

    /// Sizes of the factors as stored, slowest first.
    pub(super) fn stored(&self) -> Vec<usize> {
        self.order.iter().map(|f| self.factors[*f]).collect()
    }

    /// Factors of each dimension of the tensor's shape.
    fn of_dims(&self, shape: &[usize]) -> Vec<Range<usize>> {
        let mut at = 0;
        let factors_of = |dim: &usize| {
            let start = at;
            let mut left = *dim;
            while left > 1 && at < self.factors.len() {
                left /= self.factors[at];
                at += 1;
            }
            start..at
        };
        shape.iter().map(factors_of).collect()
    }

    /// The same elements, stored as they are, under another shape of as many elements. None where no such
    /// reading exists: a dimension of the new shape would be a part of two that lie apart.
    pub(super) fn reshaped(&self, shape: &[usize]) -> Option<Self> {
        let dims = Layout::plain(shape).factors;
        // New factors of each old one.
        let mut parts: Vec<Vec<usize>> = Vec::with_capacity(self.factors.len());
        let (mut at, mut next) = (0, 0);
        while at < self.factors.len() {
            // The fewest factors and dimensions from here on that hold equally many elements.
            let (from, first) = (at, next);
            let (mut old, mut new) = (self.factors[at], *dims.get(next)?);
            while old != new {
                if old < new {
                    at += 1;
                    old *= self.factors.get(at)?;
                } else {
                    next += 1;
                    new *= dims.get(next)?;
                }
            }
            (at, next) = (at + 1, next + 1);
            let (factors, dims) = (&self.factors[from..at], &dims[first..next]);
            match refined(factors, dims) {
                Some(refined) => parts.extend(refined),
                None if self.is_run(from..at) => {
                    parts.push(dims.to_vec());
                    parts.extend(std::iter::repeat_n(Vec::new(), factors.len() - 1));
                }
                None => return None,
            }
        }
        (next == dims.len()).then(|| self.with_parts(&parts))
    }

    /// Whether these factors are stored one after the other, in their order.
    fn is_run(&self, factors: Range<usize>) -> bool {
        let start = self.order.iter().position(|f| *f == factors.start);
        start.is_none_or(|start| self.order[start..].iter().copied().take(factors.len()).eq(factors))
    }

    /// Each factor replaced by its parts.
    fn with_parts(&self, parts: &[Vec<usize>]) -> Self {
        let mut starts = Vec::with_capacity(parts.len());
        let mut count = 0;
        for part in parts {
            starts.push(count);
            count += part.len();
        }
        let order = self.order.iter().flat_map(|f| (0..parts[*f].len()).map(|i| starts[*f] + i)).collect();
        Layout { factors: parts.concat(), order }
    }

    /// The tensor of dimensions `shape[perm[0]], shape[perm[1]], ..`, stored as this one is.
    pub(super) fn transposed(&self, shape: &[usize], perm: &[usize]) -> Self {
        let groups = self.of_dims(shape);
        let from: Vec<usize> = perm.iter().flat_map(|axis| groups[*axis].clone()).collect();
        let mut to = vec![0; from.len()];
        for (new, old) in from.iter().enumerate() {
            to[*old] = new;
        }
        Layout {
            factors: from.iter().map(|f| self.factors[*f]).collect(),
            order: self.order.iter().map(|f| to[*f]).collect(),
        }
    }

    /// The order in which the dimensions other than 1 are stored, where each lies in one piece.
    pub(super) fn axes(&self, shape: &[usize]) -> Option<Vec<usize>> {
        let groups = self.of_dims(shape);
        let mut axes = Vec::new();
        let mut at = 0;
        while at < self.order.len() {
            let axis = groups.iter().position(|g| !g.is_empty() && g.start == self.order[at])?;
            if !self.is_run(groups[axis].clone()) {
                return None;
            }
            axes.push(axis);
            at += groups[axis].len();
        }
        Some(axes)
    }

    /// Of a matrix whose rows are stored one after the other: the layout of another matrix with `rows` rows
    /// and its columns in the same order. None where the rows are not.
    pub(super) fn with_rows(&self, shape: [usize; 2], rows: usize) -> Option<Self> {
        let own = self.of_dims(&shape)[0].len();
        if !self.order.iter().copied().take(own).eq(0..own) {
            return None;
        }
        let new = usize::from(rows != 1);
        let factors = std::iter::repeat_n(rows, new).chain(self.factors[own..].iter().copied()).collect();
        let order = (0..new).chain(self.order[own..].iter().map(|f| f - own + new)).collect();
        Some(Layout { factors, order })
    }

    /// Both layouts (of one shape) over the same factors.
    pub(super) fn aligned(&self, other: &Layout) -> Option<(Layout, Layout)> {
        let (a, b) = (refined(&self.factors, &other.factors)?, refined(&other.factors, &self.factors)?);
        Some((self.with_parts(&a), other.with_parts(&b)))
    }

    /// Position in storage of each factor that `self` stores, when `from` stores them.
    pub(super) fn perm_from(&self, from: &Layout) -> Vec<usize> {
        let place = |f: &usize| from.order.iter().position(|g| g == f).unwrap_or(0);
        self.order.iter().map(place).collect()
    }
}

/// The parts of each of `factors` so that the parts together also refine `others`.
fn refined(factors: &[usize], others: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut others = others.iter().copied();
    let mut other = 1;
    let mut parts = Vec::with_capacity(factors.len());
    for factor in factors {
        let (mut left, mut part) = (*factor, Vec::new());
        while left > 1 {
            if other == 1 {
                other = others.next()?;
            }
            let step = left.min(other);
            if !left.is_multiple_of(step) || !other.is_multiple_of(step) {
                return None;
            }
            (left, other) = (left / step, other / step);
            part.push(step);
        }
        parts.push(part);
    }
    (other == 1 && others.next().is_none()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NCHW: [usize; 4] = [0, 3, 1, 2];

    fn layout(factors: &[usize], order: &[usize]) -> Layout {
        Layout { factors: factors.to_vec(), order: order.to_vec() }
    }

    #[test]
    fn dimensions_of_one_are_no_factors() {
        assert_eq!(Layout::permuted(&[1, 8, 9, 3], &NCHW), layout(&[8, 9, 3], &[2, 0, 1]));
        assert!(Layout::permuted(&[1, 8, 9, 1], &NCHW).is_plain());
        assert!(Layout::permuted(&[1, 1, 1, 7], &NCHW).is_plain());
        assert_eq!(Layout::plain(&[1, 1]), layout(&[], &[]));
        assert_eq!(Layout::permuted(&[1, 8, 9, 3], &NCHW).stored(), [3, 8, 9]);
    }

    #[test]
    fn a_reshape_keeps_what_is_stored() {
        let image = Layout::permuted(&[2, 8, 9, 3], &NCHW);
        // Rows and columns taken together are still one piece.
        let rows = image.reshaped(&[2, 72, 3]).unwrap();
        assert_eq!(rows.axes(&[2, 72, 3]), Some(vec![0, 2, 1]));
        // Flattened, the elements of a dimension are stored in another order than they are counted.
        let flat = image.reshaped(&[2, 216]).unwrap();
        assert_eq!(flat, layout(&[2, 8, 9, 3], &[0, 3, 1, 2]));
        assert_eq!(flat.axes(&[2, 216]), None);
        assert_eq!(flat.reshaped(&[2, 8, 9, 3]), Some(image.clone()));
        assert_eq!(image.reshaped(&[2, 4, 2, 9, 3]).unwrap(), layout(&[2, 4, 2, 9, 3], &[0, 4, 1, 2, 3]));
        // 9 x 3 as 3 x 9: no common factors, and they do not lie one after the other.
        assert_eq!(layout(&[4, 6], &[1, 0]).reshaped(&[6, 4]), None);
        assert_eq!(Layout::plain(&[4, 6]).reshaped(&[6, 4]), Some(Layout::plain(&[6, 4])));
        assert_eq!(layout(&[5, 4, 6], &[1, 2, 0]).reshaped(&[5, 6, 4]), Some(layout(&[5, 6, 4], &[1, 2, 0])));
    }

    #[test]
    fn a_transposition_keeps_what_is_stored() {
        let plain = Layout::plain(&[2, 8, 9, 3]);
        let turned = plain.transposed(&[2, 8, 9, 3], &NCHW);
        assert_eq!(turned.stored(), [2, 8, 9, 3]);
        assert_eq!(turned.axes(&[2, 3, 8, 9]), Some(vec![0, 2, 3, 1]));
        let image = Layout::permuted(&[2, 8, 9, 3], &NCHW);
        assert!(image.transposed(&[2, 8, 9, 3], &NCHW).is_plain());
    }

    #[test]
    fn two_layouts_meet_over_common_factors() {
        let (a, b) = layout(&[12, 5], &[1, 0]).aligned(&layout(&[3, 4, 5], &[0, 1, 2])).unwrap();
        assert_eq!((&a, &b), (&layout(&[3, 4, 5], &[2, 0, 1]), &Layout::plain(&[3, 4, 5])));
        assert_eq!(b.perm_from(&a), [1, 2, 0]);
        assert!(layout(&[4, 6], &[1, 0]).aligned(&Layout::plain(&[6, 4])).is_none());
    }
}
