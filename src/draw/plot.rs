//! Where bytes and steps lie on the paper.

use super::Picture;
use super::bands::Rectangle;

/// Width of the whole picture.
pub(super) const WIDTH: f64 = 1200.0;
/// Left of the plot.
pub(super) const LEFT: f64 = 78.0;
/// Right of the plot.
pub(super) const RIGHT: f64 = 22.0;
const PLOT_HEIGHT: f64 = 480.0;
/// Between two arenas, and where they are many.
const GAP: f64 = 8.0;
const NARROW_GAP: f64 = 2.0;
const MANY: f64 = 20.0;

/// Where bytes and steps lie on the paper.
pub(super) struct Plot {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub steps: f64,
    /// Top and height of every arena.
    pub arenas: Vec<(f64, f64)>,
    /// Height of a byte.
    pub byte: f64,
}

impl Plot {
    /// The first arena at the bottom, the others above it.
    pub fn new(picture: &Picture, left: f64, top: f64) -> Self {
        let count = picture.arenas().len().max(1) as f64;
        let gap = if count > MANY { NARROW_GAP } else { GAP };
        let total = picture.report.peak_bytes.max(1) as f64;
        let byte = (PLOT_HEIGHT - gap * (count - 1.0)) / total;
        let mut bottom = top + PLOT_HEIGHT;
        let mut arenas = Vec::new();
        for bytes in picture.arenas() {
            let height = bytes as f64 * byte;
            arenas.push((bottom - height, height));
            bottom -= height + gap;
        }
        let steps = f64::from(picture.step_count().max(1));
        Plot { left, top, width: WIDTH - LEFT - RIGHT, height: PLOT_HEIGHT, steps, arenas, byte }
    }

    /// Where a step begins.
    pub fn x(&self, step: f64) -> f64 {
        self.left + step / self.steps * self.width
    }

    /// Height of that many bytes counted through all arenas, the gaps between them skipped.
    pub fn y(&self, bytes: u64) -> f64 {
        let mut rest = bytes as f64 * self.byte;
        for (top, height) in &self.arenas {
            if rest <= *height {
                return top + height - rest;
            }
            rest -= height;
        }
        self.top - rest
    }

    /// Where a tensor lies: left, top, width, height.
    pub fn rectangle(&self, picture: &Picture, tensor: usize) -> Rectangle {
        let (record, place) = (&picture.records[tensor], &picture.places[tensor]);
        let Some((top, height)) = self.arenas.get(place.arena as usize) else { return [0.0; 4] };
        let bottom = top + height - place.offset_bytes as f64 * self.byte;
        let tall = record.size_bytes as f64 * self.byte;
        let left = self.x(f64::from(record.first));
        [left, bottom - tall, self.x(f64::from(record.last) + 1.0) - left, tall]
    }
}
