//! Operators that move blocks of an image between rows, columns, channels and batch: a reshape, a
//! transposition and a reshape, none of which moves an element here.

use super::window::{image, size};
use crate::graph::{DType, Op, PadMode};
use crate::model::fault::Fault;
use crate::model::tflite::importer::{Data, Placed};
use crate::model::tflite::layout::Layout;
use crate::model::tflite::site::{NCHW, Out, Site};

/// A reshape, a transposition, a reshape.
fn steps(layout: &Layout, split: &[usize], perm: &[usize], joined: &[usize]) -> Option<Layout> {
    layout.reshaped(split)?.transposed(split, perm).reshaped(joined)
}

/// Channels are `block * block` pixels, row by row, of fewer channels.
pub(super) fn depth_to_space(site: &mut Site) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 0)?;
    let block = size(site, 0, 1, "block size")?;
    if !block.checked_mul(block).is_some_and(|area| channels.is_multiple_of(area)) {
        return Err(format!("{channels} channels do not divide into blocks of {block} x {block}").into());
    }
    let shape = vec![batch, rows * block, columns * block, channels / block / block];
    let split = [batch, rows, columns, block, block, shape[3]];
    let joined = shape.clone();
    site.relabel(0, shape, |layout| steps(layout, &split, &[0, 1, 3, 2, 4, 5], &joined))
}

pub(super) fn space_to_depth(site: &mut Site) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 0)?;
    let block = size(site, 0, 1, "block size")?;
    if !rows.is_multiple_of(block) || !columns.is_multiple_of(block) {
        return Err(format!("{rows} x {columns} pixels do not divide into blocks of {block}").into());
    }
    let channels_out = block.checked_mul(block).and_then(|area| area.checked_mul(channels));
    let channels_out = channels_out.ok_or_else(|| format!("block size is {block}"))?;
    let shape = vec![batch, rows / block, columns / block, channels_out];
    let split = [batch, shape[1], block, shape[2], block, channels];
    let joined = shape.clone();
    site.relabel(0, shape, |layout| steps(layout, &split, &[0, 1, 3, 2, 4, 5], &joined))
}

/// Block sizes of rows and columns (one dimension has no columns), and what is added or cut off.
fn blocks(site: &mut Site) -> Result<([usize; 2], [[usize; 2]; 2]), Fault> {
    let (sizes, pads) = (site.ints(1)?, site.ints(2)?);
    let number = |n: &i64| usize::try_from(*n).ok().filter(|n| *n < 1 << 24);
    let list = |l: &[i64]| l.iter().map(number).collect::<Option<Vec<_>>>();
    let wrong = || format!("blocks {sizes:?} and paddings {pads:?}; two pairs of small numbers are due");
    match (list(&sizes).as_deref(), list(&pads).as_deref()) {
        (Some(&[rows, columns]), Some(&[a, b, c, d])) if rows > 0 && columns > 0 => {
            Ok(([rows, columns], [[a, b], [c, d]]))
        }
        _ => Err(wrong().into()),
    }
}

/// Pixels of each block become images of the batch; zeros are added first.
pub(super) fn space_to_batch_nd(site: &mut Site) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 0)?;
    let ([block_rows, block_columns], [[top, bottom], [left, right]]) = blocks(site)?;
    let (rows, columns) = (rows + top + bottom, columns + left + right);
    if !rows.is_multiple_of(block_rows) || !columns.is_multiple_of(block_columns) {
        let what = format!("{rows} x {columns} pixels in blocks of {block_rows} x {block_columns}");
        return Err(what.into());
    }
    let split = [batch, rows / block_rows, block_rows, columns / block_columns, block_columns, channels];
    let shape = vec![batch * block_rows * block_columns, split[1], split[3], channels];
    let perm = [2, 4, 0, 1, 3, 5];
    let joined = shape.clone();
    if top + bottom + left + right == 0 {
        return site.relabel(0, shape, |layout| steps(layout, &split, &perm, &joined));
    }
    let value = site.permuted(0, &NCHW)?;
    let op = Op::Pad { mode: PadMode::Constant(0.0), before: vec![0, 0, top as i64, left as i64] };
    let value = site.before("padded", op, vec![value], &[batch, channels, rows, columns])?;
    let layout = Layout::permuted(&[batch, rows, columns, channels], &NCHW);
    let layout = steps(&layout, &split, &perm, &joined).ok_or("its blocks cannot be put in order")?;
    site.set(0, DType::F32, shape, Data::Run(vec![Placed { value, layout }]))
}

/// Images of the batch become pixels of blocks; rows and columns are cut off last.
pub(super) fn batch_to_space_nd(site: &mut Site) -> Result<(), Fault> {
    let [images, rows, columns, channels] = image(site, 0)?;
    let ([block_rows, block_columns], [[top, bottom], [left, right]]) = blocks(site)?;
    let area = block_rows * block_columns;
    if !images.is_multiple_of(area) {
        return Err(format!("{images} images in blocks of {block_rows} x {block_columns}").into());
    }
    let batch = images / area;
    let split = [block_rows, block_columns, batch, rows, columns, channels];
    let whole = [batch, rows * block_rows, columns * block_columns, channels];
    let perm = [2, 3, 0, 4, 1, 5];
    if top + bottom + left + right == 0 {
        return site.relabel(0, whole.to_vec(), |layout| steps(layout, &split, &perm, &whole));
    }
    let left_over = |dim: usize, cut: usize| dim.checked_sub(cut).filter(|left| *left > 0);
    let (Some(out_rows), Some(out_columns)) =
        (left_over(whole[1], top + bottom), left_over(whole[2], left + right))
    else {
        return Err(format!("nothing is left of {} x {} pixels", whole[1], whole[2]).into());
    };
    let (value, out) = site.stored(0)?;
    let placed = match steps(&out.layout, &split, &perm, &whole) {
        Some(layout) => Placed { value, layout },
        None => {
            let value = site.plain(0, &[images, rows, columns, channels])?;
            let layout = steps(&Layout::plain(&out.shape), &split, &perm, &whole);
            Placed { value, layout: layout.ok_or("its blocks cannot be put in order")? }
        }
    };
    let want = Layout::permuted(&whole, &NCHW);
    let index = site.index(0)?;
    let dims = NCHW.map(|axis| whole[axis]);
    let value = site.importer.arranged(index, &placed, &want, &dims)?;
    let op = Op::Slice { starts: vec![0, 0, top as i64, left as i64], steps: vec![1; 4] };
    site.emit(op, vec![value], Out::permuted(vec![batch, out_rows, out_columns, channels], &NCHW))
}
