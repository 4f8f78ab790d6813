//! Valleys: what crosses a rim must lie above it.
//!
//! A valley is a range of sections between two rims, each a section with a higher floor or a dead border. The
//! unplaced pieces that cover a section of the valley and are not inside it cross a rim, so that all of them
//! lie above the lower rim. What lies below it has to be filled by the pieces inside, or wasted, and the
//! slack of the section has to pay for that.

use super::skyline::Skyline;

/// A section of a valley in which too much has to lie above the rims.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overfull {
    pub section: u32,
    /// The sections of the rims, or those beside a dead border.
    pub rims: (u32, u32),
}

/// Checks the valleys that what the last move raised is a rim of.
pub(super) fn overfull(sky: &Skyline, scratch: &mut Vec<u64>) -> Option<Overfull> {
    let (first, last) = sky.raised;
    to_the_right(sky, scratch, last).or_else(|| to_the_left(sky, scratch, first))
}

fn to_the_right(sky: &Skyline, scratch: &mut Vec<u64>, last: u32) -> Option<Overfull> {
    if sky.is_dead(last + 1) {
        return None;
    }
    let rim = sky.segment(sky.start_of(last)).floor;
    let mut deepest_rim = 0;
    let mut end = last;
    // Segment by segment: each that is higher than all before it closes a valley.
    loop {
        let far = sky.right_wall(end);
        if far > deepest_rim {
            if end > last {
                let found = check(sky, scratch, last + 1, end, rim.min(far));
                if found.is_some() {
                    return found;
                }
            }
            if far >= rim {
                return None;
            }
            deepest_rim = far;
        }
        end = sky.segment(end + 1).last;
    }
}

fn to_the_left(sky: &Skyline, scratch: &mut Vec<u64>, first: u32) -> Option<Overfull> {
    if sky.is_dead(first) {
        return None;
    }
    let rim = sky.segment(first).floor;
    let mut deepest_rim = 0;
    let mut start = first;
    loop {
        let far = sky.left_wall(start);
        if far > deepest_rim {
            if start < first {
                let found = check(sky, scratch, start, first - 1, rim.min(far));
                if found.is_some() {
                    return found;
                }
            }
            if far >= rim {
                return None;
            }
            deepest_rim = far;
        }
        start = sky.start_of(start - 1);
    }
}

fn check(sky: &Skyline, scratch: &mut Vec<u64>, first: u32, last: u32, rim: u64) -> Option<Overfull> {
    let model = sky.model;
    scratch.clear();
    scratch.resize((last - first) as usize + 2, 0);
    sky.inside(first, last, |_, piece| {
        let (from, to) = ((piece.first - first) as usize, (piece.last - first) as usize + 1);
        scratch[from] = scratch[from].wrapping_add(piece.height);
        scratch[to] = scratch[to].wrapping_sub(piece.height);
    });
    let (mut start, mut inside) = (first, 0u64);
    while start <= last {
        let segment = sky.segment(start);
        for section in start..=segment.last {
            inside = inside.wrapping_add(scratch[(section - first) as usize]);
            let mut reach = segment.floor + inside + sky.slack(section);
            if !model.plain {
                reach += sky.obstacles_above(section);
            }
            if reach < rim {
                let left = first - u32::from(!sky.is_dead(first));
                let rims = (left, last + u32::from(!sky.is_dead(last + 1)));
                return Some(Overfull { section, rims });
            }
        }
        start = segment.last + 1;
    }
    None
}
