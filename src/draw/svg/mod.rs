//! A picture as SVG: for documents, at any size, on white and on black paper.

mod boxes;
mod legend;

use std::fmt::Write as _;

use super::Picture;
use super::bands;
use super::palette::classes;
use super::plot::{LEFT, Plot, RIGHT, WIDTH};
use super::scale::{bytes, in_unit, step_ticks, ticks, unit};
use crate::plan::report::grouped;
use boxes::{fill, label, taken_over, tensor_box};
use legend::{legend, residents};

/// Title and numbers above a plot.
const HEAD: f64 = 84.0;
const STYLE: &str = include_str!("style.css");

/// The pictures one above the other.
pub fn write(pictures: &[Picture]) -> String {
    let mut body = String::new();
    let mut top = 0.0;
    for picture in pictures {
        top = panel(&mut body, picture, top) + 24.0;
    }
    let height = top.max(40.0);
    let title = pictures.iter().map(|p| p.title.as_str()).collect::<Vec<_>>().join(", ");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">\n<style>\n{STYLE}</style>\n\
         <defs><pattern id=\"padding\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V5\"/></pattern></defs>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        escaped(&format!("memory map of {title}"))
    )
}

/// One picture; returns where it ends.
fn panel(out: &mut String, picture: &Picture, top: f64) -> f64 {
    let plot = Plot::new(picture, LEFT, top + HEAD);
    let classes = classes(picture);
    let (shown, merged) = bands::split(picture);
    head(out, picture, top);
    ground(out, picture, &plot);
    for [x, y, width, height] in bands::merge(picture, &merged, &plot) {
        line(out, format_args!("<rect class=\"band\" {}/>", position(x, y, width, height)));
    }
    for tensor in &shown {
        tensor_box(out, picture, &plot, *tensor, &classes);
    }
    axes(out, picture, &plot);
    lines(out, picture, &plot);
    // Above the lines, with a rim in the colour of the box.
    let taken = taken_over(picture, &shown);
    for tensor in shown {
        let mut area = plot.rectangle(picture, tensor);
        if taken.contains(&tensor) {
            area[2] -= plot.width / plot.steps;
        }
        label(out, picture, tensor, area, fill(&classes, tensor));
    }
    let bottom = legend(out, picture, &classes, merged.len(), plot.top + plot.height + 52.0);
    residents(out, picture, bottom)
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{text}");
}

fn text(out: &mut String, class: &str, x: f64, y: f64, size: f64, anchor: &str, what: &str) {
    let what = escaped(what);
    line(
        out,
        format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" \
             text-anchor=\"{anchor}\">{what}</text>"
        ),
    );
}

/// Attributes of a rectangle, to a hundredth of a unit.
fn position(x: f64, y: f64, width: f64, height: f64) -> String {
    format!("x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"")
}

/// Text that XML takes; what it cannot hold at all becomes a replacement character.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn head(out: &mut String, picture: &Picture, top: f64) {
    let report = &picture.report;
    text(out, "title", LEFT, top + 32.0, 20.0, "start", &picture.title);
    let proof = match &report.proof {
        Some(proof) => format!("proven lowest ({proof})"),
        None => "not proven lowest".to_owned(),
    };
    let times = report.naive_bytes as f64 / report.peak_bytes.max(1) as f64;
    let numbers = format!(
        "peak {}  ·  max load {}  ·  gap {:.3} %, {proof}  ·  naive total {} ({times:.2} times the peak)",
        bytes(report.peak_bytes),
        bytes(report.max_load_bytes),
        report.gap * 100.0,
        bytes(report.naive_bytes),
    );
    text(out, "soft", LEFT, top + 54.0, 13.0, "start", &numbers);
    let count = format!(
        "{} tensors over {} steps, {}",
        grouped(report.tensors as u64),
        grouped(report.steps.into()),
        report.strategy
    );
    text(out, "soft", WIDTH - RIGHT, top + 32.0, 13.0, "end", &count);
}

fn ground(out: &mut String, picture: &Picture, plot: &Plot) {
    for (arena, (y, height)) in plot.arenas.iter().enumerate() {
        line(out, format_args!("<rect class=\"ground\" {}/>", position(plot.left, *y, plot.width, *height)));
        if picture.arenas().len() > 1 && *height > 48.0 {
            let (x, y) = (plot.left + plot.width + 14.0, y + height / 2.0);
            line(
                out,
                format_args!(
                    "<text class=\"soft\" font-size=\"11\" text-anchor=\"middle\" \
                     transform=\"translate({x:.1} {y:.1}) rotate(-90)\">arena {arena}</text>"
                ),
            );
        }
    }
}

fn axes(out: &mut String, picture: &Picture, plot: &Plot) {
    let peak = picture.report.peak_bytes;
    let (name, size) = unit(peak);
    text(out, "soft", plot.left - 8.0, plot.top - 8.0, 11.0, "end", name);
    for tick in ticks(peak, 8) {
        let y = plot.y(tick);
        line(
            out,
            format_args!(
                "<path class=\"grid\" d=\"M{:.1} {y:.1}H{:.1}\"/>",
                plot.left,
                plot.left + plot.width
            ),
        );
        text(out, "soft", plot.left - 8.0, y + 4.0, 11.0, "end", &in_unit(tick, size));
    }
    let bottom = plot.top + plot.height;
    line(
        out,
        format_args!(
            "<path class=\"axis\" d=\"M{:.1} {bottom:.1}H{:.1}\"/>",
            plot.left,
            plot.left + plot.width
        ),
    );
    for tick in step_ticks(picture.step_count(), 24) {
        let x = plot.x(f64::from(tick) + 0.5);
        line(out, format_args!("<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v4\"/>"));
        text(out, "soft", x, bottom + 17.0, 11.0, "middle", &tick.to_string());
    }
    text(out, "soft", plot.left - 8.0, bottom + 17.0, 11.0, "end", "step");
}

/// The peak step, the max load, and the live bytes of every step.
fn lines(out: &mut String, picture: &Picture, plot: &Plot) {
    let report = &picture.report;
    if let Some(step) = report.peak_step {
        let x = plot.x(f64::from(step));
        let width = (plot.x(f64::from(step) + 1.0) - x).max(1.0);
        line(out, format_args!("<rect class=\"peak\" {}/>", position(x, plot.top, width, plot.height)));
        let what = picture.steps.get(step as usize).map(|s| format!(": {}", s.name)).unwrap_or_default();
        let middle = x + width / 2.0;
        let (anchor, x) = match (middle - plot.left) / plot.width {
            part if part < 0.25 => ("start", x),
            part if part > 0.75 => ("end", x + width),
            _ => ("middle", middle),
        };
        text(out, "red", x, plot.top - 8.0, 12.0, anchor, &format!("peak step {step}{what}"));
    }
    let y = plot.y(report.max_load_bytes);
    line(
        out,
        format_args!("<path class=\"most\" d=\"M{:.1} {y:.1}H{:.1}\"/>", plot.left, plot.left + plot.width),
    );
    let path = outline(picture, plot);
    line(out, format_args!("<path class=\"halo\" d=\"{path}\"/>\n<path class=\"load\" d=\"{path}\"/>"));
}

/// The live bytes as stairs; of steps closer than half a unit the highest counts.
fn outline(picture: &Picture, plot: &Plot) -> String {
    let steps = picture.load.len();
    let stride = (steps as f64 / (2.0 * plot.width)).ceil().max(1.0) as usize;
    let mut path = String::new();
    let mut height = None;
    for (i, chunk) in picture.load.chunks(stride).enumerate() {
        let most = chunk.iter().copied().max().unwrap_or(0);
        if height.replace(most) != Some(most) {
            let letter = if path.is_empty() { "M" } else { "H" };
            let (x, y) = (plot.x((i * stride) as f64), plot.y(most));
            let _ = write!(path, "{letter}{x:.1}");
            let _ = if letter == "M" { write!(path, " {y:.1}") } else { write!(path, "V{y:.1}") };
        }
    }
    let _ = if path.is_empty() { Ok(()) } else { write!(path, "H{:.1}", plot.left + plot.width) };
    path
}
