//! A niche is a segment whose neighbours are higher or closed; its corners are where the search branches.
//!
//! In a packing in which every piece rests on something, either some piece rests on the floor of the niche
//! over its corner section, and then it begins there (left of it is a wall) and ends inside the niche; or
//! nothing does, and whatever covers the corner next rests on the top of the left wall, of the right wall, of
//! an obstacle, or of a piece inside the niche that misses the corner. The floor may then be lifted to the
//! lowest of these tops, if the slack of the corner pays for it. The right corner is the mirror image.

use super::model::Model;
use super::skyline::{CLOSED, Skyline};

/// What the unplaced pieces inside a segment allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub left: Corner,
    pub right: Corner,
    /// The least, over the sections, of what can stand on the floor without a piece that crosses the ends of
    /// the segment, and the section where it is least.
    pub fill: u64,
    pub fill_at: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    /// Pieces that may rest on the floor there, twins counted once.
    pub candidates: u32,
    /// Smallest piece inside the segment that misses the corner section; `CLOSED` if there is none.
    pub smallest_other: u64,
    /// How far from the corner no piece begins (ends): these sections are lifted together.
    pub lifted_to: u32,
}

/// The side of a niche.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Computes the facts of the segment that begins at `first`.
pub(super) fn facts(sky: &Skyline, scratch: &mut Vec<u64>, first: u32) -> Facts {
    let model = sky.model;
    let (last, floor) = (sky.segment(first).last, sky.segment(first).floor);
    let mut left = Corner { candidates: 0, smallest_other: CLOSED, lifted_to: last };
    let mut right = Corner { candidates: 0, smallest_other: CLOSED, lifted_to: first };
    scratch.clear();
    scratch.resize((last - first) as usize + 2, 0);
    for section in first..=last {
        for &i in &model.starting[section as usize] {
            let piece = &model.pieces[i as usize];
            if piece.last > last {
                break;
            }
            if sky.offsets[i as usize].is_some() {
                continue;
            }
            let (from, to) = ((section - first) as usize, (piece.last - first) as usize + 1);
            scratch[from] = scratch[from].wrapping_add(piece.height);
            scratch[to] = scratch[to].wrapping_sub(piece.height);
            if section > first {
                left.smallest_other = left.smallest_other.min(piece.height);
                left.lifted_to = left.lifted_to.min(section - 1);
            } else if is_candidate(sky, i, floor) {
                left.candidates += 1;
            }
            if piece.last < last {
                right.smallest_other = right.smallest_other.min(piece.height);
                right.lifted_to = right.lifted_to.max(piece.last + 1);
            } else if is_candidate(sky, i, floor) {
                right.candidates += 1;
            }
        }
    }
    let (mut inside, mut fill, mut fill_at) = (0u64, CLOSED, first);
    for section in first..=last {
        inside = inside.wrapping_add(scratch[(section - first) as usize]);
        let mut here = inside + sky.slack(section);
        if !model.plain {
            here += sky.obstacles_above(section);
        }
        if here < fill {
            (fill, fill_at) = (here, section);
        }
    }
    Facts { left, right, fill, fill_at }
}

/// Whether an unplaced piece inside a segment may rest on its floor.
pub(super) fn is_candidate(sky: &Skyline, piece: u32, floor: u64) -> bool {
    let first_of_twins =
        sky.model.pieces[piece as usize].twin.is_none_or(|t| sky.offsets[t as usize].is_some());
    first_of_twins && sky.rest(piece, floor).is_some()
}

/// A corner where the search may branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    /// First section of the niche.
    pub niche: u32,
    pub side: Side,
    pub candidates: u32,
    /// The range that may be lifted, and to where; `None` where slack does not pay for it.
    pub lift: Option<(u32, u32, u64)>,
}

impl Choice {
    pub fn options(&self) -> u32 {
        self.candidates + u32::from(self.lift.is_some())
    }
}

/// The choice at one corner of a niche.
pub(super) fn choice(sky: &Skyline, niche: u32, side: Side, facts: &Facts, walls: u64) -> Choice {
    let segment = sky.segment(niche);
    let (corner, first, last) = match side {
        Side::Left => (&facts.left, niche, facts.left.lifted_to),
        Side::Right => (&facts.right, facts.right.lifted_to, segment.last),
    };
    let mut to = walls;
    if corner.candidates > 0 || !sky.model.plain {
        to = to.min(segment.floor.saturating_add(corner.smallest_other));
    }
    if !sky.model.plain {
        let tops = (niche..=segment.last).map(|s| sky.obstacle_top(s));
        to = tops.min().unwrap_or(CLOSED).min(to);
    }
    let lift = (to != CLOSED && sky.affords(first, last, segment.floor, to)).then_some((first, last, to));
    Choice { niche, side, candidates: corner.candidates, lift }
}

/// Pieces that may rest at a corner.
pub(super) fn candidates(model: &Model, sky: &Skyline, choice: &Choice, mut visit: impl FnMut(u32)) {
    let (first, last) = (choice.niche, sky.segment(choice.niche).last);
    let floor = sky.segment(first).floor;
    let list = match choice.side {
        Side::Left => &model.starting[first as usize],
        Side::Right => &model.ending[last as usize],
    };
    for &i in list {
        let piece = &model.pieces[i as usize];
        let inside = piece.first >= first && piece.last <= last;
        if inside && sky.offsets[i as usize].is_none() && is_candidate(sky, i, floor) {
            visit(i);
        }
    }
}
