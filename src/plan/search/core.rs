//! The hot core first: blocks that live where much lives are packed exactly, the rest is filled in.
//!
//! Where the load is far below the capacity nearly any order of placement does; what decides are the few
//! sections that are nearly full. So the blocks that live in those are given to the exact search alone,
//! under the capacity wanted; all others go greedily into what is left, and the few that find no place are
//! settled by repair, or join the core. A core that cannot be packed proves that nothing can.

use super::board::Board;
use super::budget::{Clock, Work};
use super::exact::{self, Answer, Effort, Item};
use super::index::{Fit, Index};
use super::part::Part;
use super::portfolio::Order;
use super::repair::{OUT, Repair};

/// Shares of the capacity, per cent: a section fuller than that is hot.
const HEAT: &[u64] = &[97, 94, 90, 85, 80, 70, 60, 50, 40, 30, 0];

/// How the rest is filled in.
const FILLS: &[(Order, Fit)] =
    &[(Order::Size, Fit::First), (Order::Area, Fit::First), (Order::Length, Fit::Best)];

/// Placements that may be made around one core; one way to fill in is always tried.
const PLACEMENTS: usize = 300_000;

/// Cores in a row that the exact search may give up on.
const GIVE_UP_AFTER: u32 = 2;

/// Work of a repair: at first, and for each block to settle.
const REPAIR_WORK: (u64, u64) = (50_000, 30_000);

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Offsets under the capacity.
    Fits(Vec<u64>),
    /// Some core cannot be packed under it: a proof.
    Impossible,
    Unknown,
}

/// Cores of one part.
pub(crate) struct CoreSearch<'a> {
    part: &'a Part,
    clock: Clock,
    /// Made on the first repair.
    board: Option<Board>,
    /// One for each way to fill in, made on first use.
    orders: Vec<Option<Vec<u32>>>,
}

impl<'a> CoreSearch<'a> {
    pub fn new(part: &'a Part, clock: Clock) -> Self {
        CoreSearch { part, clock, board: None, orders: vec![None; FILLS.len()] }
    }

    /// Looks for a plan under `capacity`. The exact search of each core spends at most `nodes` and some for
    /// its size, and never more than what is left of `budget`.
    pub fn fits(&mut self, capacity: u64, nodes: u64, budget: &mut u64) -> Outcome {
        let mut in_core = vec![false; self.part.blocks.len()];
        let (mut size, mut unknown) = (0, 0);
        for heat in HEAT {
            if self.clock.is_late() || unknown >= GIVE_UP_AFTER || *budget == 0 {
                return Outcome::Unknown;
            }
            grow(self.part, u128::from(capacity) * u128::from(*heat) / 100, &mut in_core);
            let core: Vec<u32> = (0..in_core.len() as u32).filter(|i| in_core[*i as usize]).collect();
            if core.len() <= size {
                continue;
            }
            size = core.len();
            let granted = (nodes + 10 * size as u64).min(*budget);
            let mut effort = Effort { nodes: granted, deadline: self.clock.deadline, cancelled: None };
            let answer = exact::fits(&items(self.part, &core), capacity, &mut effort);
            *budget -= granted - effort.nodes;
            match answer {
                Answer::Impossible => return Outcome::Impossible,
                Answer::Unknown => unknown += 1,
                Answer::Fits(offsets) => {
                    unknown = 0;
                    if let Some(offsets) = self.complete(&core, &offsets, capacity, &mut in_core) {
                        return Outcome::Fits(offsets);
                    }
                }
            }
        }
        Outcome::Unknown
    }

    /// Fills in what is not in the core; what found no place joins it.
    fn complete(
        &mut self,
        core: &[u32],
        offsets: &[u64],
        capacity: u64,
        in_core: &mut [bool],
    ) -> Option<Vec<u64>> {
        let ways = (PLACEMENTS / self.part.blocks.len()).clamp(1, FILLS.len());
        for way in 0..ways {
            if !self.clock.allows(self.part.blocks.len()) {
                return None;
            }
            let (places, failed) = self.fill(core, offsets, capacity, way)?;
            if failed.is_empty() || self.part.blocks.len() == core.len() {
                return Some(places);
            }
            if let Some(places) = self.repair(places, capacity, failed.len()) {
                return Some(places);
            }
            failed.iter().for_each(|i| in_core[*i as usize] = true);
        }
        None
    }

    /// Settles what is [`OUT`] or over the capacity.
    pub fn repair(&mut self, places: Vec<u64>, capacity: u64, over: usize) -> Option<Vec<u64>> {
        let board = self.board.get_or_insert_with(|| Board::new(&self.part.blocks, &self.part.sections));
        let mut work = Work::new(REPAIR_WORK.0 + REPAIR_WORK.1 * over as u64, self.clock);
        Repair::new(&self.part.blocks, board).run(places, capacity, &mut work)
    }

    /// Places what is not in the core around it, and tells what found no place under the capacity; `None`
    /// where that is too much, or too late.
    fn fill(
        &mut self,
        core: &[u32],
        offsets: &[u64],
        capacity: u64,
        way: usize,
    ) -> Option<(Vec<u64>, Vec<u32>)> {
        let part = self.part;
        let (order, fit) = FILLS[way];
        let order = self.orders[way].get_or_insert_with(|| order.of(part));
        let mut index = Index::new(part.sections.count);
        let mut places = vec![OUT; part.blocks.len()];
        for (i, offset) in core.iter().zip(offsets) {
            let i = *i as usize;
            places[i] = *offset;
            index.insert(part.sections.spans[i], (*offset, offset + part.blocks[i].size_bytes));
        }
        // Beyond that many the core was too small to tell anything.
        let most = 64 + part.blocks.len() / 64;
        let mut failed = Vec::new();
        for (at, i) in order.iter().enumerate() {
            let (block, span) = (&part.blocks[*i as usize], part.sections.spans[*i as usize]);
            if places[*i as usize] != OUT {
                continue;
            }
            let offset = index.find(span, block.size_bytes, block.align_bytes, fit);
            if offset + block.size_bytes <= capacity {
                places[*i as usize] = offset;
                index.insert(span, (offset, offset + block.size_bytes));
            } else {
                failed.push(*i);
            }
            if failed.len() > most || (at % 256 == 0 && self.clock.is_late()) {
                return None;
            }
        }
        Some((places, failed))
    }
}

/// Adds what is pinned and what lives in a section with at least that load.
fn grow(part: &Part, heat: u128, in_core: &mut [bool]) {
    let mut hot_before = vec![0u32; part.loads.len() + 1];
    for (s, load) in part.loads.iter().enumerate() {
        hot_before[s + 1] = hot_before[s] + u32::from(u128::from(*load) >= heat);
    }
    for (i, (first, last)) in part.sections.spans.iter().enumerate() {
        let pinned = part.blocks[i].pin.is_some();
        in_core[i] |= pinned || hot_before[*last as usize + 1] > hot_before[*first as usize];
    }
}

/// What the exact search is given.
pub(crate) fn items(part: &Part, core: &[u32]) -> Vec<Item> {
    core.iter()
        .map(|i| {
            let (block, (first, last)) = (&part.blocks[*i as usize], part.sections.spans[*i as usize]);
            Item { size: block.size_bytes, first, last, align: block.align_bytes, pin: block.pin }
        })
        .collect()
}
