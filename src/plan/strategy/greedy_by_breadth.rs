//! Greedy by breadth, arXiv 2001.03288: the steps with the most live bytes first, inside a step the largest
//! block.

use super::super::resolve::Block;
use super::super::search::index::{self, Fit};
use super::by_breadth;

pub(super) fn place(blocks: &[Block]) -> Vec<u64> {
    index::place(blocks, &by_breadth(blocks), Fit::Best)
}
