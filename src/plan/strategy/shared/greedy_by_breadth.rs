//! Greedy by breadth, arXiv 2001.03288: the steps with the most live bytes first; a block takes the
//! smallest free object that holds it, else grows the largest free one.

use std::cmp::Reverse;

use super::super::super::resolve::Block;
use super::super::by_breadth;
use super::Objects;

pub(super) fn assign(blocks: &[Block]) -> Objects {
    let mut objects = Objects::new(blocks);
    for i in by_breadth(blocks) {
        let size_bytes = blocks[i].size_bytes;
        let free: Vec<usize> = (0..objects.len()).filter(|o| objects.is_free(*o, &blocks[i])).collect();
        let sizes = &objects.sizes_bytes;
        let holds = free.iter().copied().filter(|o| sizes[*o] >= size_bytes).min_by_key(|o| sizes[*o]);
        let grown = free.iter().copied().min_by_key(|o| Reverse(sizes[*o]));
        objects.put(blocks, i, holds.or(grown));
    }
    objects
}
