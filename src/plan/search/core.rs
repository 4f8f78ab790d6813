//! The hot core first: blocks that live where much lives are packed exactly, the rest is filled in.
//!
//! Where the load is far below the capacity nearly any order of placement does; what decides are the few
//! sections that are nearly full. So the blocks that live in those are given to the exact search alone,
//! under the capacity wanted, and stay where it puts them; all others go greedily into what is left. A
//! core that cannot be packed proves that nothing can.

use std::time::Instant;

use super::exact::{self, Answer, Effort, Item};
use super::index::{Fit, Index};
use super::part::Part;
use super::portfolio::Order;
use super::repair::OUT;

/// Shares of the capacity, per cent: a section fuller than that is hot.
const HEAT: &[u64] = &[97, 94, 90, 85, 80, 70, 60, 50, 40, 30, 0];

/// How the rest is filled in.
const FILLS: &[(Order, Fit)] =
    &[(Order::Size, Fit::First), (Order::Area, Fit::First), (Order::Length, Fit::Best)];

/// Cores in a row that the exact search may give up on.
const GIVE_UP_AFTER: u32 = 2;

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Offsets under the capacity.
    Fits(Vec<u64>),
    /// Some core cannot be packed under it: a proof.
    Impossible,
    Unknown,
}

/// Looks for a plan under `capacity`; `nodes` bounds the exact search of each core.
pub(crate) fn fits(part: &Part, capacity: u64, nodes: u64, deadline: Option<Instant>) -> Outcome {
    let mut in_core = vec![false; part.blocks.len()];
    let (mut size, mut unknown) = (0, 0);
    for heat in HEAT {
        let late = deadline.is_some_and(|d| Instant::now() >= d);
        if late || unknown >= GIVE_UP_AFTER {
            return Outcome::Unknown;
        }
        grow(part, u128::from(capacity) * u128::from(*heat) / 100, &mut in_core);
        let core: Vec<u32> = (0..in_core.len() as u32).filter(|i| in_core[*i as usize]).collect();
        if core.len() <= size {
            continue;
        }
        size = core.len();
        let mut effort = Effort { nodes: nodes + 10 * size as u64, deadline, cancelled: None };
        match exact::fits(&items(part, &core), capacity, &mut effort) {
            Answer::Impossible => return Outcome::Impossible,
            Answer::Unknown => unknown += 1,
            Answer::Fits(offsets) => {
                unknown = 0;
                for (order, fit) in FILLS {
                    let (filled, failed) = fill(part, &core, &offsets, capacity, *order, *fit, deadline);
                    if failed.is_empty() {
                        return Outcome::Fits(filled);
                    }
                    // What found no place is harder than it looked.
                    failed.iter().for_each(|i| in_core[*i as usize] = true);
                }
            }
        }
    }
    Outcome::Unknown
}

/// Adds what lives in a section with at least that load.
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

pub(crate) fn items(part: &Part, core: &[u32]) -> Vec<Item> {
    core.iter()
        .map(|i| {
            let (block, (first, last)) = (&part.blocks[*i as usize], part.sections.spans[*i as usize]);
            Item { size: block.size_bytes, first, last, align: block.align_bytes, pin: block.pin }
        })
        .collect()
}

/// Places what is not in the core around it; and what found no place under the capacity.
fn fill(
    part: &Part,
    core: &[u32],
    offsets: &[u64],
    capacity: u64,
    order: Order,
    fit: Fit,
    deadline: Option<Instant>,
) -> (Vec<u64>, Vec<u32>) {
    let mut index = Index::new(part.sections.count);
    let mut places = vec![OUT; part.blocks.len()];
    for (i, offset) in core.iter().zip(offsets) {
        let i = *i as usize;
        places[i] = *offset;
        index.insert(part.sections.spans[i], (*offset, offset + part.blocks[i].size_bytes));
    }
    // Past that many the next core is not much better informed.
    let most = 64 + part.blocks.len() / 64;
    let mut failed = Vec::new();
    for (at, i) in order.of(part).into_iter().enumerate() {
        let (block, span) = (&part.blocks[i as usize], part.sections.spans[i as usize]);
        if places[i as usize] != OUT {
            continue;
        }
        let offset = index.find(span, block.size_bytes, block.align_bytes, fit);
        if offset + block.size_bytes <= capacity {
            places[i as usize] = offset;
            index.insert(span, (offset, offset + block.size_bytes));
        } else {
            failed.push(i);
        }
        let late = at % 256 == 0 && deadline.is_some_and(|d| Instant::now() >= d);
        if late || failed.len() > most {
            failed.push(i);
            break;
        }
    }
    (places, failed)
}
