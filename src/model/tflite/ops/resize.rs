//! Images brought to another size: every output position reads rows and columns by a table.

use super::window::image;
use crate::graph::Op;
use crate::model::fault::Fault;
use crate::model::resample::{Axis, Coordinates, Filter, Table, table};
use crate::model::shape as shapes;
use crate::model::tflite::site::{NCHW, Out, Site};

/// Largest index that a float tells from its neighbours.
const MAX_SIDE: usize = 1 << 24;

/// Where the centres of pixels lie.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// At their indices, scaled.
    Plain,
    /// The first and the last of both sizes on each other.
    Corners,
    /// Half a pixel in.
    HalfPixel,
}

fn manner(corners: bool, half_pixel: bool) -> Result<Manner, Fault> {
    match (corners, half_pixel) {
        (false, false) => Ok(Manner::Plain),
        (true, false) => Ok(Manner::Corners),
        (false, true) => Ok(Manner::HalfPixel),
        (true, true) => Err("align_corners and half_pixel_centers exclude each other".into()),
    }
}

pub(super) fn bilinear(site: &mut Site) -> Result<(), Fault> {
    let manner = manner(site.flag(2)?, site.flag(3)?)?;
    let coordinates = match manner {
        Manner::Plain => Coordinates::Asymmetric,
        Manner::Corners => Coordinates::AlignCorners,
        Manner::HalfPixel => Coordinates::HalfPixel,
    };
    resize(site, |input, output| {
        let filter = Filter::Linear { antialias: false };
        let scale = output as f32 / input as f32;
        table(&Axis { input, output, scale, coordinates, filter, exclude_outside: false })
    })
}

pub(super) fn nearest_neighbor(site: &mut Site) -> Result<(), Fault> {
    let manner = manner(site.flag(0)?, site.flag(1)?)?;
    resize(site, |input, output| {
        // Computed in f32 as TFLite does, so that a position on the edge falls to the same side.
        let scale = match manner {
            Manner::Corners if output > 1 => (input - 1) as f32 / (output - 1) as f32,
            _ => input as f32 / output as f32,
        };
        let index = |position: usize| {
            let at = (position as f32 + if manner == Manner::HalfPixel { 0.5 } else { 0.0 }) * scale;
            let at = if manner == Manner::Corners { at.round() } else { at.floor() };
            (at as usize).min(input - 1)
        };
        let data = (0..output).flat_map(|position| [index(position) as f32, 1.0]).collect();
        Ok(Table { positions: output, taps: 1, data })
    })
}

/// Rows and columns are input 1.
fn resize(site: &mut Site, table: impl Fn(usize, usize) -> Result<Table, String>) -> Result<(), Fault> {
    let [batch, rows, columns, channels] = image(site, 0)?;
    let size = shapes::dims(&site.ints(1)?)?;
    let [out_rows, out_columns] = size[..] else {
        return Err(format!("size {size:?}; rows and columns are due").into());
    };
    if let Some(side) = [rows, columns, out_rows, out_columns].iter().find(|s| !(1..=MAX_SIDE).contains(*s)) {
        return Err(format!("a side of {side} pixels; from 1 to {MAX_SIDE} is supported").into());
    }
    let tables = [table(rows, out_rows)?, table(columns, out_columns)?];
    let shape = vec![batch, out_rows, out_columns, channels];
    if tables[0].is_identity(rows) && tables[1].is_identity(columns) {
        return site.relabel(0, shape, |layout| Some(layout.clone()));
    }
    let op = Op::Resample { axes: [2, 3], taps: [tables[0].taps, tables[1].taps], outside: 0.0 };
    let mut inputs = vec![site.permuted(0, &NCHW)?];
    for (what, Table { positions, taps, data }) in ["rows", "columns"].into_iter().zip(tables) {
        inputs.push(site.constant(what, vec![positions, 2 * taps], data));
    }
    site.emit(op, inputs, Out::permuted(shape, &NCHW))
}
