//! Strided iteration spaces: row-major strides, broadcasting, and merging of dimensions.

use super::LowerError;
use super::segments::{Segment, Walked};
use super::site::Site;
use crate::kernel::{Operand, ParamWriter};

/// Most dimensions a kernel walks.
const MAX_RANK: usize = 8;

/// Row-major strides of a shape, in elements.
pub(super) fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d] as i64;
    }
    strides
}

/// Strides that read `shape` under the (longer or equal) shape `target`: 0 along broadcast dimensions. None
/// where the shapes do not broadcast.
pub(super) fn broadcast(shape: &[usize], target: &[usize]) -> Option<Vec<i64>> {
    let missing = target.len().checked_sub(shape.len())?;
    let mut strides = vec![0; missing];
    for ((dim, wanted), stride) in shape.iter().zip(&target[missing..]).zip(row_major(shape)) {
        match (*dim, *wanted) {
            (d, w) if d == w => strides.push(stride),
            (1, _) => strides.push(0),
            _ => return None,
        }
    }
    Some(strides)
}

/// An iteration space that `K` operands walk, each with its own strides: no dimension of 1, and no two
/// neighbours that all operands walk as one. Rank 1..=8.
#[derive(Debug, PartialEq)]
pub(super) struct Space<const K: usize> {
    dims: Vec<usize>,
    strides: [Vec<i64>; K],
}

impl<const K: usize> Space<K> {
    /// Merges `dims` as far as possible.
    pub(super) fn new(site: &Site, dims: &[usize], strides: [&[i64]; K]) -> Result<Self, LowerError> {
        let mut space = Space { dims: Vec::new(), strides: [const { Vec::new() }; K] };
        for (d, dim) in dims.iter().enumerate().filter(|(_, dim)| **dim != 1) {
            let inner = strides.map(|s| s[d]);
            match space.dims.last_mut() {
                Some(last) if space.strides.iter().zip(inner).all(|(s, i)| ends_with(s, i, *dim)) => {
                    *last *= dim;
                    space.strides.iter_mut().zip(inner).for_each(|(s, i)| replace_last(s, i));
                }
                _ => {
                    space.dims.push(*dim);
                    space.strides.iter_mut().zip(inner).for_each(|(s, i)| s.push(i));
                }
            }
        }
        if space.dims.is_empty() {
            space.dims.push(1);
            space.strides.iter_mut().for_each(|s| s.push(0));
        }
        if space.dims.len() > MAX_RANK {
            let rank = space.dims.len();
            return Err(site.unsupported(format!("walks {rank} dimensions, kernels walk at most {MAX_RANK}")));
        }
        Ok(space)
    }

    /// Number of dimensions, 1..=8.
    pub(super) fn rank(&self) -> u32 {
        self.dims.len() as u32
    }

    /// Extents, outermost first.
    pub(super) fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Whether operand `k` is walked front to back, each element once.
    pub(super) fn is_in_order(&self, k: usize) -> bool {
        let strides = &self.strides[k];
        let nested = strides.iter().zip(&strides[1..]).zip(&self.dims[1..]);
        self.last_stride(k) > 0
            && nested.into_iter().all(|((outer, inner), dim)| *outer >= inner * *dim as i64)
    }

    /// Operand `k`, walked from element `start` on by a kernel that can be told where to start.
    pub(super) fn walked(&self, k: usize, operand: Operand, start: i64) -> Walked {
        Walked { operand, start, strides: self.strides[k].clone(), tail_len: 1, movable: true }
    }

    /// The part of this space that a segment walks.
    pub(super) fn part(&self, site: &Site, segment: &Segment) -> Result<Self, LowerError> {
        Space::new(site, &segment.dims, std::array::from_fn(|k| &self.strides[k][..]))
    }

    /// Stride of operand `k` along the last dimension.
    pub(super) fn last_stride(&self, k: usize) -> i64 {
        self.strides[k][self.dims.len() - 1]
    }

    /// Appends the dimensions, then each operand's strides, as `array<vec4<u32>, 2>` each.
    pub(super) fn write(&self, params: ParamWriter) -> ParamWriter {
        let params = write_array(params, self.dims.iter().map(|dim| *dim as u32));
        self.strides
            .iter()
            .fold(params, |params, s| write_array(params, s.iter().map(|stride| *stride as u32)))
    }
}

/// Whether a dimension of `dim` elements `inner` apart continues the last one of `strides`.
fn ends_with(strides: &[i64], inner: i64, dim: usize) -> bool {
    strides.last().is_some_and(|outer| *outer == inner * dim as i64)
}

fn replace_last(strides: &mut [i64], inner: i64) {
    if let Some(last) = strides.last_mut() {
        *last = inner;
    }
}

/// Appends up to 8 words as `array<vec4<u32>, 2>`. A negative stride is its two's complement.
pub(super) fn write_array(params: ParamWriter, words: impl ExactSizeIterator<Item = u32>) -> ParamWriter {
    let missing = MAX_RANK - words.len();
    words.chain(std::iter::repeat_n(0, missing)).fold(params.align4(), ParamWriter::u32)
}
