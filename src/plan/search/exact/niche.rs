//! A niche is a segment whose neighbours are higher or closed: where the search branches.
//!
//! In a packing in which every piece rests on something, what rests on the floor of a niche lies inside it,
//! since its neighbours are walls. So each of its sections is either covered by a piece inside the niche that
//! rests on the floor, or *wasted*: whatever covers it next rests on the top of a wall, of an obstacle, or of
//! a piece inside the niche that misses the section. The floor of a wasted section may be lifted to the
//! lowest of these tops, if its slack pays for that. Pieces and wasted sections together tile the niche, and
//! a piece that is part of no tiling does not rest there.

use super::skyline::{CLOSED, Skyline};

/// What the unplaced pieces inside a niche allow, for walls of one height.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    /// The lower of the two walls.
    pub walls: u64,
    /// The section that leaves the fewest options, how many, and what a lift of it raises, if it is one.
    pub section: u32,
    pub options: u32,
    pub lift: Option<Lift>,
}

/// Sections that can only be wasted together, and the lowest floor that leaves them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lift {
    pub first: u32,
    pub last: u32,
    pub to: u64,
}

/// An unplaced piece inside a niche; positions count sections from its left end.
#[derive(Debug, Clone, Copy)]
struct Inside {
    piece: u32,
    from: u32,
    /// One past its last section.
    to: u32,
    height: u64,
    /// Whether it may rest on the floor, as far as it alone is concerned.
    rests: bool,
    /// Whether it is the first of its twins.
    counts: bool,
}

/// Room for the work on one niche, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    inside: Vec<Inside>,
    /// Per section, the smallest piece that misses it.
    smallest_other: Vec<u64>,
    /// Per section, where a lift ends; `CLOSED` where the slack does not pay for one.
    lifts: Vec<u64>,
    /// Per position, what it costs at least to tile everything left (right) of it; `CLOSED` where one cannot.
    left: Vec<u64>,
    right: Vec<u64>,
    /// Per section what it costs to waste it.
    costs: Vec<u64>,
    /// Differences of counts per section.
    counts: Vec<i32>,
    heights: Vec<u64>,
    /// Per position, whether a piece that is part of a tiling begins or ends there.
    edges: Vec<bool>,
}

impl Scratch {
    /// Lists the pieces inside the niche and finds out which of them are part of a tiling of its floor.
    fn tile(&mut self, sky: &Skyline, niche: u32, walls: u64) {
        self.collect(sky, niche);
        let (last, floor) = (sky.segment(niche).last, sky.segment(niche).floor);
        let len = (last - niche) as usize + 1;
        self.smallest_others(len);
        self.lifts.clear();
        self.costs.clear();
        for at in 0..len {
            let section = niche + at as u32;
            let mut to = walls.min(floor.saturating_add(self.smallest_other[at]));
            if !sky.model.plain {
                // What rests on an obstacle anywhere in the niche may reach over this section.
                to = (niche..=last).map(|s| sky.obstacle_top(s)).fold(to, u64::min);
            }
            let pays = to != CLOSED && sky.affords(section, section, floor, to);
            self.lifts.push(if pays { to } else { CLOSED });
            let cost = if pays { share(to - floor, sky.slack(section)) } else { CLOSED };
            self.costs.push(cost);
        }
        self.left.clear();
        self.left.resize(len + 1, CLOSED);
        self.right.clear();
        self.right.resize(len + 1, CLOSED);
        (self.left[0], self.right[len]) = (0, 0);
        let mut pieces = self.inside.iter().peekable();
        for at in 0..len {
            while let Some(p) = pieces.next_if(|p| p.from as usize == at) {
                if p.rests {
                    self.left[p.to as usize] = self.left[p.to as usize].min(self.left[at]);
                }
            }
            self.left[at + 1] = self.left[at + 1].min(self.left[at].saturating_add(self.costs[at]));
        }
        let mut pieces = self.inside.iter().rev().peekable();
        for at in (0..len).rev() {
            self.right[at] = self.right[at + 1].saturating_add(self.costs[at]);
            while let Some(p) = pieces.next_if(|p| p.from as usize == at) {
                if p.rests {
                    self.right[at] = self.right[at].min(self.right[p.to as usize]);
                }
            }
        }
        let (left, right) = (&self.left, &self.right);
        for p in &mut self.inside {
            p.rests &= left[p.from as usize] != CLOSED && right[p.to as usize] != CLOSED;
        }
    }

    fn collect(&mut self, sky: &Skyline, niche: u32) {
        let (last, floor) = (sky.segment(niche).last, sky.segment(niche).floor);
        self.inside.clear();
        sky.inside(niche, last, |piece, p| {
            self.inside.push(Inside {
                piece,
                from: p.first - niche,
                to: p.last - niche + 1,
                height: p.height,
                rests: sky.rest(piece, floor).is_some(),
                counts: !(p.is_twin && sky.is_waiting(piece - 1)),
            });
        });
    }

    fn smallest_others(&mut self, len: usize) {
        let (others, heights) = (&mut self.smallest_other, &mut self.heights);
        // Smallest that ends before a position, then smallest that begins after a section.
        heights.clear();
        heights.resize(len + 1, CLOSED);
        self.inside.iter().for_each(|p| heights[p.to as usize] = heights[p.to as usize].min(p.height));
        others.clear();
        let mut least = CLOSED;
        for height in &heights[..len] {
            least = least.min(*height);
            others.push(least);
        }
        let (mut least, mut pieces) = (CLOSED, self.inside.iter().rev().peekable());
        for at in (0..len).rev() {
            others[at] = others[at].min(least);
            while let Some(p) = pieces.next_if(|p| p.from as usize == at) {
                least = least.min(p.height);
            }
        }
    }

    /// The section with fewest options, corners first where several have as few.
    fn best_section(&mut self, len: usize) -> (usize, u32) {
        self.counts.clear();
        self.counts.resize(len + 1, 0);
        for p in self.inside.iter().filter(|p| p.rests && p.counts) {
            self.counts[p.from as usize] += 1;
            self.counts[p.to as usize] -= 1;
        }
        let mut best = (u32::MAX, true, 0);
        let mut count = 0;
        for at in 0..len {
            count += self.counts[at];
            let wasted = self.left[at] != CLOSED && self.right[at + 1] != CLOSED && self.lifts[at] != CLOSED;
            let key = (count as u32 + u32::from(wasted), at != 0 && at != len - 1, at);
            best = best.min(key);
        }
        (best.2, best.0)
    }

    /// What is wasted together with a section.
    fn lift(&mut self, niche: u32, at: usize, len: usize) -> Option<Lift> {
        let lawful = |s: &Scratch, at: usize| {
            s.left[at] != CLOSED && s.right[at + 1] != CLOSED && s.lifts[at] != CLOSED
        };
        if !lawful(self, at) {
            return None;
        }
        self.edges.clear();
        self.edges.resize(len + 1, false);
        for p in self.inside.iter().filter(|p| p.rests) {
            (self.edges[p.from as usize], self.edges[p.to as usize]) = (true, true);
        }
        let (mut first, mut end) = (at, at + 1);
        while first > 0 && !self.edges[first] && self.lifts[first - 1] != CLOSED {
            first -= 1;
        }
        while end < len && !self.edges[end] && self.lifts[end] != CLOSED {
            end += 1;
        }
        let to = self.lifts[first..end].iter().copied().min()?;
        Some(Lift { first: niche + first as u32, last: niche + end as u32 - 1, to })
    }
}

/// A part of the slack in 1/4096, of more than all of it where obstacles are lifted over.
fn share(part: u64, slack: u64) -> u64 {
    u64::try_from((u128::from(part) << 12) / (u128::from(slack) + 1)).unwrap_or(CLOSED - 1)
}

/// Computes the facts of a niche.
pub(super) fn facts(sky: &Skyline, scratch: &mut Scratch, niche: u32, walls: u64) -> Facts {
    scratch.tile(sky, niche, walls);
    let len = scratch.lifts.len();
    let (at, options) = scratch.best_section(len);
    let lift = scratch.lift(niche, at, len);
    Facts { walls, section: niche + at as u32, options, lift }
}

/// Visits the pieces that may rest over a section of a niche.
pub(super) fn candidates(
    sky: &Skyline,
    scratch: &mut Scratch,
    niche: u32,
    facts: &Facts,
    mut visit: impl FnMut(u32, u64),
) {
    scratch.tile(sky, niche, facts.walls);
    let at = facts.section - niche;
    for p in scratch.inside.iter().filter(|p| p.rests && p.counts && p.from <= at && at < p.to) {
        visit(p.piece, scratch.left[p.from as usize].saturating_add(scratch.right[p.to as usize]));
    }
}
