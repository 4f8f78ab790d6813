//! Cuts a dispatch whose operands exceed the binding limit into several that each bind parts of them.
//!
//! A kernel walks a space of a few dimensions, and each operand by strides over it. The space is cut along
//! its outermost dimension as coarsely as the bindings fit; where one index of it is still too much, each
//! index is cut along the next dimension.

use crate::kernel::Operand;

/// Elements between two lawful starts of a binding: 256 bytes, WebGPU's default alignment.
pub(super) const ALIGN_LEN: usize = 64;

/// An operand and how a kernel walks it; lengths are elements.
#[derive(Debug, Clone)]
pub(super) struct Walked {
    /// The whole value.
    pub(super) operand: Operand,
    /// First element.
    pub(super) start: i64,
    /// Distance of neighbours along each dimension of the space.
    pub(super) strides: Vec<i64>,
    /// Elements that each step shows, from its first to its last.
    pub(super) tail_len: usize,
    /// Whether the kernel can be told where to start within the binding; if not, the binding starts there.
    pub(super) movable: bool,
}

/// A part of a space, as one dispatch computes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    /// Extents; as many dimensions as the space has.
    pub(super) dims: Vec<usize>,
    /// What each operand binds.
    pub(super) operands: Vec<Operand>,
    /// Where in the bound range each operand's walk starts; 0 if it is not movable.
    pub(super) starts: Vec<i64>,
}

impl Segment {
    /// All of a space, its operands whole.
    pub(super) fn whole(dims: &[usize], walked: &[Walked]) -> Segment {
        Segment {
            dims: dims.to_vec(),
            operands: walked.iter().map(|w| w.operand).collect(),
            starts: walked.iter().map(|w| w.start).collect(),
        }
    }
}

/// Segments that together walk all of `dims` (each 1 or more), in order, none with an operand over the limit;
/// one where everything fits whole. `None` where no cut along the dimensions in their order serves.
pub(super) fn segments(dims: &[usize], walked: &[Walked], max_binding_bytes: u64) -> Option<Vec<Segment>> {
    let most_len = usize::try_from(max_binding_bytes / 4).unwrap_or(usize::MAX);
    let whole = Segment::whole(dims, walked);
    if whole.operands.iter().all(|o| len(*o) <= most_len) {
        return Some(vec![whole]);
    }
    let mut cutter = Cutter { walked, most_len, segments: Vec::new() };
    cutter.cut(dims, &whole.starts, 0)?;
    Some(cutter.segments)
}

struct Cutter<'a> {
    walked: &'a [Walked],
    most_len: usize,
    segments: Vec<Segment>,
}

impl Cutter<'_> {
    /// Cuts the part `dims` from `starts` on, along `axis` or those after it.
    fn cut(&mut self, dims: &[usize], starts: &[i64], axis: usize) -> Option<()> {
        if let Some(segment) = self.bind(dims, starts) {
            self.segments.push(segment);
            return Some(());
        }
        let axis = (axis..dims.len()).find(|d| dims[*d] > 1)?;
        let count = self.most(dims, starts, axis);
        let mut part = dims.to_vec();
        for first in (0..dims[axis]).step_by(count.max(1)) {
            part[axis] = count.max(1).min(dims[axis] - first);
            let moved =
                self.walked.iter().zip(starts).map(|(w, start)| start + first as i64 * w.strides[axis]);
            let moved: Vec<i64> = moved.collect();
            match count {
                0 => self.cut(&part, &moved, axis + 1)?,
                _ => self.segments.push(self.bind(&part, &moved)?),
            }
        }
        Some(())
    }

    /// Whether an operand is bound in part. One that fits stays whole, so that all segments share one
    /// binding.
    fn is_narrow(&self, walked: &Walked) -> bool {
        len(walked.operand) > self.most_len || !walked.movable
    }

    /// The part as one dispatch, if every binding starts lawfully and fits.
    fn bind(&self, dims: &[usize], starts: &[i64]) -> Option<Segment> {
        let mut segment = Segment { dims: dims.to_vec(), operands: Vec::new(), starts: Vec::new() };
        for (walked, start) in self.walked.iter().zip(starts) {
            let (operand, start) = match walked.operand {
                Operand::Value { value, .. } if self.is_narrow(walked) => {
                    let lowest = (start - walked.below(dims)) as usize;
                    let start_len = lowest / ALIGN_LEN * ALIGN_LEN;
                    let len = lowest - start_len + walked.span(dims);
                    if len > self.most_len || (!walked.movable && *start != start_len as i64) {
                        return None;
                    }
                    (Operand::Value { value, start_len, len }, start - start_len as i64)
                }
                whole => (whole, *start),
            };
            segment.operands.push(operand);
            segment.starts.push(start);
        }
        Some(segment)
    }

    /// Most indices along `axis` that one dispatch can walk, wherever the cut falls; 0 where not even one
    /// fits.
    fn most(&self, dims: &[usize], starts: &[i64], axis: usize) -> usize {
        let narrow = || self.walked.iter().zip(starts).filter(|(w, _)| self.is_narrow(w));
        let unit = |w: &Walked| ALIGN_LEN / gcd(ALIGN_LEN, w.strides[axis].unsigned_abs() as usize);
        let within = |w: &Walked, most_len: usize| {
            let (stride, mut one) = (w.strides[axis].unsigned_abs() as usize, dims.to_vec());
            one[axis] = 1;
            match most_len.checked_sub(w.span(&one)) {
                None => 0,
                Some(spare) => {
                    spare.checked_div(stride).map_or(dims[axis], |more| (1 + more).min(dims[axis]))
                }
            }
        };
        // Every cut at an aligned element, if the walks start at one; else what moves may start up to 63
        // late.
        let aligned = narrow().all(|(w, start)| (start - w.below(dims)) % ALIGN_LEN as i64 == 0);
        let units = narrow().map(|(w, _)| unit(w)).max().unwrap_or(1);
        let count = narrow().map(|(w, _)| within(w, self.most_len)).min().unwrap_or(0) / units * units;
        if aligned && count > 0 {
            return count;
        }
        let late = |w: &Walked| if w.movable { ALIGN_LEN - 1 } else { 0 };
        let units = narrow().filter(|(w, _)| !w.movable).map(|(w, _)| unit(w)).max().unwrap_or(1);
        let counts = narrow().map(|(w, _)| within(w, self.most_len.saturating_sub(late(w))));
        counts.min().unwrap_or(0) / units * units
    }
}

impl Walked {
    /// Elements from the lowest to the highest that the walk of `dims` shows.
    fn span(&self, dims: &[usize]) -> usize {
        let steps = dims.iter().zip(&self.strides);
        let reach = steps.map(|(dim, stride)| dim.saturating_sub(1) * stride.unsigned_abs() as usize);
        self.tail_len + reach.sum::<usize>()
    }

    /// Elements that the walk of `dims` goes below its start.
    fn below(&self, dims: &[usize]) -> i64 {
        let steps = dims.iter().zip(&self.strides);
        steps.map(|(dim, stride)| (*dim as i64 - 1).max(0) * (-stride).max(0)).sum()
    }
}

fn len(operand: Operand) -> usize {
    match operand {
        Operand::Value { len, .. } => len,
        Operand::Absent => 0,
    }
}

pub(super) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ValueId;

    fn walked(id: u32, len: usize, strides: &[i64], movable: bool) -> Walked {
        let operand = Operand::Value { value: ValueId(id), start_len: 0, len };
        Walked { operand, start: 0, strides: strides.to_vec(), tail_len: 1, movable }
    }

    /// Elements of operand `k`, in the order of the walk over all segments.
    fn visited(segments: &[Segment], walked: &Walked, k: usize) -> Vec<i64> {
        let mut all = Vec::new();
        for segment in segments {
            let Operand::Value { start_len, len, .. } = segment.operands[k] else {
                panic!("a value is bound")
            };
            let count: usize = segment.dims.iter().product();
            for i in 0..count {
                let mut rest = i;
                let mut at = segment.starts[k];
                for (dim, stride) in segment.dims.iter().zip(&walked.strides).rev() {
                    at += (rest % dim) as i64 * stride;
                    rest /= dim;
                }
                assert!((0..len as i64).contains(&at), "{segment:?}");
                all.push(at + start_len as i64);
            }
        }
        all
    }

    /// Cuts, and checks that the walk is the same as the uncut one and every binding lawful.
    fn check(dims: &[usize], operands: &[Walked], most_len: usize) -> usize {
        let whole = segments(dims, operands, u64::MAX).unwrap();
        let parts = segments(dims, operands, most_len as u64 * 4).unwrap();
        for (k, walked) in operands.iter().enumerate() {
            assert_eq!(visited(&parts, walked, k), visited(&whole, walked, k), "operand {k}");
        }
        for operand in parts.iter().flat_map(|s| &s.operands) {
            let Operand::Value { start_len, len, .. } = operand else { continue };
            assert!(start_len % ALIGN_LEN == 0 && *len <= most_len, "{operand:?}");
        }
        parts.len()
    }

    #[test]
    fn a_line_is_cut_at_aligned_elements() {
        let line = [walked(0, 1000, &[1], false), walked(1, 1000, &[1], false)];
        assert_eq!(check(&[1000], &line, 300), 4, "256 elements each");
        assert!(segments(&[1000], &line, 63 * 4).is_none(), "no 64 elements fit");
    }

    #[test]
    fn rows_of_odd_length_are_cut_where_both_operands_may_start() {
        let rows = [walked(0, 50 * 30, &[30, 1], true), walked(1, 50 * 70, &[70, 1], true)];
        check(&[50, 30], &rows, 300);
        let stuck = [walked(0, 50 * 30, &[30, 1], false), walked(1, 50 * 70, &[70, 1], true)];
        check(&[50, 30], &stuck, 2400);
    }

    #[test]
    fn rows_over_the_limit_are_cut_within() {
        let rows = [walked(0, 3000, &[1000, 1], true), walked(1, 3300, &[1100, 1], true)];
        assert_eq!(check(&[3, 1000], &rows, 400), 3 * 3);
    }

    #[test]
    fn a_walk_backwards_starts_at_its_end() {
        let mut back = walked(0, 1000, &[-1], true);
        back.start = 999;
        check(&[1000], &[back, walked(1, 1000, &[1], true)], 300);
    }

    #[test]
    fn what_fits_stays_whole() {
        let operands = [walked(0, 6000, &[2000, 1], true), walked(1, 3, &[1, 0], true)];
        let parts = segments(&[3, 2000], &operands, 2048 * 4).unwrap();
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(|p| p.operands[1] == operands[1].operand));
        assert_eq!(parts.iter().map(|p| p.starts[1]).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
