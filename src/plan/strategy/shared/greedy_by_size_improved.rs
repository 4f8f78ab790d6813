//! Greedy by size improved, arXiv 2001.03288.
//!
//! Blocks are dealt out by positional maximum (the smallest one that holds the block), then by the fewest
//! steps between the block and what some object already holds, then by size; each goes to its closest
//! object, which may grow.

use super::super::super::bound::positional_maxima_of;
use super::super::super::resolve::Block;
use super::Objects;

/// A block that waits.
struct Waiting {
    index: usize,
    /// Number of positional maxima that hold the block, less one.
    position: usize,
    /// Per object the fewest steps to a block in it; `None` where one of them lives at the same time.
    distances: Vec<Option<u32>>,
    /// The closest object: distance and index. Kept as found, so that of two equally close objects the
    /// earlier find stays, as in the published code.
    best: Option<(u32, usize)>,
}

pub(super) fn assign(blocks: &[Block]) -> Objects {
    let maxima = positional_maxima_of(blocks);
    let mut waiting: Vec<Waiting> = (0..blocks.len())
        .map(|index| Waiting {
            index,
            position: maxima.partition_point(|m| *m >= blocks[index].size_bytes) - 1,
            distances: Vec::new(),
            best: None,
        })
        .collect();
    let mut objects = Objects::new(blocks);
    while let Some(at) = most_urgent(blocks, &waiting) {
        let chosen = waiting.remove(at);
        let is_new = chosen.best.is_none();
        let object = objects.put(blocks, chosen.index, chosen.best.map(|(_, object)| object));
        for other in &mut waiting {
            let distance = distance(&blocks[chosen.index], &blocks[other.index]);
            other.update(object, is_new, distance);
        }
    }
    objects
}

fn most_urgent(blocks: &[Block], waiting: &[Waiting]) -> Option<usize> {
    let key = |w: &Waiting| {
        let distance = w.best.map_or(u64::MAX, |(distance, _)| u64::from(distance));
        let block = &blocks[w.index];
        (w.position, distance, std::cmp::Reverse(block.size_bytes), block.first, w.index)
    };
    (0..waiting.len()).min_by_key(|at| key(&waiting[*at]))
}

/// Steps between two intervals; `None` where they meet.
fn distance(a: &Block, b: &Block) -> Option<u32> {
    match (a.last < b.first, b.last < a.first) {
        (true, _) => Some(b.first - a.last),
        (_, true) => Some(a.first - b.last),
        _ => None,
    }
}

impl Waiting {
    fn update(&mut self, object: usize, is_new: bool, distance: Option<u32>) {
        if is_new {
            self.distances.push(distance);
        } else if self.distances[object].is_none() {
            return;
        } else if let Some(distance) = distance {
            self.distances[object] = self.distances[object].map(|d| d.min(distance));
        } else {
            self.distances[object] = None;
            if self.best.is_some_and(|(_, best)| best == object) {
                self.best = self
                    .distances
                    .iter()
                    .enumerate()
                    .filter_map(|(object, distance)| distance.map(|d| (d, object)))
                    .min();
            }
        }
        if let Some(distance) = distance
            && self.best.is_none_or(|(best, _)| distance < best)
        {
            self.best = Some((distance, object));
        }
    }
}
