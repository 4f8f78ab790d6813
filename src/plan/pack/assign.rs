//! Local search over which arena holds which block, by loads: placing comes after.
//!
//! A move takes a block of a fullest step to another arena and, where separations demand it, trades the
//! blocks connected with it (a Kempe chain). A move is kept where it is no worse than what was accepted some
//! moves ago (late acceptance). Moves are counted, not timed, and the random numbers are seeded.

use super::super::auto::{Options, place as place_lowest};
use super::super::resolve::Block;
use super::colour::{Sides, Tally};
use super::{Demands, Packed};

/// Loads and blocks looked at in one search.
const WORK: usize = 40_000_000;
const MOST_MOVES: usize = 60_000;
const MOVES_PER_BLOCK: usize = 600;
/// Few blocks have few pairs to trade.
const MOVES_PER_PAIR: usize = 20;
/// How many moves ago.
const LATENESS: usize = 64;

/// A packing of `arenas` arenas that is better than `start`, if one is found.
pub(super) fn improve(
    blocks: &[Block],
    sides: &Sides<'_>,
    demands: &Demands<'_>,
    start: &Packed,
    arenas: usize,
    options: &Options,
) -> Option<Packed> {
    let mut state = State::new(blocks, sides, demands, start, arenas)?;
    let mut random = Random(options.seed ^ 0x9e37_79b9_7f4a_7c15);
    let moves = (WORK / (state.sections + blocks.len()).max(1))
        .min(MOST_MOVES)
        .min(MOVES_PER_BLOCK * blocks.len())
        .min(MOVES_PER_PAIR * (blocks.len() + 4).pow(2));
    let mut history = [state.score(); LATENESS];
    // Loads promise more than placing keeps, so the best few are placed.
    let mut best: Vec<((u64, u64), Vec<usize>)> = vec![(state.score(), state.arena_of.clone())];
    for turn in 0..moves {
        if turn % 256 == 0 && options.is_late() {
            break;
        }
        let Some(chain) = state.propose(&mut random) else { continue };
        let before = state.score();
        state.trade(&chain);
        let after = state.score();
        let slot = &mut history[turn % LATENESS];
        if after > before && after > *slot {
            state.trade(&chain);
            continue;
        }
        *slot = after.min(*slot);
        if after < best[best.len() - 1].0 {
            best.push((after, state.arena_of.clone()));
        }
    }
    let placed = best.iter().rev().take(8).filter(|(score, _)| score.0 == 0);
    let placed = placed.filter_map(|(_, arena_of)| place(blocks, arena_of, demands, options));
    placed.min_by_key(Packed::rank).filter(|packed| packed.rank() < start.rank())
}

/// Places what each arena holds; `None` where that exceeds the limit.
fn place(blocks: &[Block], arena_of: &[usize], demands: &Demands<'_>, options: &Options) -> Option<Packed> {
    let arenas = arena_of.iter().max().map_or(0, |most| most + 1);
    let mut places = vec![(0, 0); blocks.len()];
    for arena in 0..arenas {
        let members: Vec<usize> = (0..blocks.len()).filter(|i| arena_of[*i] == arena).collect();
        let own: Vec<Block> = members.iter().map(|i| blocks[*i].clone()).collect();
        if own.is_empty() {
            return None;
        }
        let found = place_lowest(&own, &options.fast(), &mut |_| {});
        if found.peak_bytes > demands.limit_bytes {
            return None;
        }
        for (i, offset) in members.iter().zip(found.offsets) {
            places[*i] = (arena, offset);
        }
    }
    Some(Packed::new(blocks, places))
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Blocks that change arenas, with where they go and whence they come.
struct Chain(Vec<(usize, usize, usize)>);

struct State<'a> {
    blocks: &'a [Block],
    sides: &'a Sides<'a>,
    limit_bytes: u64,
    sections: usize,
    /// First and last section of each block; a section is a step at which some block is born.
    spans: Vec<(usize, usize)>,
    arena_of: Vec<usize>,
    /// Per arena and section the live bytes.
    loads: Vec<Vec<u64>>,
    /// Per arena the highest load, or the end of its highest pin.
    peaks: Vec<u64>,
    pin_end: u64,
}

impl<'a> State<'a> {
    /// The assignment of a packing; blocks of arenas beyond `arenas` go to the emptiest that allows them,
    /// `None` where none does.
    fn new(
        blocks: &'a [Block],
        sides: &'a Sides<'a>,
        demands: &Demands<'_>,
        start: &Packed,
        arenas: usize,
    ) -> Option<Self> {
        if arenas < 2 {
            return None;
        }
        let mut births: Vec<u32> = blocks.iter().map(|b| b.first).collect();
        births.sort_unstable();
        births.dedup();
        let span = |b: &Block| {
            let section = |step: u32| births.partition_point(|birth| *birth <= step) - 1;
            (section(b.first), section(b.last))
        };
        let mut state = State {
            blocks,
            sides,
            limit_bytes: demands.limit_bytes,
            sections: births.len(),
            spans: blocks.iter().map(span).collect(),
            arena_of: vec![usize::MAX; blocks.len()],
            loads: vec![vec![0; births.len()]; arenas],
            peaks: vec![0; arenas],
            pin_end: blocks.iter().filter_map(|b| b.pin.map(|pin| pin + b.size_bytes)).max().unwrap_or(0),
        };
        let mut tally = Tally::default();
        let (stay, go): (Vec<usize>, Vec<usize>) =
            (0..blocks.len()).partition(|i| start.places[*i].0 < arenas);
        for i in stay {
            tally.enter(sides, i, start.places[i].0);
            state.put(i, start.places[i].0);
        }
        for i in go {
            let allowed = (0..arenas).filter(|a| tally.allows(sides, i, *a));
            let (first, last) = state.spans[i];
            let arena = allowed.min_by_key(|a| state.loads[*a][first..=last].iter().max())?;
            tally.enter(sides, i, arena);
            state.put(i, arena);
        }
        (0..arenas).for_each(|arena| state.measure(arena));
        Some(state)
    }

    fn put(&mut self, block: usize, arena: usize) {
        let (first, last) = self.spans[block];
        let size_bytes = self.blocks[block].size_bytes;
        self.loads[arena][first..=last].iter_mut().for_each(|load| *load += size_bytes);
        self.arena_of[block] = arena;
    }

    fn take(&mut self, block: usize) {
        let (first, last) = self.spans[block];
        let size_bytes = self.blocks[block].size_bytes;
        self.loads[self.arena_of[block]][first..=last].iter_mut().for_each(|load| *load -= size_bytes);
    }

    fn measure(&mut self, arena: usize) {
        let load = self.loads[arena].iter().copied().max().unwrap_or(0);
        self.peaks[arena] = if arena == 0 { load.max(self.pin_end) } else { load };
    }

    /// Bytes over the limit, then bytes in all: lower is better.
    fn score(&self) -> (u64, u64) {
        let over = self.peaks.iter().map(|peak| peak.saturating_sub(self.limit_bytes)).sum();
        (over, self.peaks.iter().sum())
    }

    /// A block that lives at a fullest section of some arena, to another arena, with what must move then.
    fn propose(&self, random: &mut Random) -> Option<Chain> {
        let from = random.below(self.peaks.len());
        let full: Vec<usize> =
            (0..self.sections).filter(|s| self.loads[from][*s] == self.peaks[from]).collect();
        // Now and then any block, so that a peak made of one large block is no dead end.
        let anywhere = full.is_empty() || random.below(4) == 0;
        let section = if anywhere { None } else { Some(full[random.below(full.len())]) };
        let at = |i: &usize| section.is_none_or(|s| self.spans[*i].0 <= s && s <= self.spans[*i].1);
        let here: Vec<usize> =
            (0..self.blocks.len()).filter(|i| self.arena_of[*i] == from).filter(at).collect();
        if here.is_empty() {
            return None;
        }
        let block = here[random.below(here.len())];
        let to = (from + 1 + random.below(self.peaks.len() - 1)) % self.peaks.len();
        // Half of the moves give something back: under a tight limit nothing fits otherwise.
        let meets = |i: &usize| self.arena_of[*i] == to && self.blocks[*i].meets(&self.blocks[block]);
        let there: Vec<usize> = (0..self.blocks.len()).filter(meets).collect();
        let back = (random.below(2) == 0 && !there.is_empty()).then(|| there[random.below(there.len())]);
        self.chain(std::iter::once((block, to, from)).chain(back.map(|b| (b, from, to))).collect())
    }

    fn chain(&self, mut moved: Vec<(usize, usize, usize)>) -> Option<Chain> {
        let mut seen: std::collections::HashSet<usize> = moved.iter().map(|(block, ..)| *block).collect();
        let mut at = 0;
        while at < moved.len() {
            let (block, to, from) = moved[at];
            if self.blocks[block].pin.is_some() {
                return None;
            }
            // Whoever must not share its new arena takes its old place.
            let displaced = self.sides.partners(block).filter(|other| self.arena_of[*other] == to);
            for other in displaced {
                if seen.insert(other) {
                    moved.push((other, from, to));
                }
            }
            at += 1;
        }
        Some(Chain(moved))
    }

    /// Carries a move out; once more undoes it.
    fn trade(&mut self, chain: &Chain) {
        let is_there = self.arena_of[chain.0[0].0] == chain.0[0].1;
        for (block, to, from) in &chain.0 {
            self.take(*block);
            self.put(*block, if is_there { *from } else { *to });
        }
        let (_, to, from) = chain.0[0];
        self.measure(to);
        self.measure(from);
    }
}
