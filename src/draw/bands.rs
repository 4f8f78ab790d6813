//! Where there are more tensors than a picture can show one by one: the largest stay rectangles, the others
//! merge into bands, so that what is taken stays visible.

use super::Picture;
use super::plot::Plot;

/// Rectangles that a picture shows one by one.
pub(super) const SHOWN: usize = 1000;
/// Side of a cell that merged tensors fill, in the units of the picture.
const CELL: f64 = 2.0;

/// Positions of the tensors to show one by one, ascending, and of those to merge.
pub(super) fn split(picture: &Picture) -> (Vec<usize>, Vec<usize>) {
    let records = &picture.records;
    let mut order: Vec<usize> = (0..records.len()).filter(|i| records[*i].size_bytes > 0).collect();
    if order.len() <= SHOWN {
        return (order, Vec::new());
    }
    let area = |i: &usize| {
        let record = &records[*i];
        u128::from(record.size_bytes) * u128::from(record.last + 1 - record.first)
    };
    order.sort_by_key(|i| (std::cmp::Reverse(area(i)), *i));
    let mut merged = order.split_off(SHOWN);
    order.sort_unstable();
    merged.sort_unstable();
    (order, merged)
}

/// A rectangle of the picture: left, top, width, height.
pub(super) type Rectangle = [f64; 4];

/// What these tensors cover together, in as few rectangles as equal rows of cells give.
pub(super) fn merge(picture: &Picture, tensors: &[usize], plot: &Plot) -> Vec<Rectangle> {
    let columns = (plot.width / CELL).ceil() as usize;
    let rows = (plot.height / CELL).ceil() as usize;
    let mut covered = vec![false; columns * rows];
    for i in tensors {
        let [x, y, width, height] = plot.rectangle(picture, *i);
        let cells = |from: f64, length: f64, most: usize| {
            let first = ((from / CELL) as usize).min(most - 1);
            let end = ((from + length) / CELL).ceil() as usize;
            (first, end.clamp(first + 1, most))
        };
        let (left, right) = cells(x - plot.left, width, columns);
        let (top, bottom) = cells(y - plot.top, height, rows);
        for row in top..bottom {
            covered[row * columns + left..row * columns + right].fill(true);
        }
    }
    let runs = covered.chunks(columns).map(runs);
    let mut open: Vec<((usize, usize), usize)> = Vec::new();
    let mut found = Vec::new();
    for (row, runs) in runs.chain([Vec::new()]).enumerate() {
        let (stay, end): (Vec<_>, Vec<_>) = open.into_iter().partition(|(run, _)| runs.contains(run));
        found.extend(end.into_iter().map(|((left, right), from)| {
            let [x, y] = [left, from].map(|cell| cell as f64 * CELL);
            let [width, height] = [right - left, row - from].map(|cells| cells as f64 * CELL);
            [plot.left + x, plot.top + y, width, height]
        }));
        open = stay;
        let new =
            runs.into_iter().filter(|run| open.iter().all(|(known, _)| known != run)).collect::<Vec<_>>();
        open.extend(new.into_iter().map(|run| (run, row)));
        open.sort_unstable();
    }
    found
}

/// Covered stretches of a row of cells: first and one past the last.
fn runs(cells: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in cells.iter().enumerate().filter(|(_, covered)| **covered) {
        match runs.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Alignment, Planner, Problem};

    #[test]
    fn the_smallest_merge_and_cover_what_they_covered() {
        let mut problem = Problem::new(Alignment::ONE);
        for i in 0..SHOWN as u32 {
            problem.tensor(format!("large{i}"), 100, i..=i + 1).unwrap();
        }
        for i in 0..200 {
            problem.tensor(format!("small{i}"), 10, i..=i).unwrap();
        }
        let plan = Planner::auto().plan(&problem).unwrap();
        let picture = Picture::new("", &problem, &plan).unwrap();
        let (shown, merged) = split(&picture);
        assert_eq!((shown.len(), merged.len()), (SHOWN, 200));
        assert!(merged.iter().all(|i| picture.records[*i].name.starts_with("small")));
        let plot = Plot::new(&picture, 0.0, 0.0);
        let bands = merge(&picture, &merged, &plot);
        assert!(!bands.is_empty() && bands.len() < 20, "{bands:?}");
        for i in merged {
            let [x, y, width, height] = plot.rectangle(&picture, i);
            let (x, y) = (x + width / 2.0, y + height / 2.0);
            let inside = |b: &Rectangle| b[0] <= x && x <= b[0] + b[2] && b[1] <= y && y <= b[1] + b[3];
            assert!(bands.iter().any(inside), "{}", picture.records[i].name);
        }
    }
}
