//! Tables of an interpolation: for every output position of an axis the elements it reads, and their weights.
//!
//! Coordinates are computed in f32 as ONNX Runtime does, so that a position on the edge between two elements
//! falls to the same side.

/// Where an output position lies on the input axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Coordinates {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    TfHalfPixelForNn,
    /// The part of the axis from `start` to `end`, both as shares of it.
    Crop {
        start: f32,
        end: f32,
    },
}

/// Which element a position between two takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearest {
    RoundPreferFloor,
    RoundPreferCeil,
    Floor,
    Ceil,
}

/// How elements are weighted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Filter {
    Nearest(Nearest),
    Linear {
        antialias: bool,
    },
    /// Cubic convolution with that coefficient.
    Cubic {
        coefficient: f32,
        antialias: bool,
    },
}

/// One axis of an interpolation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    /// Elements of the input and of the output.
    pub input: usize,
    pub output: usize,
    /// Output elements an input element.
    pub scale: f32,
    pub coordinates: Coordinates,
    pub filter: Filter,
    /// Whether elements past the ends lose their weight, instead of repeating the ends.
    pub exclude_outside: bool,
}

/// A table as `Op::Resample` reads it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub positions: usize,
    pub taps: usize,
    /// `[positions, taps]` pairs of index and weight.
    pub data: Vec<f32>,
}

impl Table {
    /// Every position reads one element, as it is.
    pub(crate) fn one() -> Table {
        Table { positions: 1, taps: 1, data: vec![0.0, 1.0] }
    }

    /// Whether every position reads the element of its own index alone.
    pub(crate) fn is_identity(&self, input: usize) -> bool {
        let row = |(i, row): (usize, &[f32])| {
            let read = |pair: &&[f32]| pair[1] != 0.0;
            let mut pairs = row.chunks_exact(2).filter(read);
            row[0] >= 0.0 && pairs.all(|pair| pair[0] == i as f32 && pair[1] == 1.0)
        };
        self.positions == input && self.data.chunks_exact(2 * self.taps).enumerate().all(row)
    }
}

/// Largest index that a float tells from its neighbours.
const MAX_INDEX: usize = 1 << 24;

/// The table of an axis.
///
/// # Errors
/// The input axis is empty where the output is not, or either is too long.
pub(crate) fn table(axis: &Axis) -> Result<Table, String> {
    let Axis { input, output, .. } = *axis;
    if input > MAX_INDEX || output > MAX_INDEX {
        return Err(format!("resizes {input} to {output} elements; at most {MAX_INDEX} are supported"));
    }
    if input == 0 && output > 0 {
        return Err(format!("resizes 0 elements to {output}"));
    }
    let taps = axis.offsets().count();
    let mut data = Vec::with_capacity(output * taps * 2);
    for position in 0..output {
        let at = axis.coordinate(position);
        let outside =
            matches!(axis.coordinates, Coordinates::Crop { .. }) && !(at >= 0.0 && at <= (input - 1) as f32);
        let pairs = axis.pairs(at);
        for (i, (index, weight)) in pairs.into_iter().enumerate() {
            data.push(if outside && i == 0 { -1.0 } else { index as f32 });
            data.push(if outside { 0.0 } else { weight });
        }
    }
    Ok(Table { positions: output, taps, data })
}

impl Axis {
    /// Where output element `position` lies, in input elements.
    fn coordinate(&self, position: usize) -> f32 {
        let (x, scale) = (position as f32, self.scale);
        let (input, output) = (self.input as f32, self.output as f32);
        match self.coordinates {
            Coordinates::HalfPixel => (x + 0.5) / scale - 0.5,
            Coordinates::HalfPixelSymmetric => {
                let adjustment = output / (scale * input);
                let centre = input / 2.0;
                centre * (1.0 - adjustment) + (x + 0.5) / scale - 0.5
            }
            Coordinates::PytorchHalfPixel if self.output > 1 => (x + 0.5) / scale - 0.5,
            Coordinates::PytorchHalfPixel => 0.0,
            Coordinates::AlignCorners if self.output > 1 => x * (input - 1.0) / (output - 1.0),
            Coordinates::AlignCorners => 0.0,
            Coordinates::Asymmetric => x / scale,
            Coordinates::TfHalfPixelForNn => (x + 0.5) / scale,
            Coordinates::Crop { start, end } if self.output > 1 => {
                start * (input - 1.0) + x * (end - start) * (input - 1.0) / (output - 1.0)
            }
            Coordinates::Crop { start, end } => 0.5 * (start + end) * (input - 1.0),
        }
    }

    /// How much the filter is stretched: an antialiased one covers what a shrinking axis skips.
    fn stretch(&self) -> f32 {
        match self.filter {
            Filter::Linear { antialias: true } | Filter::Cubic { antialias: true, .. } => self.scale.min(1.0),
            _ => 1.0,
        }
    }

    /// Elements read, relative to the one at or before the position.
    fn offsets(&self) -> std::ops::Range<i64> {
        let reach = match self.filter {
            Filter::Nearest(_) => return 0..1,
            Filter::Linear { .. } => 1.0,
            Filter::Cubic { .. } => 2.0,
        };
        let first = (-reach / self.stretch()).floor() as i64 + 1;
        first..2 - first
    }

    /// Index and weight of every tap; indices lie inside the axis.
    fn pairs(&self, at: f32) -> Vec<(usize, f32)> {
        let last = self.input as i64 - 1;
        if let Filter::Nearest(mode) = self.filter {
            let index = match mode {
                Nearest::RoundPreferFloor if at == at.trunc() + 0.5 => at.floor(),
                Nearest::RoundPreferFloor => at.round(),
                Nearest::RoundPreferCeil => at.round(),
                Nearest::Floor => at.floor(),
                Nearest::Ceil => at.ceil(),
            };
            return vec![((index as i64).clamp(0, last) as usize, 1.0)];
        }
        let before = at.floor();
        let (share, stretch) = (at - before, self.stretch());
        let mut pairs: Vec<(i64, f32)> = (self.offsets())
            .map(|offset| (before as i64 + offset, self.weight((offset as f32 - share) * stretch)))
            .collect();
        if self.exclude_outside {
            pairs.iter_mut().filter(|(i, _)| !(0..=last).contains(i)).for_each(|(_, weight)| *weight = 0.0);
        }
        let sum: f32 = pairs.iter().map(|(_, weight)| weight).sum();
        if (self.exclude_outside || stretch != 1.0) && sum != 0.0 {
            pairs.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
        pairs.into_iter().map(|(i, weight)| (i.clamp(0, last) as usize, weight)).collect()
    }

    /// The filter's weight at a distance.
    fn weight(&self, distance: f32) -> f32 {
        let d = distance.abs();
        match self.filter {
            Filter::Cubic { coefficient: a, .. } if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
            Filter::Cubic { coefficient: a, .. } if d < 2.0 => {
                ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
            }
            Filter::Cubic { .. } => 0.0,
            _ => (1.0 - d).max(0.0),
        }
    }
}
