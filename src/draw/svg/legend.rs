//! Below the plot: what colours and lines mean, and what lies beside the arenas.

use super::{line, position, text};
use crate::draw::Picture;
use crate::draw::palette::{Classes, FILLS};
use crate::draw::plot::{LEFT, RIGHT, WIDTH};
use crate::draw::scale::bytes;
use crate::plan::report::grouped;

/// What colours and lines mean; returns where it ends.
pub(super) fn legend(out: &mut String, picture: &Picture, classes: &Classes, merged: usize, top: f64) -> f64 {
    let (mut x, mut y) = (LEFT, top);
    let mut entry = |out: &mut String, symbol: &dyn Fn(f64, f64) -> String, what: &str| {
        let width = 24.0 + 7.0 * what.chars().count() as f64 + 14.0;
        if x + width > WIDTH - RIGHT {
            (x, y) = (LEFT, y + 20.0);
        }
        line(out, format_args!("{}", symbol(x, y)));
        text(out, "soft", x + 24.0, y, 12.0, "start", what);
        x += width;
    };
    let stroke = |class: &'static str| {
        move |x: f64, y: f64| format!("<path class=\"{class}\" d=\"M{x:.1} {:.1}h18\"/>", y - 4.0)
    };
    let swatch = |attribute: String| {
        move |x: f64, y: f64| format!("<rect {attribute} {}/>", position(x + 2.0, y - 10.0, 14.0, 12.0))
    };
    entry(out, &stroke("load"), "live bytes");
    entry(out, &stroke("most"), "max load: no plan is lower");
    if picture.records.iter().any(|r| r.padded_bytes > r.size_bytes) {
        entry(out, &swatch("fill=\"url(#padding)\"".to_owned()), "padding");
    }
    if picture.records.iter().any(|r| r.view_of.is_some()) {
        entry(
            out,
            &swatch(format!("class=\"view\" fill=\"{}\"", FILLS[9])),
            "a view: bytes of another tensor",
        );
    }
    if merged > 0 {
        let what = format!("the {} smallest tensors, merged", grouped(merged as u64));
        entry(out, &swatch("class=\"band\"".to_owned()), &what);
    }
    for (class, name) in classes.names.iter().enumerate() {
        entry(out, &swatch(format!("fill=\"{}\"", FILLS[class])), name);
    }
    y + 8.0
}

/// Bars for the arenas and for what lies beside them, in one scale.
pub(super) fn residents(out: &mut String, picture: &Picture, top: f64) -> f64 {
    if picture.residents.is_empty() {
        return top;
    }
    let arenas = ("arenas", picture.report.peak_bytes);
    let others = picture.residents.iter().map(|r| (r.name.as_str(), r.bytes));
    let bars: Vec<(&str, u64)> = std::iter::once(arenas).chain(others).collect();
    let most = bars.iter().map(|(_, bytes)| *bytes).max().unwrap_or(1).max(1) as f64;
    let mut y = top + 30.0;
    text(out, "soft", LEFT, y - 8.0, 12.0, "start", "on the device, each in buffers of its own");
    for (name, size) in bars {
        let width = (size as f64 / most * (WIDTH - LEFT - RIGHT - 240.0)).max(1.0);
        text(out, "soft", LEFT + 64.0, y + 11.0, 12.0, "end", name);
        line(out, format_args!("<rect class=\"bar\" {}/>", position(LEFT + 72.0, y, width, 13.0)));
        text(out, "soft", LEFT + 80.0 + width, y + 11.0, 12.0, "start", &bytes(size));
        y += 18.0;
    }
    y
}
