//! Which blocks must not share an arena, and classes of blocks that may.

use super::super::Progress;
use super::super::auto::{Options, place as place_lowest};
use super::super::resolve::{Block, Parted};
use super::{Demands, Packed};

/// Per block the separations that it takes part in, and on which side.
#[derive(Debug)]
pub(super) struct Sides<'a> {
    parted: &'a [Parted],
    of_block: Vec<Vec<(u32, bool)>>,
}

impl<'a> Sides<'a> {
    pub fn new(blocks: usize, parted: &'a [Parted]) -> Self {
        let mut of_block = vec![Vec::new(); blocks];
        for (number, (left, right)) in parted.iter().enumerate() {
            left.iter().for_each(|i| of_block[*i as usize].push((number as u32, false)));
            right.iter().for_each(|i| of_block[*i as usize].push((number as u32, true)));
        }
        Sides { parted, of_block }
    }

    /// Whether there is any separation at all.
    pub fn is_empty(&self) -> bool {
        self.parted.is_empty()
    }

    /// Separations of a block.
    pub fn degree(&self, block: usize) -> usize {
        self.of_block[block].len()
    }

    /// Blocks that must not share an arena with that one; some of them more than once.
    pub fn partners(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        self.of_block[block].iter().flat_map(|(number, is_right)| {
            let (left, right) = &self.parted[*number as usize];
            if *is_right { left } else { right }.iter().map(|i| *i as usize)
        })
    }
}

/// Per arena how many blocks of each side of each separation it holds: says in a moment whether a block may
/// enter.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Vec<Vec<[u32; 2]>>);

impl Tally {
    pub fn allows(&self, sides: &Sides<'_>, block: usize, arena: usize) -> bool {
        let Some(counts) = self.0.get(arena) else { return true };
        sides.of_block[block].iter().all(|(number, right)| counts[*number as usize][usize::from(!right)] == 0)
    }

    pub fn enter(&mut self, sides: &Sides<'_>, block: usize, arena: usize) {
        if self.0.len() <= arena {
            self.0.resize(arena + 1, vec![[0, 0]; sides.parted.len()]);
        }
        for (number, right) in &sides.of_block[block] {
            self.0[arena][*number as usize][usize::from(*right)] += 1;
        }
    }
}

/// One arena a class, or several where that would be too high: what lies under the limit stays, the rest is
/// placed anew.
pub(super) fn by_class(
    blocks: &[Block],
    sides: &Sides<'_>,
    demands: &Demands<'_>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Packed {
    let class_of = classes(blocks, sides);
    let classes = class_of.iter().max().map_or(0, |most| most + 1);
    let mut places = vec![(0, 0); blocks.len()];
    let mut arena = 0;
    for class in 0..classes {
        let mut left: Vec<usize> = (0..blocks.len()).filter(|i| class_of[*i] == class).collect();
        while !left.is_empty() {
            let own: Vec<Block> = left.iter().map(|i| blocks[*i].clone()).collect();
            let found = place_lowest(&own, &options.fast(), progress);
            let mut above = Vec::new();
            for (i, offset) in left.iter().zip(found.offsets) {
                if offset + blocks[*i].size_bytes <= demands.limit_bytes {
                    places[*i] = (arena, offset);
                } else {
                    above.push(*i);
                }
            }
            if above.len() == left.len() {
                // Nothing need lie at byte 0 in what a search returns; alone, a block does.
                places[above.remove(0)] = (arena, 0);
            }
            left = above;
            arena += 1;
        }
    }
    Packed::new(blocks, places)
}

/// Colours greedily: pins first and together, then the block with the most classes ruled out (ties: most
/// separations, size descending, index) into the first class that allows it.
fn classes(blocks: &[Block], sides: &Sides<'_>) -> Vec<usize> {
    let mut class_of = vec![0; blocks.len()];
    if sides.is_empty() {
        return class_of;
    }
    let mut tally = Tally::default();
    let mut ruled_out: Vec<Vec<bool>> = vec![Vec::new(); blocks.len()];
    let mut saturation = vec![0usize; blocks.len()];
    let key = |saturation: usize, i: usize| {
        (saturation, sides.degree(i), blocks[i].size_bytes, std::cmp::Reverse(i))
    };
    let mut waiting: std::collections::BTreeSet<_> = (0..blocks.len()).map(|i| key(0, i)).collect();
    let pinned = (0..blocks.len()).filter(|i| blocks[*i].pin.is_some());
    let mut pinned: Vec<usize> = pinned.collect();
    while let Some(i) = pinned.pop().or_else(|| waiting.last().map(|key| key.3.0)) {
        waiting.remove(&key(saturation[i], i));
        let class = (0..).find(|class| tally.allows(sides, i, *class)).expect("a new class allows anything");
        class_of[i] = class;
        tally.enter(sides, i, class);
        for other in sides.partners(i) {
            let out = &mut ruled_out[other];
            out.resize(out.len().max(class + 1), false);
            if !std::mem::replace(&mut out[class], true) && waiting.remove(&key(saturation[other], other)) {
                saturation[other] += 1;
                waiting.insert(key(saturation[other], other));
            }
        }
    }
    class_of
}
