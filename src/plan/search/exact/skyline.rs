//! The state of the corner search: floors per section, told as segments of equal floor, with an undo log.

use super::model::{Model, Piece};
use super::niche::Facts;
use super::random::mix;

/// Floor of a closed section, and height of a border that no unplaced piece crosses.
pub(super) const CLOSED: u64 = u64::MAX;

/// A maximal run of open sections of equal floor with no dead border inside, or a run of closed sections.
///
/// A border between two sections is dead when no unplaced piece crosses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub last: u32,
    pub floor: u64,
    /// What its pieces allow; computed when first asked for, valid as long as the segment stands.
    pub facts: Option<Facts>,
}

#[derive(Debug, Clone, Copy)]
enum Change {
    Segment(u32, Segment),
    StartOf(u32, u32),
    Slack(u32, u64),
    Obstacle(u32, u32),
    Placed(u32),
}

#[derive(Debug)]
pub(super) struct Skyline<'a> {
    pub model: &'a Model,
    /// Indexed by first section; entries at other sections are stale.
    segments: Vec<Segment>,
    /// First section of the segment that ends at a section.
    start_of: Vec<u32>,
    /// Unplaced pieces per section.
    open: Vec<u32>,
    /// Unplaced pieces across the border before a section.
    crossing: Vec<u32>,
    slack: Vec<u64>,
    /// Per section the first obstacle above the floor.
    next_obstacle: Vec<u32>,
    /// Per piece; `None` while unplaced.
    pub offsets: Vec<Option<u64>>,
    pub unplaced: usize,
    /// Bits of the unplaced pieces.
    waiting: Vec<u64>,
    /// Per section a hash of the unplaced pieces that start there.
    starting_hash: Vec<u128>,
    trail: Vec<Change>,
    /// From the start of the segment to the end of the segment that the last move raised or made.
    pub raised: (u32, u32),
}

impl<'a> Skyline<'a> {
    /// `None` where the sum of the sizes already forbids a packing.
    pub fn new(model: &'a Model) -> Option<Self> {
        let sections = model.sections();
        let (mut open, mut crossing) = (vec![0; sections], vec![0; sections + 1]);
        let mut starting_hash = vec![0; sections];
        for (i, piece) in model.pieces.iter().enumerate() {
            let (first, last) = (piece.first as usize, piece.last as usize);
            open[first..=last].iter_mut().for_each(|n| *n += 1);
            crossing[first + 1..=last].iter_mut().for_each(|n| *n += 1);
            starting_hash[first] ^= piece_hash(i as u32);
        }
        let blank = Segment { last: 0, floor: 0, facts: None };
        let mut sky = Skyline {
            model,
            segments: vec![blank; sections],
            start_of: vec![0; sections],
            open,
            crossing,
            slack: model.slacks()?,
            next_obstacle: vec![0; sections],
            offsets: vec![None; model.pieces.len()],
            unplaced: model.pieces.len(),
            waiting: waiting(model.pieces.len()),
            starting_hash,
            trail: Vec::new(),
            raised: (0, 0),
        };
        sky.rebuild(0, sections as u32 - 1, 0);
        sky.trail.clear();
        Some(sky)
    }

    pub fn segment(&self, first: u32) -> &Segment {
        &self.segments[first as usize]
    }

    pub fn set_facts(&mut self, first: u32, facts: Facts) {
        self.segments[first as usize].facts = Some(facts);
    }

    /// Visits the unplaced pieces that start in a closed range of sections and end in it, by first section.
    pub fn inside(&self, first: u32, last: u32, mut visit: impl FnMut(u32, &Piece)) {
        let begin = self.model.begin[first as usize];
        let end = self.model.begin[last as usize + 1];
        for word in begin / 64..end.div_ceil(64) {
            let mut bits = self.waiting[word as usize];
            if word == begin / 64 {
                bits &= u64::MAX << (begin % 64);
            }
            if word == end / 64 {
                bits &= (1 << (end % 64)) - 1;
            }
            while bits != 0 {
                let i = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let piece = &self.model.pieces[i as usize];
                if piece.last <= last {
                    visit(i, piece);
                }
            }
        }
    }

    pub fn is_waiting(&self, piece: u32) -> bool {
        self.waiting[piece as usize / 64] >> (piece % 64) & 1 != 0
    }

    pub fn slack(&self, section: u32) -> u64 {
        self.slack[section as usize]
    }

    /// Whether no unplaced piece crosses the border before a section.
    pub fn is_dead(&self, border: u32) -> bool {
        self.crossing[border as usize] == 0
    }

    /// Height of what stands left of a segment.
    pub fn left_wall(&self, first: u32) -> u64 {
        if self.is_dead(first) {
            CLOSED
        } else {
            self.segments[self.start_of[first as usize - 1] as usize].floor
        }
    }

    /// Height of what stands right of a segment.
    pub fn right_wall(&self, last: u32) -> u64 {
        if self.is_dead(last + 1) { CLOSED } else { self.segments[last as usize + 1].floor }
    }

    /// First section of the segment that ends at `last`.
    pub fn start_of(&self, last: u32) -> u32 {
        self.start_of[last as usize]
    }

    /// Lowest bottom of an obstacle above the floor of a section.
    pub fn ceiling(&self, section: u32) -> u64 {
        let next = self.next_obstacle[section as usize] as usize;
        self.model.obstacles[section as usize].get(next).map_or(CLOSED, |o| o.bottom)
    }

    /// Top of the first obstacle above the floor of a section.
    pub fn obstacle_top(&self, section: u32) -> u64 {
        let next = self.next_obstacle[section as usize] as usize;
        self.model.obstacles[section as usize].get(next).map_or(CLOSED, |o| o.top)
    }

    /// Sum of the obstacles above the floor of a section.
    pub fn obstacles_above(&self, section: u32) -> u64 {
        let next = self.next_obstacle[section as usize] as usize;
        self.model.obstacles[section as usize][next..].iter().map(|o| o.top - o.bottom).sum()
    }

    /// Where a piece would lie if it rested on a floor that its sections share; `None` where it may not.
    pub fn rest(&self, piece: u32, floor: u64) -> Option<u64> {
        if self.model.plain {
            return Some(floor);
        }
        let p = &self.model.pieces[piece as usize];
        let offset = floor.next_multiple_of(p.align);
        let top = offset.checked_add(p.height).filter(|top| *top <= p.limit)?;
        let lawful = |s: u32| offset - floor <= self.slack[s as usize] && top <= self.ceiling(s);
        (p.first..=p.last).all(lawful).then_some(offset)
    }

    /// Whether the slack pays for raising every floor of a range from `floor` to `to` or above.
    pub fn affords(&self, first: u32, last: u32, floor: u64, to: u64) -> bool {
        (first..=last).all(|s| {
            let (_, _, wasted) = self.raised(s, floor, to);
            wasted <= self.slack[s as usize]
        })
    }

    /// Floor, next obstacle and bytes wasted when a floor is raised over whatever obstacle is in the way.
    fn raised(&self, section: u32, floor: u64, to: u64) -> (u64, u32, u64) {
        let mut next = self.next_obstacle[section as usize];
        let (mut reached, mut filled) = (to, 0);
        if !self.model.plain {
            for obstacle in &self.model.obstacles[section as usize][next as usize..] {
                if obstacle.bottom > reached {
                    break;
                }
                reached = reached.max(obstacle.top);
                filled += obstacle.top - obstacle.bottom;
                next += 1;
            }
        }
        (reached, next, reached.saturating_sub(floor).saturating_sub(filled))
    }

    /// Puts a piece down inside the segment that begins at `segment`.
    pub fn place(&mut self, segment: u32, piece: u32, offset: u64) {
        let p = self.model.pieces[piece as usize];
        let floor = self.segments[segment as usize].floor;
        if offset > floor {
            self.waste(p.first, p.last, offset - floor);
        }
        self.trail.push(Change::Placed(piece));
        self.offsets[piece as usize] = Some(offset);
        self.unplaced -= 1;
        self.waiting[piece as usize / 64] ^= 1 << (piece % 64);
        let (first, last) = (p.first as usize, p.last as usize);
        self.open[first..=last].iter_mut().for_each(|n| *n -= 1);
        self.crossing[first + 1..=last].iter_mut().for_each(|n| *n -= 1);
        self.starting_hash[first] ^= piece_hash(piece);
        self.split(segment, p.first, p.last);
        self.rebuild(p.first, p.last, offset + p.height);
    }

    /// Raises the floors of a range inside the segment that begins at `segment`: nothing will rest below.
    pub fn lift(&mut self, segment: u32, first: u32, last: u32, to: u64) {
        let floor = self.segments[segment as usize].floor;
        for section in first..=last {
            let (_, _, wasted) = self.raised(section, floor, to);
            self.waste(section, section, wasted);
        }
        self.split(segment, first, last);
        self.rebuild(first, last, to);
    }

    fn waste(&mut self, first: u32, last: u32, wasted: u64) {
        for section in first..=last {
            let slack = self.slack[section as usize];
            self.trail.push(Change::Slack(section, slack));
            self.slack[section as usize] =
                slack.checked_sub(wasted).expect("only what slack pays for is wasted");
        }
    }

    /// What is left of a segment beside a range of it keeps its floor.
    fn split(&mut self, segment: u32, first: u32, last: u32) {
        let Segment { last: end, floor, .. } = self.segments[segment as usize];
        if segment < first {
            self.write(segment, first - 1, floor);
        }
        if last < end {
            self.write(last + 1, end, floor);
        }
    }

    /// Makes segments of a range whose floors were raised to `to`, merged with equal neighbours.
    fn rebuild(&mut self, first: u32, last: u32, to: u64) {
        let mut start = first;
        let mut floor = self.settle(first, to);
        let mut raised = None;
        for section in first + 1..=last {
            let next = self.settle(section, to);
            if self.is_dead(section) && (next != CLOSED || floor != CLOSED) || next != floor {
                let written = self.write_merged(start, section - 1, floor);
                raised = raised.or(Some(written));
                (start, floor) = (section, next);
            }
        }
        let written = self.write_merged(start, last, floor);
        self.raised = (raised.unwrap_or(written), last);
        let end = last as usize + 1;
        if end < self.segments.len() && !self.is_dead(end as u32) && self.segments[end].floor == floor {
            self.raised.1 = self.segments[end].last;
            self.write(self.start_of[last as usize], self.segments[end].last, floor);
        }
    }

    fn write_merged(&mut self, first: u32, last: u32, floor: u64) -> u32 {
        let mut start = first;
        if !self.is_dead(first) {
            let before = self.start_of[first as usize - 1];
            if self.segments[before as usize].floor == floor {
                start = before;
            }
        }
        self.write(start, last, floor);
        start
    }

    /// The floor of one section once it is raised, past obstacles it touches.
    fn settle(&mut self, section: u32, to: u64) -> u64 {
        if self.open[section as usize] == 0 {
            return CLOSED;
        }
        if self.model.plain {
            return to;
        }
        let (floor, next, _) = self.raised(section, to, to);
        let old = self.next_obstacle[section as usize];
        if next != old {
            self.trail.push(Change::Obstacle(section, old));
            self.next_obstacle[section as usize] = next;
        }
        floor
    }

    fn write(&mut self, first: u32, last: u32, floor: u64) {
        self.trail.push(Change::Segment(first, self.segments[first as usize]));
        self.trail.push(Change::StartOf(last, self.start_of[last as usize]));
        self.segments[first as usize] = Segment { last, floor, facts: None };
        self.start_of[last as usize] = first;
    }

    /// A point to come back to.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back everything since a mark.
    pub fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop().expect("the trail is longer than the mark") {
                Change::Segment(first, old) => self.segments[first as usize] = old,
                Change::StartOf(last, old) => self.start_of[last as usize] = old,
                Change::Slack(section, old) => self.slack[section as usize] = old,
                Change::Obstacle(section, old) => self.next_obstacle[section as usize] = old,
                Change::Placed(piece) => {
                    let p = &self.model.pieces[piece as usize];
                    let (first, last) = (p.first as usize, p.last as usize);
                    self.open[first..=last].iter_mut().for_each(|n| *n += 1);
                    self.crossing[first + 1..=last].iter_mut().for_each(|n| *n += 1);
                    self.starting_hash[first] ^= piece_hash(piece);
                    self.offsets[piece as usize] = None;
                    self.unplaced += 1;
                    self.waiting[piece as usize / 64] ^= 1 << (piece % 64);
                }
            }
        }
    }

    /// Hash of what is left to do between two dead borders: unplaced pieces and floors.
    pub fn state_hash(&self, first: u32, last: u32) -> u128 {
        let unplaced = self.starting_hash[first as usize..=last as usize].iter().fold(0, |all, h| all ^ h);
        let (mut low, mut high) = (unplaced as u64, (unplaced >> 64) as u64);
        let mut start = first;
        while start <= last {
            let segment = &self.segments[start as usize];
            let place = (u64::from(start) << 32) | u64::from(segment.last);
            low = mix(low ^ segment.floor).wrapping_add(place.wrapping_mul(0xd6e8_feb8_6659_fd93));
            high = mix(high.wrapping_add(segment.floor)) ^ place.wrapping_mul(0xa076_1d64_78bd_642f);
            start = segment.last + 1;
        }
        (u128::from(high) << 64) | u128::from(low)
    }
}

/// A bit for each of `pieces` pieces.
fn waiting(pieces: usize) -> Vec<u64> {
    let mut bits = vec![0; pieces.div_ceil(64)];
    (0..pieces).for_each(|i| bits[i / 64] |= 1 << (i % 64));
    bits
}

fn piece_hash(piece: u32) -> u128 {
    let low = mix(u64::from(piece) + 1);
    (u128::from(mix(low ^ 0x1234_5678_9abc_def1)) << 64) | u128::from(low)
}
