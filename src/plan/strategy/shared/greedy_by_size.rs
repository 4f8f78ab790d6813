//! Greedy by size, arXiv 2001.03288: the largest block first, into the smallest object that is free;
//! objects never grow, since everything in them is at least as large.

use super::super::super::resolve::Block;
use super::super::by_size;
use super::Objects;

pub(super) fn assign(blocks: &[Block]) -> Objects {
    let mut objects = Objects::new(blocks);
    for i in by_size(blocks) {
        let smallest = (0..objects.len())
            .filter(|o| objects.is_free(*o, &blocks[i]))
            .min_by_key(|o| objects.sizes_bytes[*o]);
        objects.put(blocks, i, smallest);
    }
    objects
}
