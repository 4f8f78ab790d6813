//! Rows without overlap: intervals of steps dealt out to as few rows as hold them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The row of every interval (first step, one past the last), in the order given: the lowest that is free.
pub(super) fn rows(intervals: &[(u32, u32)]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    order.sort_by_key(|i| (intervals[*i].0, Reverse(intervals[*i].1), *i));
    let mut busy: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let (mut row_of, mut rows) = (vec![0; intervals.len()], 0);
    for i in order {
        let (first, end) = intervals[i];
        while let Some(Reverse((_, row))) = busy.peek().filter(|Reverse((until, _))| *until <= first) {
            free.push(Reverse(*row));
            busy.pop();
        }
        let row = free.pop().map_or_else(
            || {
                rows += 1;
                rows - 1
            },
            |Reverse(row)| row,
        );
        row_of[i] = row;
        busy.push(Reverse((end, row)));
    }
    row_of
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn as_many_rows_as_intervals_meet() {
        assert_eq!(rows(&[(0, 2), (1, 5), (2, 6), (3, 6), (5, 8)]), [0, 1, 0, 2, 1]);
        assert_eq!(rows(&[]), Vec::<u32>::new());
    }
}
