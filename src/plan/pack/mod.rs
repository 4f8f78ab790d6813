//! Several arenas: where one would exceed the device's largest buffer, or tensors must not share one.
//!
//! Rank of two packings: fewer arenas, then fewer bytes in all, then the earlier one found. An arena more is
//! a binding and an allocation more, so a smaller sum does not buy one.

mod assign;
mod colour;
mod cut;
mod split;

use super::auto::{Options, place as place_lowest};
use super::resolve::{Block, Parted};
use super::strategy::load_profile;
use super::{Progress, Strategy};

pub(crate) use split::naive;

/// Blocks dealt out to arenas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packed {
    /// Arena and offset of each block.
    pub places: Vec<(usize, u64)>,
    /// Bytes of each arena.
    pub arenas: Vec<u64>,
}

impl Packed {
    /// One arena, as high as its highest block.
    pub fn single(blocks: &[Block], offsets: Vec<u64>) -> Self {
        let top = blocks.iter().zip(&offsets).map(|(b, o)| o + b.size_bytes).max();
        Packed { places: offsets.into_iter().map(|o| (0, o)).collect(), arenas: top.into_iter().collect() }
    }

    fn new(blocks: &[Block], places: Vec<(usize, u64)>) -> Self {
        let mut arenas: Vec<u64> = Vec::new();
        for (block, (arena, offset)) in blocks.iter().zip(&places) {
            arenas.resize(arenas.len().max(arena + 1), 0);
            arenas[*arena] = arenas[*arena].max(offset + block.size_bytes);
        }
        Packed { places, arenas }
    }

    pub fn peak_bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }

    /// Lower is better.
    pub fn rank(&self) -> (usize, u64) {
        (self.arenas.len(), self.peak_bytes())
    }
}

/// What rules out one arena for all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demands<'a> {
    pub parted: &'a [Parted],
    /// Largest arena, bytes; every block, with its pin, fits it.
    pub limit_bytes: u64,
    /// No plan has a smaller sum.
    pub bound_bytes: u64,
}

impl Demands<'_> {
    /// Arenas that no packing can do without.
    fn fewest_arenas(&self, blocks: &[Block]) -> usize {
        let by_load = load_profile(blocks).highest_bytes.div_ceil(self.limit_bytes.max(1));
        (by_load as usize).max(if self.parted.is_empty() { 1 } else { 2 })
    }
}

/// Beyond this many blocks only what takes n log n is tried.
const MOST_FOR_SEARCH: usize = 5_000;

/// Placements in one arena that are cut up beside the one that is given.
const PLACEMENTS: &[Strategy] = &[Strategy::GreedyBySize, Strategy::StripPacking, Strategy::GreedyByBreadth];

/// Local searches from the best so far that may find nothing; of few blocks one sees enough.
const FAILURES: usize = 4;
const FEW: usize = 24;

/// Deals blocks out, near the placement that `offsets` are for one large arena.
pub(crate) fn several(
    blocks: &[Block],
    offsets: &[u64],
    demands: &Demands<'_>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Packed {
    let sides = colour::Sides::new(blocks.len(), demands.parted);
    let mut best = colour::by_class(blocks, &sides, demands, options, progress);
    let fewest = demands.fewest_arenas(blocks);
    let good = |packed: &Packed| packed.arenas.len() == fewest && packed.peak_bytes() <= demands.bound_bytes;
    // What is one plan's cut is another's block: other placements are tried beside the best one.
    let mut singles = vec![offsets.to_vec(), place_lowest(blocks, &options.fast(), progress).offsets];
    singles.extend(PLACEMENTS.iter().map(|strategy| strategy.place(blocks)));
    for single in singles.iter().filter(|_| demands.parted.is_empty()) {
        if let Some(packed) = cut::horizontally(blocks, single, demands.limit_bytes)
            && packed.rank() < best.rank()
        {
            best = packed;
        }
    }
    if blocks.len() > MOST_FOR_SEARCH || good(&best) || options.is_late() {
        return best;
    }
    let greedy = split::best(blocks, &singles, &sides, demands, options);
    if greedy.rank() < best.rank() {
        best = greedy;
    }
    let mut chances = if blocks.len() < FEW { 1 } else { FAILURES };
    for round in 0.. {
        let arenas = best.arenas.len();
        let options = Options { seed: options.seed.wrapping_add(round), ..*options };
        let improve = |arenas| assign::improve(blocks, &sides, demands, &best, arenas, &options);
        let fewer = if arenas > fewest { improve(arenas - 1) } else { None };
        match fewer.or_else(|| improve(arenas)) {
            Some(packed) => best = packed,
            None => chances -= 1,
        }
        if chances == 0 || good(&best) || options.is_late() {
            break;
        }
    }
    refine(blocks, best, options, progress)
}

/// Places what every arena holds anew.
fn refine(
    blocks: &[Block],
    mut packed: Packed,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Packed {
    for arena in 0..packed.arenas.len() {
        if options.is_late() {
            break;
        }
        let members: Vec<usize> = (0..blocks.len()).filter(|i| packed.places[*i].0 == arena).collect();
        let own: Vec<Block> = members.iter().map(|i| blocks[*i].clone()).collect();
        let found = place_lowest(&own, options, progress);
        if found.peak_bytes < packed.arenas[arena] {
            packed.arenas[arena] = found.peak_bytes;
            for (i, offset) in members.iter().zip(found.offsets) {
                packed.places[*i].1 = offset;
            }
        }
    }
    packed
}
