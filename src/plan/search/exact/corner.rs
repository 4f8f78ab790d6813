//! The corner search: always branch where a corner of a niche leaves the fewest options.
//!
//! A failure carries the sections it depends on. A decision that touched none of them is no way out of it, so
//! the search jumps back over it. States that failed are remembered by what is left to do in them.

use super::memo::Memo;
use super::model::Model;
use super::niche::{self, Facts, Lift, Scratch};
use super::random::Random;
use super::section_set::SectionSet;
use super::skyline::{CLOSED, Skyline};
use super::style::{Merits, Rule, Style};
use super::valley;
use super::{Effort, Verdict};

#[derive(Debug, Clone, Copy)]
enum Move {
    Place { niche: u32, piece: u32, offset: u64 },
    Lift { niche: u32, lift: Lift },
}

/// A node on the way down.
#[derive(Debug)]
struct Frame {
    mark: usize,
    /// Its moves in `moves`, the next one to try.
    begin: usize,
    next: usize,
    /// Sections the move under way touches.
    touched: (u32, u32),
    /// Sections with pieces that the search is busy with: between dead borders.
    focus: (u32, u32),
    hash: u128,
    /// Why the moves tried so far failed.
    why: SectionSet,
}

#[derive(Debug)]
pub(super) struct CornerSearch<'a> {
    sky: Skyline<'a>,
    memo: Memo,
    frames: Vec<Frame>,
    moves: Vec<(Move, (i64, u64))>,
    scratch: Scratch,
    sums: Vec<u64>,
    /// Per section the number of the newest failure there.
    failed_at: Vec<u64>,
    failures: u64,
    /// Per piece how low it lies in a known packing, 0 to 4096; empty where none is known.
    low: Vec<i64>,
    /// Why the last node failed.
    why: SectionSet,
    spare: Vec<SectionSet>,
    random: Random,
    style: Style,
}

/// Which niche is branched on: the least.
type Rank = (bool, u32, u64, u64);

/// Cap of what a tiling wastes, so that scores stay far from the ends of their type.
const MOST_WASTED: u64 = 1 << 30;

/// Failures that count as late.
const LATELY: u64 = 10;

/// What a node asks for.
enum Node {
    Solved,
    Dead,
    Branch(u32, Facts, (u32, u32), u128),
}

impl<'a> CornerSearch<'a> {
    /// `None` where the sum of the sizes already forbids a packing.
    pub fn new(model: &'a Model) -> Option<Self> {
        Some(CornerSearch {
            sky: Skyline::new(model)?,
            memo: Memo::new(model.sections()),
            frames: Vec::new(),
            moves: Vec::new(),
            scratch: Scratch::default(),
            sums: Vec::new(),
            failed_at: vec![0; model.sections()],
            failures: 0,
            low: Vec::new(),
            why: SectionSet::new(model.sections()),
            spare: Vec::new(),
            random: Random(0),
            style: Style::of_round(0, 0),
        })
    }

    /// Gives rounds a known packing to stay near to: per piece how low it lies, 0 to 4096.
    pub fn stay_near(&mut self, low: Vec<i64>) {
        self.low = low;
    }

    /// Searches from the start for at most `nodes` nodes. States known to fail stay known.
    pub fn round(&mut self, style: Style, nodes: u64, effort: &mut Effort) -> Verdict {
        self.style = style;
        self.random = Random(style.seed);
        self.sky.undo(0);
        while let Some(frame) = self.frames.pop() {
            self.spare.push(frame.why);
        }
        self.moves.clear();
        let mut left = nodes;
        let mut focus = (0, self.sky.model.sections() as u32 - 1);
        loop {
            match self.look(focus) {
                Node::Solved => {
                    return Verdict::Fits(self.sky.offsets.iter().map(|o| o.unwrap_or(0)).collect());
                }
                Node::Dead => {
                    if !self.back() {
                        return Verdict::Impossible;
                    }
                }
                Node::Branch(niche, facts, focus, hash) => self.open(niche, &facts, focus, hash),
            }
            if left == 0 || !effort.spend() {
                return Verdict::Unknown;
            }
            left -= 1;
            focus = self.go();
        }
    }

    /// Looks at every niche between the borders of the focus, or of everything once that is done.
    fn look(&mut self, focus: (u32, u32)) -> Node {
        if self.sky.unplaced == 0 {
            return Node::Solved;
        }
        if !self.frames.is_empty()
            && let Some(over) = valley::overfull(&self.sky, &mut self.sums)
        {
            self.note_failure(over.section);
            self.why.clear();
            self.why.insert(over.section);
            self.why.insert(over.rims.0);
            self.why.insert(over.rims.1);
            return Node::Dead;
        }
        let mut best = None;
        if self.scan(focus, &mut best) {
            return Node::Dead;
        }
        if best.is_none() && self.scan((0, self.sky.model.sections() as u32 - 1), &mut best) {
            return Node::Dead;
        }
        let (_, niche, facts) = best.expect("open sections have a lowest floor, and that is a niche");
        let focus = self.component(niche);
        let hash = self.sky.state_hash(focus.0, focus.1);
        if self.memo.recall(hash, &mut self.why) {
            return Node::Dead;
        }
        Node::Branch(niche, facts, focus, hash)
    }

    /// Finds the best corner of a range; true where a niche is dead, with `why` set.
    fn scan(&mut self, range: (u32, u32), best: &mut Option<(Rank, u32, Facts)>) -> bool {
        let mut start = range.0;
        while start <= range.1 {
            let (last, floor, known) = {
                let s = self.sky.segment(start);
                (s.last, s.floor, s.facts)
            };
            let niche = start;
            start = last + 1;
            if floor == CLOSED {
                continue;
            }
            let (left, right) = (self.sky.left_wall(niche), self.sky.right_wall(last));
            if left < floor || right < floor {
                continue;
            }
            let walls = left.min(right);
            let facts = known.filter(|k| k.walls == walls).unwrap_or_else(|| {
                let facts = niche::facts(&self.sky, &mut self.scratch, niche, walls);
                self.sky.set_facts(niche, facts);
                facts
            });
            if facts.options == 0 {
                self.note_failure(facts.section);
                self.why.clear();
                let (from, to) = self.surroundings(niche, last);
                self.why.insert_range(from, to);
                return true;
            }
            let key = self.rank(niche, last, floor, &facts);
            if best.as_ref().is_none_or(|(k, ..)| key < *k) {
                *best = Some((key, niche, facts));
            }
        }
        false
    }

    fn rank(&mut self, niche: u32, last: u32, floor: u64, facts: &Facts) -> Rank {
        let tie = match self.style.rule {
            Rule::LeastSlack => self.sky.slack(facts.section),
            Rule::LowestFloor => floor,
            Rule::Narrowest => u64::from(last - niche),
        };
        let chance = if self.style.seed == 0 { 0 } else { self.random.next() };
        let newest = self.failed_at[niche as usize..=last as usize].iter().max().copied().unwrap_or(0);
        let cold = newest == 0 || self.failures - newest >= LATELY;
        let later = self.style.hot && cold && facts.options > 1;
        (later, facts.options, tie, chance)
    }

    fn note_failure(&mut self, section: u32) {
        self.failures += 1;
        self.failed_at[section as usize] = self.failures;
    }

    /// A segment with its neighbours, as far as pieces can reach them.
    fn surroundings(&self, first: u32, last: u32) -> (u32, u32) {
        let (left, right) = (!self.sky.is_dead(first), !self.sky.is_dead(last + 1));
        (first - u32::from(left), last + u32::from(right))
    }

    /// The dead borders around a segment.
    fn component(&self, segment: u32) -> (u32, u32) {
        let mut first = segment;
        while !self.sky.is_dead(first) {
            first = self.sky.start_of(first - 1);
        }
        let mut last = self.sky.segment(segment).last;
        while !self.sky.is_dead(last + 1) {
            last = self.sky.segment(last + 1).last;
        }
        (first, last)
    }

    /// A new node with its moves, best last.
    fn open(&mut self, niche: u32, facts: &Facts, focus: (u32, u32), hash: u128) {
        let begin = self.moves.len();
        let (last, floor) = (self.sky.segment(niche).last, self.sky.segment(niche).floor);
        let walls = (self.sky.left_wall(niche), self.sky.right_wall(last));
        let (style, model) = (self.style, self.sky.model);
        let (sky, low, moves, random) = (&self.sky, &self.low, &mut self.moves, &mut self.random);
        niche::candidates(sky, &mut self.scratch, niche, facts, |piece, wasted| {
            let p = &model.pieces[piece as usize];
            let offset = sky.rest(piece, floor).expect("candidates may rest");
            let top = offset + p.height;
            let level = i64::from(top == walls.0 && p.first == niche)
                + i64::from(top == walls.1 && p.last == last)
                + i64::from(p.first == niche && p.last == last);
            let merits = Merits {
                width: p.width(),
                height: p.height,
                level,
                low: low.get(piece as usize).copied().unwrap_or(0),
                wasted: wasted.min(MOST_WASTED) as i64,
            };
            let score = style.score(&merits, random);
            let chance = if style.seed == 0 { 0 } else { random.next() };
            moves.push((Move::Place { niche, piece, offset }, (score, chance)));
        });
        if let Some(lift) = facts.lift {
            self.moves.push((Move::Lift { niche, lift }, (i64::MIN, 0)));
        }
        self.moves[begin..].sort_by_key(|(_, score)| *score);
        let mut why = self.spare.pop().unwrap_or_else(|| SectionSet::new(model.sections()));
        why.clear();
        let (from, to) = self.surroundings(niche, last);
        why.insert_range(from, to);
        let next = self.moves.len();
        self.frames.push(Frame { mark: self.sky.mark(), begin, next, touched: (0, 0), focus, hash, why });
    }

    /// Makes the next move of the newest node.
    fn go(&mut self) -> (u32, u32) {
        let frame = self.frames.last_mut().expect("a node was opened or is left");
        frame.next -= 1;
        let (next, _) = self.moves[frame.next];
        match next {
            Move::Place { niche, piece, offset } => {
                let p = &self.sky.model.pieces[piece as usize];
                frame.touched = (p.first, p.last);
                self.sky.place(niche, piece, offset);
            }
            Move::Lift { niche, lift } => {
                frame.touched = (lift.first, lift.last);
                self.sky.lift(niche, lift.first, lift.last, lift.to);
            }
        }
        frame.focus
    }

    /// Goes back to a node that has a move left which may help; false if there is none.
    fn back(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            self.sky.undo(frame.mark);
            let (first, last) = frame.touched;
            if self.why.meets(first, last) {
                frame.why.union(&self.why);
                if frame.next > frame.begin {
                    return true;
                }
                debug_assert!(frame.why.is_within(frame.focus.0, frame.focus.1));
                self.memo.insert(frame.hash, &frame.why);
                std::mem::swap(&mut self.why, &mut frame.why);
            }
            self.moves.truncate(frame.begin);
            self.spare.extend(self.frames.pop().map(|frame| frame.why));
        }
        false
    }
}
