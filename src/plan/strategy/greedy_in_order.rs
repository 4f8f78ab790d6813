//! Greedy in the order of the schedule: each block at its first use into the smallest gap that holds it.

use super::super::resolve::Block;
use super::super::search::index::{self, Fit};
use super::in_order;

pub(super) fn place(blocks: &[Block]) -> Vec<u64> {
    index::place(blocks, &in_order(blocks), Fit::Best)
}
