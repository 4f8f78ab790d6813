//! Greedy by size, arXiv 2001.03288: the largest block first, each into the smallest gap that holds it.

use super::super::resolve::Block;
use super::{by_size, gap};

pub(super) fn place(blocks: &[Block]) -> Vec<u64> {
    gap::place(blocks, &by_size(blocks))
}
