//! Greedy by size, arXiv 2001.03288: the largest block first, each into the smallest gap that holds it.

use super::super::resolve::Block;
use super::super::search::index::{self, Fit};
use super::by_size;

pub(super) fn place(blocks: &[Block]) -> Vec<u64> {
    index::place(blocks, &by_size(blocks), Fit::Best)
}
