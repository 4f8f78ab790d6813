//! Operators that cut tensors into parts and put parts together.

use super::constant::{int, ints};
use crate::graph::Op;
use crate::model::fault::Fault;
use crate::model::shape as shapes;
use crate::model::tflite::fold::{self, Ints};
use crate::model::tflite::layout::Layout;
use crate::model::tflite::site::{Out, Site};

/// One part of a tensor: of each dimension `counts[d]` elements from `starts[d]` on, `steps[d]` apart.
struct Part {
    starts: Vec<i64>,
    counts: Vec<usize>,
    steps: Vec<i64>,
}

impl Part {
    /// All of a tensor.
    fn whole(shape: &[usize]) -> Self {
        Part { starts: vec![0; shape.len()], counts: shape.to_vec(), steps: vec![1; shape.len()] }
    }

    /// Of dimension `axis` some elements, of the others all.
    fn along(shape: &[usize], axis: usize, start: usize, count: usize) -> Self {
        let mut part = Part::whole(shape);
        part.starts[axis] = start as i64;
        part.counts[axis] = count;
        part
    }

    fn is_whole(&self, shape: &[usize]) -> bool {
        self.counts == shape && self.steps.iter().all(|s| *s == 1) && self.starts.iter().all(|s| *s == 0)
    }
}

/// Output `output` is a part of an input, under a shape that differs from the part's in dimensions of 1.
fn cut(site: &mut Site, input: usize, output: usize, part: &Part, shape: Vec<usize>) -> Result<(), Fault> {
    let from = site.shape(input)?;
    if part.is_whole(&from) && output == 0 && site.output_count() == 1 {
        let to = shape.clone();
        return site.relabel(input, shape, |layout| layout.reshaped(&to));
    }
    let view = site.view(input)?;
    let op = Op::Slice { starts: view.arrange(&part.starts), steps: view.arrange(&part.steps) };
    let out = Out { shape, ..Out::permuted(part.counts.clone(), &view.perm) };
    site.emit_output(output, op, vec![view.value], out)
}

fn cut_or_fold(site: &mut Site, part: &Part, shape: Vec<usize>) -> Result<(), Fault> {
    if site.is_ints(0) {
        let result = fold::slice(&ints(site, 0)?, &part.starts, &part.counts, &part.steps)?;
        return site.set_ints(shape, result.data);
    }
    cut(site, 0, 0, part, shape)
}

/// Begin and size of each dimension; a size of -1 goes to the end.
pub(super) fn slice(site: &mut Site) -> Result<(), Fault> {
    let (shape, begins, sizes) = (site.shape(0)?, site.ints(1)?, site.ints(2)?);
    if begins.len() != shape.len() || sizes.len() != shape.len() {
        let (b, s, rank) = (begins.len(), sizes.len(), shape.len());
        return Err(format!("{b} begins and {s} sizes for {rank} dimensions").into());
    }
    let mut part = Part::whole(&shape);
    for (d, dim) in shape.iter().enumerate() {
        let (begin, dim) = (begins[d], *dim as i64);
        let size = if sizes[d] == -1 { dim.saturating_sub(begin) } else { sizes[d] };
        if begin < 0 || size < 0 || begin.checked_add(size).is_none_or(|end| end > dim) {
            return Err(format!("{size} elements from {begin} on of dimension {d}, which has {dim}").into());
        }
        part.starts[d] = begin;
        part.counts[d] = size as usize;
    }
    let counts = part.counts.clone();
    cut_or_fold(site, &part, counts)
}

/// Bits of the attributes: one an entry of begins, ends and strides.
struct Masks {
    begin: i32,
    end: i32,
    ellipsis: i32,
    new_axis: i32,
    shrink: i32,
    /// Ends count from the begins.
    offset: bool,
}

pub(super) fn strided_slice(site: &mut Site) -> Result<(), Fault> {
    let masks = Masks {
        begin: site.option(0, 0)?,
        end: site.option(1, 0)?,
        ellipsis: site.option(2, 0)?,
        new_axis: site.option(3, 0)?,
        shrink: site.option(4, 0)?,
        offset: site.flag(5)?,
    };
    let shape = site.shape(0)?;
    let lists = [site.ints(1)?, site.ints(2)?, site.ints(3)?];
    let [begins, ends, strides] = [0, 1, 2].map(|i| &lists[i][..]);
    let (part, shape) = strided_part(&shape, begins, ends, strides, &masks)?;
    cut_or_fold(site, &part, shape)
}

/// The part that the entries describe and the shape it has in the end.
fn strided_part(
    shape: &[usize],
    begins: &[i64],
    ends: &[i64],
    strides: &[i64],
    masks: &Masks,
) -> Result<(Part, Vec<usize>), Fault> {
    let entries = begins.len();
    if ends.len() != entries || strides.len() != entries || entries > 31 {
        let (e, s) = (ends.len(), strides.len());
        return Err(format!("{entries} begins, {e} ends and {s} strides").into());
    }
    let set = |mask: i32, entry: usize| mask >> entry & 1 == 1;
    let new = (0..entries).filter(|e| set(masks.new_axis, *e)).count();
    let ellipses = (0..entries).filter(|e| set(masks.ellipsis, *e)).count();
    let named = entries - new - ellipses;
    if ellipses > 1 || named > shape.len() {
        return Err(format!("{entries} entries for {} dimensions", shape.len()).into());
    }
    let mut part = Part::whole(shape);
    let mut out = Vec::new();
    let mut d = 0;
    for entry in 0..entries {
        if set(masks.ellipsis, entry) {
            let until = d + shape.len() - named;
            out.extend(&shape[d..until]);
            d = until;
        } else if set(masks.new_axis, entry) {
            out.push(1);
        } else {
            let dim = shape[d];
            let (begin, end, stride) = (begins[entry], ends[entry], strides[entry]);
            if stride == 0 {
                return Err("a stride is 0".into());
            }
            let end = if masks.offset { begin.saturating_add(end) } else { end };
            if set(masks.shrink, entry) {
                part.starts[d] = shapes::axis(begin, dim)
                    .map_err(|_| format!("index {begin} of dimension {d}, which has {dim} elements"))?
                    as i64;
                part.counts[d] = 1;
            } else {
                let first = if stride > 0 { 0 } else { i64::MAX };
                let last = if stride > 0 { i64::MAX } else { i64::MIN };
                let begin = if set(masks.begin, entry) { first } else { begin };
                let end = if set(masks.end, entry) { last } else { end };
                (part.starts[d], part.counts[d]) = shapes::slice(dim, begin, end, stride);
                part.steps[d] = stride;
                out.push(part.counts[d]);
            }
            d += 1;
        }
    }
    out.extend(&shape[d..]);
    Ok((part, out))
}

/// The axis is input 0.
pub(super) fn split(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(1)?;
    let axis = shapes::axis(int(site, 0)?, shape.len())?;
    let count = site.output_count();
    if count == 0 || !shape[axis].is_multiple_of(count) {
        return Err(format!("{} elements do not divide into {count} parts", shape[axis]).into());
    }
    pieces(site, 1, axis, &vec![shape[axis] / count; count])
}

/// The sizes are input 1, one of them may be -1; the axis is input 2.
pub(super) fn split_v(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let axis = shapes::axis(int(site, 2)?, shape.len())?;
    let sizes = site.ints(1)?;
    if sizes.len() != site.output_count() {
        return Err(format!("{} sizes for {} outputs", sizes.len(), site.output_count()).into());
    }
    // As in a reshape, the open size is what is left.
    let known: i64 = sizes.iter().filter(|s| **s != -1).fold(0i64, |sum, s| sum.saturating_add(*s));
    let left = (shape[axis] as i64).saturating_sub(known);
    let size = |s: &i64| usize::try_from(if *s == -1 { left } else { *s });
    let resolved = sizes.iter().map(size).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    if resolved.iter().try_fold(0usize, |sum, s| sum.checked_add(*s)) != Some(shape[axis]) {
        return Err(format!("sizes {sizes:?} of {} elements", shape[axis]).into());
    }
    pieces(site, 0, axis, &resolved)
}

fn pieces(site: &mut Site, input: usize, axis: usize, sizes: &[usize]) -> Result<(), Fault> {
    let shape = site.shape(input)?;
    let mut at = 0;
    for (output, size) in sizes.iter().enumerate() {
        let part = Part::along(&shape, axis, at, *size);
        let counts = part.counts.clone();
        cut(site, input, output, &part, counts)?;
        at += size;
    }
    Ok(())
}

/// Each index of one dimension becomes an output without it.
pub(super) fn unpack(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let axis = shapes::axis(site.option::<i32>(1, 0)?.into(), shape.len())?;
    if site.output_count() != shape[axis] {
        return Err(format!("{} outputs for {} elements", site.output_count(), shape[axis]).into());
    }
    let mut left = shape.clone();
    left.remove(axis);
    for output in 0..site.output_count() {
        let part = Part::along(&shape, axis, output, 1);
        cut(site, 0, output, &part, left.clone())?;
    }
    Ok(())
}

pub(super) fn concatenation(site: &mut Site) -> Result<(), Fault> {
    let shapes_in = (0..site.input_count()).map(|i| site.shape(i)).collect::<Result<Vec<_>, _>>()?;
    let rank = shapes_in.first().map_or(0, Vec::len);
    let axis = shapes::axis(site.option::<i32>(0, 0)?.into(), rank)?;
    join(site, &shapes_in, axis, None)
}

/// Tensors of one shape along a new dimension.
pub(super) fn pack(site: &mut Site) -> Result<(), Fault> {
    let mut shapes_in = (0..site.input_count()).map(|i| site.shape(i)).collect::<Result<Vec<_>, _>>()?;
    let rank = shapes_in.first().map_or(0, Vec::len) + 1;
    let axis = shapes::axis(site.option::<i32>(1, 0)?.into(), rank)?;
    if let Some(other) = shapes_in.iter().find(|s| **s != shapes_in[0]) {
        return Err(format!("shapes {:?} and {other:?} differ", shapes_in[0]).into());
    }
    shapes_in.iter_mut().for_each(|s| s.insert(axis, 1));
    join(site, &shapes_in, axis, Some(axis))
}

/// Puts all inputs, under these shapes, one after the other along `axis`.
fn join(site: &mut Site, parts: &[Vec<usize>], axis: usize, packed: Option<usize>) -> Result<(), Fault> {
    let Some(first) = parts.first() else { return Err("it has no input".into()) };
    let mut shape = first.clone();
    shape[axis] = 0;
    for part in parts {
        let fits = part.len() == shape.len() && (0..shape.len()).all(|d| d == axis || part[d] == shape[d]);
        if !fits {
            return Err(format!("shapes {first:?} and {part:?} do not fit along dimension {axis}").into());
        }
        shape[axis] += part[axis];
    }
    if site.all_ints() {
        let parts = (0..parts.len()).map(|i| ints(site, i)).collect::<Result<Vec<Ints>, _>>()?;
        let result = fold::concat(&parts, axis, shape);
        return site.set_ints(result.shape, result.data);
    }
    // The largest input that is computed at run time says in which order.
    let weight =
        |i: &usize| (!site.is_constant(*i), parts[*i].iter().product::<usize>(), std::cmp::Reverse(*i));
    let lead = (0..parts.len()).max_by_key(weight).unwrap_or(0);
    let perm = site.view_as(lead, &parts[lead])?.perm;
    let mut inputs = Vec::with_capacity(parts.len());
    for (input, part) in parts.iter().enumerate() {
        let dims: Vec<usize> = perm.iter().map(|d| part[*d]).collect();
        inputs.push(site.place(input, &Layout::permuted(part, &perm), &dims)?);
    }
    let activation = if packed.is_some() { None } else { site.activation(1)? };
    let axis = perm.iter().position(|d| *d == axis).unwrap_or(0);
    site.emit_activated(Op::Concat { axis }, inputs, Out::permuted(shape, &perm), activation)
}

/// Slices of one dimension: a slice where the indices are constant and evenly spaced.
pub(super) fn gather(site: &mut Site) -> Result<(), Fault> {
    let axis = shapes::axis(site.option::<i32>(0, 0)?.into(), site.shape(0)?.len())?;
    if site.option::<i32>(1, 0)? != 0 {
        return Err("batch_dims is not 0; only whole indices are supported".into());
    }
    gather_along(site, 0, 1, axis)
}

/// The indices are input 0, the rows of input 1 are looked up.
pub(super) fn embedding_lookup(site: &mut Site) -> Result<(), Fault> {
    gather_along(site, 1, 0, 0)
}

fn gather_along(site: &mut Site, input: usize, indices: usize, axis: usize) -> Result<(), Fault> {
    let shape = site.shape(input)?;
    let places = site.shape(indices)?;
    let out = [&shape[..axis], &places, &shape[axis + 1..]].concat();
    if site.is_ints(indices) {
        let data = site.ints(indices)?;
        let dim = shape[axis] as i64;
        if let Some(index) = data.iter().find(|i| !(0..dim).contains(*i)) {
            return Err(format!("index {index} of dimension {axis}, which has {dim} elements").into());
        }
        if let Some((start, count, step)) = run(&data) {
            let mut part = Part::along(&shape, axis, start as usize, count);
            part.steps[axis] = step;
            return gather_run(site, input, &part, out);
        }
    }
    let view = site.view(input)?;
    let data = site.plain(indices, &places)?;
    // The dimension is replaced by those of the indices, where it stands.
    let moved = |d: usize| if d > axis { d + places.len() - 1 } else { d };
    let perm: Vec<usize> = (view.perm.iter())
        .flat_map(|d| if *d == axis { axis..axis + places.len() } else { moved(*d)..moved(*d) + 1 })
        .collect();
    let op = Op::Gather { axis: view.place(axis) };
    site.emit(op, vec![view.value, data], Out::permuted(out, &perm))
}

fn gather_run(site: &mut Site, input: usize, part: &Part, shape: Vec<usize>) -> Result<(), Fault> {
    if site.is_ints(input) {
        let result = fold::slice(&ints(site, input)?, &part.starts, &part.counts, &part.steps)?;
        return site.set_ints(shape, result.data);
    }
    let view = site.view(input)?;
    let op = Op::Slice { starts: view.arrange(&part.starts), steps: view.arrange(&part.steps) };
    gathered(site, op, vec![view.value], part.counts.clone(), &view.perm, shape)
}

/// Each slice of the dimensions in input 1 from its end to its start.
pub(super) fn reverse(site: &mut Site) -> Result<(), Fault> {
    let shape = site.shape(0)?;
    let axes = shapes::axes(&site.ints(1)?, shape.len())?;
    let mut part = Part::whole(&shape);
    for axis in axes {
        part.starts[axis] = shape[axis] as i64 - 1;
        part.steps[axis] = -1;
    }
    cut_or_fold(site, &part, shape)
}

/// A tensor of the shape `whole`, whose gathered dimension the output may see as several.
fn gathered(
    site: &mut Site,
    op: Op,
    inputs: Vec<crate::graph::ValueId>,
    whole: Vec<usize>,
    perm: &[usize],
    shape: Vec<usize>,
) -> Result<(), Fault> {
    let out = Out::permuted(whole, perm);
    let layout = out.layout.reshaped(&shape).ok_or("its elements cannot be put in order")?;
    site.emit(op, inputs, Out { shape, layout, dims: out.dims, dtype: None })
}

/// Evenly spaced indices: first, number, step.
fn run(indices: &[i64]) -> Option<(i64, usize, i64)> {
    let (first, step) = match *indices {
        [] => return None,
        [first] => (first, 1),
        [first, second, ..] => (first, second - first),
    };
    let even = indices.windows(2).all(|w| w[1] - w[0] == step) && step != 0;
    even.then_some((first, indices.len(), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_spaced_indices_are_a_run() {
        assert_eq!(run(&[3]), Some((3, 1, 1)));
        assert_eq!(run(&[5, 3, 1]), Some((5, 3, -2)));
        assert_eq!((run(&[5, 3, 2]), run(&[2, 2]), run(&[])), (None, None, None));
    }

    #[test]
    fn strided_slices_follow_their_masks() {
        let none = || Masks { begin: 0, end: 0, ellipsis: 0, new_axis: 0, shrink: 0, offset: false };
        let (part, shape) = strided_part(&[5, 6], &[1, -2], &[4, 9], &[2, 1], &none()).unwrap();
        assert_eq!((part.starts, part.counts, part.steps), (vec![1, 4], vec![2, 2], vec![2, 1]));
        assert_eq!(shape, [2, 2]);
        let masks = Masks { ellipsis: 1, new_axis: 2, shrink: 4, ..none() };
        let (part, shape) = strided_part(&[5, 6], &[0, 0, -1], &[0, 0, 0], &[1, 1, 1], &masks).unwrap();
        assert_eq!((part.starts, part.counts), (vec![0, 5], vec![5, 1]));
        assert_eq!(shape, [5, 1]);
        let masks = Masks { begin: 1, end: 1, ..none() };
        let (part, _) = strided_part(&[5], &[2], &[2], &[-1], &masks).unwrap();
        assert_eq!((part.starts, part.counts, part.steps), (vec![4], vec![5], vec![-1]));
        let masks = Masks { shrink: 1, ..none() };
        assert!(strided_part(&[5], &[5], &[6], &[1], &masks).is_err());
        assert!(strided_part(&[5], &[0], &[5], &[0], &none()).is_err());
    }
}
