//! Tensors as rectangles with their names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{escaped, line, position};
use crate::draw::bands::Rectangle;
use crate::draw::labels::fitting;
use crate::draw::palette::{Classes, DARKER, FILLS};
use crate::draw::plot::Plot;
use crate::draw::scale::bytes;
use crate::draw::{Picture, Record};
use crate::plan::report::grouped;

/// Room of a letter in a label of [`LABEL`] size, generously.
const LETTER: f64 = 6.3;
const LABEL: f64 = 10.5;

/// Neighbours of one class differ a little.
pub(super) fn fill(classes: &Classes, tensor: usize) -> &'static str {
    let fills = if tensor % 2 == 1 && !classes.names.is_empty() { &DARKER } else { &FILLS };
    fills[usize::from(classes.of[tensor]) % fills.len()]
}

/// Tensors whose last step shows another tensor instead, which takes their bytes in place.
pub(super) fn taken_over(picture: &Picture, shown: &[usize]) -> BTreeSet<usize> {
    let mut born: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for tensor in shown {
        born.entry(picture.records[*tensor].first).or_default().push(*tensor);
    }
    let bytes = |i: usize| {
        let start = picture.places[i].offset_bytes;
        (picture.places[i].arena, start, start.saturating_add(picture.records[i].size_bytes))
    };
    let covers = |a: usize, b: usize| {
        let ((arena, start, end), (other, first, last)) = (bytes(a), bytes(b));
        arena == other && start < last && first < end
    };
    let is_taken = |i: &usize| {
        let record = &picture.records[*i];
        let heirs = born.get(&record.last).map(Vec::as_slice).unwrap_or_default();
        record.first < record.last && heirs.iter().any(|heir| heir > i && covers(*heir, *i))
    };
    shown.iter().copied().filter(is_taken).collect()
}

pub(super) fn tensor_box(out: &mut String, picture: &Picture, plot: &Plot, tensor: usize, classes: &Classes) {
    let record = &picture.records[tensor];
    let [x, y, width, height] = plot.rectangle(picture, tensor);
    // What is thinner than a hair is drawn as one.
    let (wide, tall) = (width.max(0.3), height.max(0.3));
    let kind = match record.view_of {
        _ if wide.min(tall) < 3.0 => "thin",
        Some(_) => "view",
        None => "box",
    };
    let fill = fill(classes, tensor);
    line(
        out,
        format_args!(
            "<rect class=\"{kind}\" fill=\"{fill}\" {}><title>{}</title></rect>",
            position(x, y, wide, tall),
            escaped(&describe(picture, record, tensor))
        ),
    );
    let padding = (record.padded_bytes - record.size_bytes) as f64 * plot.byte;
    if padding >= 0.5 {
        line(out, format_args!("<rect fill=\"url(#padding)\" {}/>", position(x, y - padding, wide, padding)));
    }
}

fn describe(picture: &Picture, record: &Record, tensor: usize) -> String {
    let place = picture.places[tensor];
    let mut text = format!("{}: {} bytes", record.name, grouped(record.size_bytes));
    if !record.shape.is_empty() {
        let dims: Vec<String> = record.shape.iter().map(usize::to_string).collect();
        let _ = write!(text, " [{}]", dims.join("x"));
    }
    if let Some(op) = picture.op(record.first) {
        let _ = write!(text, " by {op}");
    }
    let _ =
        write!(text, ", steps {} to {}, at byte {}", record.first, record.last, grouped(place.offset_bytes));
    if picture.arenas().len() > 1 {
        let _ = write!(text, " of arena {}", place.arena);
    }
    text
}

/// The name in the box, along its longer side, with the bytes below where there is room.
pub(super) fn label(out: &mut String, picture: &Picture, tensor: usize, area: Rectangle, rim: &str) {
    let (record, [x, y, width, height]) = (&picture.records[tensor], area);
    if record.view_of.is_some() {
        return;
    }
    let (middle_x, middle_y) = (x + width / 2.0, y + height / 2.0);
    let upright = width < height && width < LETTER * record.name.chars().count() as f64 + 6.0;
    let (along, across) = if upright { (height, width) } else { (width, height) };
    if across < LABEL + 2.5 {
        return;
    }
    let Some(name) = fitting(&record.name, ((along - 6.0) / LETTER).max(0.0) as usize) else { return };
    let size = bytes(record.size_bytes);
    let two = across > 2.0 * LABEL + 6.0 && size.len() as f64 * LETTER < along - 6.0;
    let turn = if upright {
        format!(" transform=\"rotate(-90 {middle_x:.1} {middle_y:.1})\"")
    } else {
        String::new()
    };
    let first = middle_y + if two { -2.5 } else { LABEL * 0.35 };
    let mut put = |y: f64, what: &str| {
        line(
            out,
            format_args!(
                "<text class=\"name\" x=\"{middle_x:.1}\" y=\"{y:.1}\" font-size=\"{LABEL}\" \
                 text-anchor=\"middle\" stroke=\"{rim}\"{turn}>{}</text>",
                escaped(what)
            ),
        );
    };
    put(first, &name);
    if two {
        put(first + LABEL + 2.0, &size);
    }
}
