//! No reuse: one object a block.

use super::super::super::resolve::Block;
use super::Objects;

pub(super) fn assign(blocks: &[Block]) -> Objects {
    let mut objects = Objects::new(blocks);
    for i in 0..blocks.len() {
        objects.put(blocks, i, None);
    }
    objects
}
