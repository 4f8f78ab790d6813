//! A picture for a terminal, in Unicode blocks: with colours two tensors a cell, without them in shades that
//! differ between neighbours.

use std::fmt::Write as _;

use super::labels::fitting;
use super::palette::{DARKER, FILLS, classes};
use super::scale::{bytes, in_unit, step_ticks, unit};
use super::{Picture, Place};
use crate::plan::report::grouped;

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    /// Rows of the map itself.
    pub rows: usize,
    /// Whether to use colours (24 bit).
    pub colour: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { width: 100, rows: 20, colour: false }
    }
}

/// Columns left of the map.
const MARGIN: usize = 10;
const NARROWEST: usize = 40;
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Tensors at the peak that are named.
const NAMED: usize = 6;

/// The pictures one below the other.
pub fn write(pictures: &[Picture], options: Options) -> String {
    pictures.iter().map(|picture| one(picture, options)).collect::<Vec<_>>().join("\n")
}

fn one(picture: &Picture, options: Options) -> String {
    let columns = options.width.max(NARROWEST) - MARGIN - 1;
    let grids = arenas(picture, columns, options.rows.max(2));
    let mut out = format!(
        "{}: {} tensors over {} steps, {}\n",
        picture.title,
        grouped(picture.report.tensors as u64),
        grouped(picture.report.steps.into()),
        picture.report.strategy
    );
    let (name, size) = unit(picture.report.peak_bytes);
    let _ = writeln!(out, "{name:>8}");
    for grid in grids.iter().rev() {
        grid.draw(&mut out, picture, size, options.colour);
    }
    axis(&mut out, picture, columns);
    numbers(&mut out, picture);
    out
}

/// What each cell shows of one arena; a row of text is two rows of cells, counted from the bottom.
struct Grid {
    columns: usize,
    cells: Vec<Option<usize>>,
    bytes: u64,
}

fn arenas(picture: &Picture, columns: usize, rows: usize) -> Vec<Grid> {
    let total = picture.report.peak_bytes.max(1) as f64;
    let height = |bytes: u64| ((bytes as f64 / total * rows as f64).round() as usize).max(1);
    let mut grids: Vec<Grid> = picture
        .arenas()
        .map(|bytes| Grid { columns, cells: vec![None; 2 * columns * height(bytes)], bytes })
        .collect();
    // The small first: what shares a cell with something larger makes way for it.
    let area = |i: &usize| {
        let record = &picture.records[*i];
        u128::from(record.size_bytes) * u128::from(record.last + 1 - record.first)
    };
    let drawn = |i: &usize| picture.records[*i].size_bytes > 0 && picture.records[*i].view_of.is_none();
    let mut order: Vec<usize> = (0..picture.records.len()).filter(drawn).collect();
    order.sort_by_key(|i| (area(i), *i));
    for i in order {
        let (record, Place { arena, offset_bytes }) = (&picture.records[i], picture.places[i]);
        let Some(grid) = grids.get_mut(arena as usize) else { continue };
        let steps = f64::from(picture.step_count().max(1));
        let across = span(f64::from(record.first) / steps, f64::from(record.last + 1) / steps, columns);
        let tall = grid.bytes.max(1) as f64;
        let end = offset_bytes.saturating_add(record.size_bytes) as f64;
        let up = span(offset_bytes as f64 / tall, end / tall, grid.cells.len() / columns);
        for row in up.0..up.1 {
            grid.cells[row * columns + across.0..row * columns + across.1].fill(Some(i));
        }
    }
    grids
}

/// Cells between two parts of the whole, at least one.
fn span(from: f64, to: f64, cells: usize) -> (usize, usize) {
    let cell = |part: f64| ((part * cells as f64).round() as usize).min(cells);
    let first = cell(from).min(cells - 1);
    (first, cell(to).max(first + 1))
}

impl Grid {
    fn draw(&self, out: &mut String, picture: &Picture, unit_bytes: f64, colour: bool) {
        let rows = self.cells.len() / self.columns / 2;
        let letters = self.names(picture);
        let shades = if colour { Vec::new() } else { self.shades(picture.records.len()) };
        let classes = classes(picture).of;
        let _ = writeln!(out, "{:>8} ┌{}", in_unit(self.bytes, unit_bytes), "─".repeat(self.columns));
        for row in (0..rows).rev() {
            let at = self.bytes as f64 * (row as f64 + 0.5) / rows as f64;
            let label = if row % 4 == 2 { in_unit(at as u64, unit_bytes) } else { String::new() };
            let _ = write!(out, "{label:>8} │");
            let mut last = None;
            for column in 0..self.columns {
                let [low, high] = self.pair(row, column);
                let letter = letters[row * self.columns + column];
                if colour {
                    let shade = |i: usize| (classes[i], i % 2 == 1);
                    coloured(out, [low.map(shade), high.map(shade)], letter, &mut last);
                } else {
                    out.push(letter.unwrap_or_else(|| shaded([low, high], &shades)));
                }
            }
            if colour {
                out.push_str("\x1b[0m");
            } else {
                out.truncate(out.trim_end_matches(' ').len());
            }
            out.push('\n');
        }
    }

    /// Lower and upper cell of a place in the text.
    fn pair(&self, row: usize, column: usize) -> [Option<usize>; 2] {
        [2 * row, 2 * row + 1].map(|row| self.cells[row * self.columns + column])
    }

    /// Letters over the cells: each name once, where its tensor fills a row of text far enough.
    fn names(&self, picture: &Picture) -> Vec<Option<char>> {
        let rows = self.cells.len() / self.columns / 2;
        let mut letters = vec![None; rows * self.columns];
        let mut places: std::collections::BTreeMap<usize, Vec<(usize, usize, usize)>> = Default::default();
        for row in 0..rows {
            let mut column = 0;
            while column < self.columns {
                let pair = self.pair(row, column);
                let start = column;
                while column < self.columns && self.pair(row, column) == pair {
                    column += 1;
                }
                if let [Some(low), Some(high)] = pair
                    && low == high
                {
                    places.entry(low).or_default().push((row, start, column));
                }
            }
        }
        for (tensor, runs) in places {
            let longest = runs.iter().map(|(_, start, end)| end - start).max().unwrap_or(0);
            let widest: Vec<_> = runs.iter().filter(|(_, start, end)| end - start == longest).collect();
            let (row, start, end) = *widest[widest.len() / 2];
            let Some(name) = fitting(&picture.records[tensor].name, (end - start).saturating_sub(1)) else {
                continue;
            };
            let from = start + (end - start - name.chars().count()) / 2;
            for (at, letter) in name.chars().enumerate() {
                letters[row * self.columns + from + at] = Some(letter);
            }
        }
        letters
    }

    /// A shade per tensor, other than those of the tensors beside it.
    fn shades(&self, tensors: usize) -> Vec<usize> {
        let mut beside: Vec<std::collections::BTreeSet<usize>> = vec![Default::default(); tensors];
        for (at, cell) in self.cells.iter().enumerate() {
            let right = (at + 1) % self.columns != 0;
            let others = [right.then_some(at + 1), Some(at + self.columns)];
            for other in others.into_iter().flatten().filter_map(|i| self.cells.get(i)) {
                if let (Some(a), Some(b)) = (cell, other)
                    && a != b
                {
                    beside[*a].insert(*b);
                    beside[*b].insert(*a);
                }
            }
        }
        let mut shades = vec![usize::MAX; tensors];
        for tensor in 0..tensors {
            let taken: Vec<usize> = beside[tensor].iter().map(|i| shades[*i]).collect();
            let free = (0..SHADES.len()).find(|shade| !taken.contains(shade));
            shades[tensor] = free.unwrap_or(tensor % SHADES.len());
        }
        shades
    }
}

fn shaded([low, high]: [Option<usize>; 2], shades: &[usize]) -> char {
    match (low, high) {
        (None, None) => ' ',
        (Some(_), None) => '▄',
        (None, Some(_)) => '▀',
        (Some(_), Some(tensor)) => SHADES[shades[tensor]],
    }
}

/// Class of a tensor, and whether it is drawn a little darker than that.
type Shade = (u8, bool);

/// A letter, or a half block in two colours. `last` is what the terminal is set to.
fn coloured(
    out: &mut String,
    [low, high]: [Option<Shade>; 2],
    letter: Option<char>,
    last: &mut Option<[Option<Shade>; 2]>,
) {
    // Foreground for the upper half, background for the lower; of one alone the background stays bare.
    let (block, front, back) = match (low, high) {
        (None, None) => (' ', None, None),
        (Some(_), None) => ('▄', low, None),
        (low, high) if low == high => (' ', None, low),
        (low, high) => ('▀', high, low),
    };
    let key = Some([front, back]);
    if *last != key || letter.is_some() {
        out.push_str("\x1b[0m");
        if let Some(shade) = front {
            let [r, g, b] = rgb(shade);
            let _ = write!(out, "\x1b[38;2;{r};{g};{b}m");
        }
        if let Some(shade) = back {
            let [r, g, b] = rgb(shade);
            let _ = write!(out, "\x1b[48;2;{r};{g};{b}m");
        }
        *last = key;
    }
    match letter {
        Some(letter) => {
            let _ = write!(out, "\x1b[38;2;20;24;28m{letter}");
            *last = None;
        }
        None => out.push(block),
    }
}

fn rgb((class, darker): Shade) -> [u8; 3] {
    let fills = if darker { &DARKER } else { &FILLS };
    let hex = fills[usize::from(class) % fills.len()];
    [1, 3, 5].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or(0))
}

/// Steps, the live bytes of every column, and where they are most.
fn axis(out: &mut String, picture: &Picture, columns: usize) {
    let steps = picture.step_count().max(1);
    let column = |step: u32| (f64::from(step) + 0.5) / f64::from(steps) * columns as f64;
    let mut numbers = vec![' '; columns];
    for tick in step_ticks(steps, (columns / 6).max(2) as u32) {
        let text = tick.to_string();
        let from = (column(tick) as usize).saturating_sub(text.len() / 2);
        let free = from == 0 || numbers[from - 1] == ' ';
        if free && from + text.len() <= columns {
            for (at, digit) in text.chars().enumerate() {
                numbers[from + at] = digit;
            }
        }
    }
    let tidy = |cells: Vec<char>| cells.into_iter().collect::<String>().trim_end().to_owned();
    let _ = writeln!(out, "{:>8} └{}", 0, "─".repeat(columns));
    let _ = writeln!(out, "{:>8}  {}", "step", tidy(numbers));
    let most = picture.report.max_load_bytes.max(1) as f64;
    let live = (0..columns).map(|at| {
        let part = |at: usize| at * picture.load.len() / columns;
        let (from, to) = (part(at), part(at + 1).max(part(at) + 1).min(picture.load.len()));
        let highest = picture.load.get(from..to).and_then(|l| l.iter().max()).copied().unwrap_or(0);
        if highest == 0 {
            ' '
        } else {
            HEIGHTS[((highest as f64 / most * 8.0).ceil() as usize).clamp(1, 8) - 1]
        }
    });
    let _ = writeln!(out, "{:>8}  {}", "live", tidy(live.collect()));
    if let Some(step) = picture.report.peak_step {
        let what = picture.steps.get(step as usize).map(|s| format!(" ({}: {})", s.op, s.name));
        let text = format!("peak step {step}{}", what.unwrap_or_default());
        let at = column(step) as usize;
        let line = if at + text.chars().count() + 2 <= columns {
            format!("{}▲ {text}", " ".repeat(at))
        } else {
            format!("{}{text} ▲", " ".repeat((at + 1).saturating_sub(text.chars().count() + 2)))
        };
        let _ = writeln!(out, "{:>8}  {line}", "");
    }
}

fn numbers(out: &mut String, picture: &Picture) {
    let report = &picture.report;
    let proof =
        report.proof.as_ref().map_or("not proven lowest".to_owned(), |p| format!("proven lowest ({p})"));
    let _ = writeln!(
        out,
        "peak {} · max load {} · gap {:.3} %, {proof} · naive total {}",
        bytes(report.peak_bytes),
        bytes(report.max_load_bytes),
        report.gap * 100.0,
        bytes(report.naive_bytes)
    );
    if let Some(step) = report.peak_step {
        let live = picture.live(step);
        let mut names: Vec<String> = live
            .iter()
            .take(NAMED)
            .map(|i| {
                let record = &picture.records[*i];
                format!("{} {}", record.name, bytes(record.size_bytes))
            })
            .collect();
        if live.len() > NAMED {
            names.push(format!("{} more", grouped((live.len() - NAMED) as u64)));
        }
        let _ = writeln!(out, "live there: {}", names.join(", "));
    }
    if !picture.residents.is_empty() {
        let others: Vec<String> =
            picture.residents.iter().map(|r| format!("{} {}", r.name, bytes(r.bytes))).collect();
        let _ = writeln!(out, "beside it: {}", others.join(", "));
    }
}
