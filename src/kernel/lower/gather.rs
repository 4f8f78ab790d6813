//! Operators that read and write at places that a tensor of indices names.

use super::LowerError;
use super::segments::ALIGN_LEN;
use super::site::Site;
use super::strides::{Space, row_major, write_array};
use crate::graph::{Reduction, Value};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Most indices of a place.
const MAX_DEPTH: usize = 8;

/// How places lie in a tensor.
struct Places<'a> {
    /// Extents and strides of the dimensions that are indexed.
    extents: &'a [usize],
    strides: &'a [i64],
}

impl Places<'_> {
    fn check(&self, site: &Site) -> Result<(), LowerError> {
        let depth = self.extents.len();
        if depth == 0 || depth > MAX_DEPTH {
            return Err(site.unsupported(format!("{depth} indices a place, kernels take 1 to {MAX_DEPTH}")));
        }
        match self.extents.contains(&0) {
            true => Err(site.unsupported(format!("indices into dimensions {:?}", self.extents))),
            false => Ok(()),
        }
    }

    fn write(&self, params: ParamWriter) -> ParamWriter {
        let params = write_array(params, self.extents.iter().map(|extent| *extent as u32));
        write_array(params, self.strides.iter().map(|stride| *stride as u32))
    }
}

/// What `gather.wgsl` reads: `x` seen as outer slices, of each of which it reads slices at places.
struct Gather<'a> {
    outer_stride: usize,
    /// Places of one outer slice, and whether each has its own.
    places: usize,
    own_places: bool,
    inner: usize,
    at: Places<'a>,
}

/// One dispatch, or where `x` is over the binding limit one for each run of rows that is bound, a row being
/// one index of the first dimension that is indexed: it writes what lies there.
fn gather(site: &Site, gather: &Gather) -> Result<Vec<Dispatch>, LowerError> {
    gather.at.check(site)?;
    let count = site.output.len();
    let (extent, row_len) = (gather.at.extents[0], gather.at.strides[0] as usize);
    let runs = match site.inputs[0].len() == gather.outer_stride {
        true => site.row_runs(extent, row_len),
        // Rows of several outer slices do not lie together.
        false => vec![(0, extent)],
    };
    let dispatch = |&(first, rows): &(usize, usize)| {
        let params = ParamWriter::new(3)
            .u32(count as u32)
            .u32(gather.places as u32)
            .u32(gather.inner as u32)
            .u32(gather.at.extents.len() as u32)
            .u32(gather.outer_stride as u32)
            .u32(if gather.own_places { gather.places as u32 } else { 0 })
            .u32(first as u32)
            .u32(rows as u32);
        let start_len = first * row_len / ALIGN_LEN * ALIGN_LEN;
        let x_start = first * row_len - start_len;
        let params = params.u32(x_start as u32);
        let x = match (site.operand(0), runs.len()) {
            (Operand::Value { value, .. }, 2..) => {
                Operand::Value { value, start_len, len: x_start + rows * row_len }
            }
            (whole, _) => whole,
        };
        let inputs = vec![x, site.operand(1)];
        let whole = site.linear(KernelId::Gather, inputs, gather.at.write(params), count)?;
        Ok(Dispatch { fills_output: runs.len() == 1, ..whole })
    };
    runs.iter().map(dispatch).collect()
}

/// Refuses an axis that the tensor does not have.
pub(super) fn check_axis(site: &Site, value: &Value, axis: usize) -> Result<(), LowerError> {
    match value.shape.len() {
        rank if axis < rank => Ok(()),
        rank => Err(site.unsupported(format!("axis {axis} of a tensor of rank {rank}"))),
    }
}

pub(super) fn lower_gather(site: &Site, axis: usize) -> Result<Vec<Dispatch>, LowerError> {
    let [x, indices] = site.inputs()?;
    check_axis(site, x, axis)?;
    let (head, tail) = (&x.shape[..axis], &x.shape[axis + 1..]);
    site.expect_output(&[head, &indices.shape, tail].concat())?;
    let inner: usize = tail.iter().product();
    let at = Places { extents: &x.shape[axis..=axis], strides: &[inner as i64] };
    let outer_stride = x.shape[axis] * inner;
    gather(site, &Gather { outer_stride, places: indices.len(), own_places: false, inner, at })
}

/// Leading dimensions shared, places and slices of `GatherND` and `ScatterND`; the slice's shape is what is
/// left of `x`.
fn split_places<'a>(
    site: &Site,
    x: &'a Value,
    indices: &Value,
    batch_dims: usize,
) -> Result<(usize, &'a [usize]), LowerError> {
    let depth = *indices.shape.last().ok_or_else(|| site.unsupported("indices without a dimension"))?;
    let fits = batch_dims < indices.shape.len()
        && batch_dims + depth <= x.shape.len()
        && x.shape[..batch_dims] == indices.shape[..batch_dims];
    match fits {
        true => Ok((depth, &x.shape[batch_dims + depth..])),
        false => Err(site.unsupported(format!(
            "indices {:?} into a tensor {:?} with {batch_dims} dimensions shared",
            indices.shape, x.shape
        ))),
    }
}

pub(super) fn lower_gather_nd(site: &Site, batch_dims: usize) -> Result<Vec<Dispatch>, LowerError> {
    let [x, indices] = site.inputs()?;
    let (depth, slice) = split_places(site, x, indices, batch_dims)?;
    let head = &indices.shape[..indices.shape.len() - 1];
    site.expect_output(&[head, slice].concat())?;
    let strides = row_major(&x.shape);
    let at = Places {
        extents: &x.shape[batch_dims..batch_dims + depth],
        strides: &strides[batch_dims..batch_dims + depth],
    };
    let inner = slice.iter().product();
    let places = head[batch_dims..].iter().product();
    let outer_stride = x.shape[batch_dims..].iter().product();
    gather(site, &Gather { outer_stride, places, own_places: true, inner, at })
}

/// That every dimension of `part` but the axis lies inside that of `whole`.
fn check_inside(site: &Site, part: &Value, whole: &Value, axis: usize) -> Result<(), LowerError> {
    check_axis(site, whole, axis)?;
    let inside = part.shape.len() == whole.shape.len()
        && (0..part.shape.len()).all(|d| d == axis || part.shape[d] <= whole.shape[d]);
    match inside && whole.shape[axis] > 0 {
        true => Ok(()),
        false => Err(site.unsupported(format!(
            "indices {:?} along axis {axis} of a tensor {:?}",
            part.shape, whole.shape
        ))),
    }
}

pub(super) fn lower_gather_elements(site: &Site, axis: usize) -> Result<Vec<Dispatch>, LowerError> {
    let [x, indices] = site.inputs()?;
    site.expect_output(&indices.shape)?;
    check_inside(site, indices, x, axis)?;
    let mut strides = row_major(&x.shape);
    let axis_stride = std::mem::take(&mut strides[axis]);
    let space = Space::new(site, &indices.shape, [&strides])?;
    let params = ParamWriter::new(3)
        .u32(indices.len() as u32)
        .u32(space.rank())
        .u32(x.shape[axis] as u32)
        .u32(axis_stride as u32);
    let inputs = vec![site.operand(0), site.operand(1)];
    Ok(vec![site.linear(KernelId::GatherElements, inputs, space.write(params), indices.len())?])
}

/// Code of `combine` in the scattering kernels.
fn combine_code(reduction: Reduction, floats: bool) -> u32 {
    let code = match reduction {
        Reduction::Replace => return 0,
        Reduction::Add => 1,
        Reduction::Mul => 2,
        Reduction::Min => 3,
        Reduction::Max => 4,
    };
    if floats { code } else { code + 4 }
}

/// `x` copied to the output, then a dispatch that updates it.
fn scatter(
    site: &Site,
    kernel: KernelId,
    params: ParamWriter,
    count: usize,
) -> Result<Vec<Dispatch>, LowerError> {
    let mut dispatches = super::shape::lower_identity(site)?;
    if count > 0 {
        let update = site.linear(kernel, vec![site.operand(1), site.operand(2)], params, count)?;
        dispatches.push(Dispatch { fills_output: false, ..update });
    }
    Ok(dispatches)
}

pub(super) fn lower_scatter_elements(
    site: &Site,
    axis: usize,
    reduction: Reduction,
) -> Result<Vec<Dispatch>, LowerError> {
    let [x, indices, updates] = site.inputs()?;
    site.expect_output(&x.shape)?;
    check_inside(site, indices, x, axis)?;
    if indices.shape != updates.shape {
        return Err(site.unsupported(format!("indices {:?}, updates {:?}", indices.shape, updates.shape)));
    }
    let without = |list: &[i64]| -> Vec<i64> { [&list[..axis], &list[axis + 1..]].concat() };
    let (from, to) = (row_major(&updates.shape), row_major(&x.shape));
    let dims = [&updates.shape[..axis], &updates.shape[axis + 1..]].concat();
    let space = Space::new(site, &dims, [&without(&from), &without(&to)])?;
    let count = if updates.is_empty() { 0 } else { dims.iter().product() };
    let params = ParamWriter::new(3)
        .u32(count as u32)
        .u32(combine_code(reduction, x.is_float()))
        .u32(space.rank())
        .u32(updates.shape[axis] as u32)
        .u32(from[axis] as u32)
        .u32(x.shape[axis] as u32)
        .u32(to[axis] as u32);
    scatter(site, KernelId::ScatterElements, space.write(params), count)
}

pub(super) fn lower_scatter_nd(site: &Site, reduction: Reduction) -> Result<Vec<Dispatch>, LowerError> {
    let [x, indices, updates] = site.inputs()?;
    site.expect_output(&x.shape)?;
    let (depth, slice) = split_places(site, x, indices, 0)?;
    let head = &indices.shape[..indices.shape.len() - 1];
    let due = [head, slice].concat();
    if updates.shape != due {
        return Err(site.unsupported(format!("updates {:?}, the indices make them {due:?}", updates.shape)));
    }
    let strides = row_major(&x.shape);
    let at = Places { extents: &x.shape[..depth], strides: &strides[..depth] };
    at.check(site)?;
    let (places, inner): (usize, usize) = (head.iter().product(), slice.iter().product());
    let params = ParamWriter::new(3)
        .u32(inner as u32)
        .u32(combine_code(reduction, x.is_float()))
        .u32(places as u32)
        .u32(depth as u32);
    scatter(site, KernelId::ScatterNd, at.write(params), if places == 0 { 0 } else { inner })
}
