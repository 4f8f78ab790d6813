//! Min-cost flow, as in the TFLite GPU delegate.
//!
//! Every block gets its bytes from one that ended before it, at the cost of what it is larger by, or from a
//! new object at the cost of its size; no block hands its bytes on twice. The flow of least total cost is a
//! matching of least cost, so it is found here by augmenting paths with potentials over costs that are
//! computed as needed, in memory linear in the number of blocks and time cubic at worst. Chains of
//! hand-overs are the objects; a chain's cost is at least its largest block, so the sum of the objects can
//! be below the cost of the flow. Several matchings may have the same least cost; this takes the first in
//! the order of the blocks.

use super::super::super::resolve::Block;
use super::Objects;

/// A column of the matching: a block that hands its bytes on, or the new object of one block.
const NONE: usize = usize::MAX;

pub(super) fn assign(blocks: &[Block]) -> Objects {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|i| (blocks[*i].first, *i));
    let predecessor = Matching::new(blocks, &order).solve();
    let mut objects = Objects::new(blocks);
    // In order of first use, a predecessor is always dealt out before its successor.
    for (at, i) in order.iter().enumerate() {
        let object = predecessor[at].map(|before| objects.object_of[order[before]]);
        objects.put(blocks, *i, object);
    }
    objects
}

/// Rows take bytes, columns give them; both are numbered by position in the order of first use.
struct Matching<'a> {
    blocks: &'a [Block],
    order: &'a [usize],
    row_potential: Vec<i128>,
    column_potential: Vec<i128>,
    /// Which row takes from a column.
    row_of: Vec<usize>,
    /// Columns by the step after which they are free; those a row can take from are a prefix.
    by_end: Vec<usize>,
}

impl<'a> Matching<'a> {
    fn new(blocks: &'a [Block], order: &'a [usize]) -> Self {
        let n = order.len();
        let mut by_end: Vec<usize> = (0..n).collect();
        by_end.sort_by_key(|c| (blocks[order[*c]].last, *c));
        Matching {
            blocks,
            order,
            row_potential: vec![0; n],
            column_potential: vec![0; n],
            row_of: vec![NONE; n],
            by_end,
        }
    }

    /// Per row its column, `None` for a new object.
    fn solve(mut self) -> Vec<Option<usize>> {
        for row in 0..self.order.len() {
            self.augment(row);
        }
        let mut column_of = vec![None; self.order.len()];
        for (column, row) in self.row_of.iter().enumerate().filter(|(_, row)| **row != NONE) {
            column_of[*row] = Some(column);
        }
        column_of
    }

    fn size(&self, at: usize) -> i128 {
        i128::from(self.blocks[self.order[at]].size_bytes)
    }

    /// Cheapest way to give `start` its bytes: along columns already taken, whose rows then look elsewhere,
    /// to a free column or to a new object for the last row on the way (which needs no column of its own to
    /// be undone later: it has no potential and nobody else can take it).
    fn augment(&mut self, start: usize) {
        let n = self.order.len();
        let mut distance = vec![i128::MAX; n];
        let mut came_from = vec![NONE; n];
        let mut done = vec![false; n];
        let mut visited: Vec<usize> = Vec::new();
        let mut best_new = (i128::MAX, NONE);
        let (mut row, mut through, mut base) = (start, NONE, 0i128);
        let (end_column, total) = loop {
            let as_new = base + self.size(row) - self.row_potential[row];
            if as_new < best_new.0 {
                best_new = (as_new, through);
            }
            let mut nearest = (i128::MAX, NONE);
            let first = self.blocks[self.order[row]].first;
            let reach = self.by_end.partition_point(|c| self.blocks[self.order[*c]].last < first);
            for column in self.by_end[..reach].iter().copied().filter(|c| !done[*c]) {
                let growth = (self.size(row) - self.size(column)).max(0);
                let reduced = base + growth - self.row_potential[row] - self.column_potential[column];
                if reduced < distance[column] {
                    distance[column] = reduced;
                    came_from[column] = through;
                }
            }
            for column in (0..n).filter(|c| !done[*c] && distance[*c] != i128::MAX) {
                if distance[column] < nearest.0 {
                    nearest = (distance[column], column);
                }
            }
            if best_new.0 <= nearest.0 {
                break (NONE, best_new.0);
            }
            let column = nearest.1;
            if self.row_of[column] == NONE {
                break (column, nearest.0);
            }
            done[column] = true;
            visited.push(column);
            (row, through, base) = (self.row_of[column], column, nearest.0);
        };
        self.row_potential[start] += total;
        for column in &visited {
            let slack = total - distance[*column];
            self.row_potential[self.row_of[*column]] += slack;
            self.column_potential[*column] -= slack;
        }
        self.flip(start, end_column, best_new.1, &came_from);
    }

    /// Hands the columns along the path on to the rows before them.
    fn flip(&mut self, start: usize, end_column: usize, new_through: usize, came_from: &[usize]) {
        let mut column = end_column;
        if column == NONE {
            // The row that held `new_through` opens a new object and gives that column up.
            column = new_through;
            if column == NONE {
                return;
            }
        }
        loop {
            let before = came_from[column];
            self.row_of[column] = if before == NONE { start } else { self.row_of[before] };
            if before == NONE {
                return;
            }
            column = before;
        }
    }
}
