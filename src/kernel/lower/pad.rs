//! Padding: negative amounts crop first, then the rest is padded.

use super::LowerError;
use super::site::Site;
use super::strides::{row_major, write_array};
use crate::graph::PadMode;
use crate::kernel::{Dispatch, KernelId, ParamWriter};

/// One dimension of a padding.
#[derive(Debug, Clone, Copy)]
struct Dim {
    /// Elements of the output.
    size: usize,
    /// Elements of the input that are kept.
    extent: usize,
    /// Elements added in front.
    before: usize,
    /// Distance of neighbours in the input.
    stride: i64,
    /// Whether the whole input dimension is kept and nothing is added.
    untouched: bool,
}

pub(super) fn lower_pad(site: &Site, mode: PadMode, before: &[i64]) -> Result<Vec<Dispatch>, LowerError> {
    let [x] = site.inputs()?;
    site.expect_rank("pads", before.len())?;
    site.expect_rank("output dimensions", site.output.shape.len())?;
    let mut start = 0;
    let mut dims: Vec<Dim> = Vec::new();
    for (d, stride) in row_major(&x.shape).into_iter().enumerate() {
        let (size, full, front) = (site.output.shape[d] as i128, x.shape[d] as i128, before[d] as i128);
        let back = size - full - front;
        let (cropped_front, cropped_back) = ((-front).max(0), (-back).max(0));
        let extent = full - cropped_front - cropped_back;
        if extent < 0 || (extent == 0 && !matches!(mode, PadMode::Constant(_))) {
            let what =
                format!("pads {front} and {back} leave nothing of dimension {d}, which has {full} elements");
            return Err(site.unsupported(what));
        }
        if extent > 0 {
            start += cropped_front as i64 * stride;
        }
        let dim = Dim {
            size: size as usize,
            extent: extent as usize,
            before: front.max(0) as usize,
            stride,
            untouched: extent == full && extent == size,
        };
        push_merged(&mut dims, dim, mode);
    }
    dispatch(site, mode, start, &dims)
}

/// Appends a dimension, merged with the one before it where the pair is walked as one.
fn push_merged(dims: &mut Vec<Dim>, dim: Dim, mode: PadMode) {
    let constant = matches!(mode, PadMode::Constant(_));
    match dims.last_mut() {
        Some(last) if dim.untouched && (last.untouched || constant) && dim.size > 0 => {
            *last = Dim {
                size: last.size * dim.size,
                extent: last.extent * dim.size,
                before: last.before * dim.size,
                stride: dim.stride,
                untouched: last.untouched,
            };
        }
        _ => dims.push(dim),
    }
}

fn dispatch(site: &Site, mode: PadMode, start: i64, dims: &[Dim]) -> Result<Vec<Dispatch>, LowerError> {
    let scalar = [Dim { size: 1, extent: 1, before: 0, stride: 0, untouched: true }];
    let dims = if dims.is_empty() { &scalar[..] } else { dims };
    if dims.len() > 8 {
        return Err(site.unsupported(format!("pads {} dimensions, kernels walk at most 8", dims.len())));
    }
    let (code, value) = match mode {
        PadMode::Constant(value) => (0, value),
        PadMode::Reflect => (1, 0.0),
        PadMode::Edge => (2, 0.0),
        PadMode::Wrap => (3, 0.0),
    };
    let params = ParamWriter::new(2)
        .u32(site.output.len() as u32)
        .u32(dims.len() as u32)
        .u32(start as u32)
        .u32(code)
        .f32(value);
    let params = write_array(params, dims.iter().map(|d| d.size as u32));
    let params = write_array(params, dims.iter().map(|d| d.extent as u32));
    let params = write_array(params, dims.iter().map(|d| d.before as u32));
    let params = write_array(params, dims.iter().map(|d| d.stride as u32));
    Ok(vec![site.linear(KernelId::Pad, vec![site.operand(0)], params, site.output.len())?])
}
