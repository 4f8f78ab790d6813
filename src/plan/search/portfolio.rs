//! Many orders of placement: each is quick, and which of them is good depends on the problem.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::super::ids::align_up;
use super::super::resolve::Block;
use super::super::strategy::{by_breadth, strip_packing};
use super::budget::Clock;
use super::index::{Fit, Index};
use super::part::Part;

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// The largest; of equals the earliest, as the published strategies do.
    Size,
    /// The largest; of equals the latest to end.
    SizeLast,
    /// The largest; of equals the longest.
    SizeLength,
    /// The largest bytes times sections.
    Area,
    /// The longest; of equals the largest.
    Length,
    /// The longest; of equals the earliest.
    LengthFirst,
    /// Powers of two of the length, longest first; among them the largest.
    LengthClass,
    /// Powers of two of the size, largest first; among them the longest.
    SizeClass,
    /// The fullest section that it lives in; of equals the longest.
    LoadLength,
    /// The fullest section that it lives in; of equals the largest.
    LoadSize,
    /// The steps with the most live bytes first.
    Breadth,
    /// Size times the root of the length.
    Weight,
    /// The earliest; of equals the largest.
    First,
}

/// One way to place all blocks; also over time that runs backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rule {
    pub way: Way,
    pub reversed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    Greedy(Order, Fit),
    StripPacking,
}

/// What is tried, the most promising first: on large problems only the first few are affordable.
pub(crate) const RULES: &[Rule] = &[
    rule(Order::Size, Fit::Best, false),
    Rule { way: Way::StripPacking, reversed: false },
    rule(Order::Breadth, Fit::Best, false),
    rule(Order::Length, Fit::Best, false),
    rule(Order::Area, Fit::First, false),
    rule(Order::LoadSize, Fit::First, false),
    rule(Order::LoadLength, Fit::Best, false),
    rule(Order::LengthClass, Fit::Best, false),
    Rule { way: Way::StripPacking, reversed: true },
    rule(Order::Size, Fit::First, false),
    rule(Order::SizeClass, Fit::First, false),
    rule(Order::Weight, Fit::Best, false),
    rule(Order::Breadth, Fit::Best, true),
    rule(Order::LengthFirst, Fit::Best, false),
    rule(Order::First, Fit::Best, false),
    rule(Order::SizeLast, Fit::First, false),
    rule(Order::SizeLength, Fit::First, false),
    rule(Order::Length, Fit::Best, true),
    rule(Order::First, Fit::Best, true),
    rule(Order::LengthClass, Fit::First, true),
    rule(Order::Area, Fit::Best, true),
    rule(Order::Length, Fit::First, false),
    rule(Order::Weight, Fit::First, true),
    rule(Order::Size, Fit::First, true),
];

const fn rule(order: Order, fit: Fit, reversed: bool) -> Rule {
    Rule { way: Way::Greedy(order, fit), reversed }
}

/// The same blocks with time running backwards.
pub(crate) fn reversed(blocks: &[Block]) -> Vec<Block> {
    let end = blocks.iter().map(|b| b.last).max().unwrap_or(0);
    blocks.iter().map(|b| Block { first: end - b.last, last: end - b.first, ..b.clone() }).collect()
}

impl Rule {
    /// One offset a block; `None` where that was stopped.
    pub fn place(self, part: &Part, stop: &Stop) -> Option<Vec<u64>> {
        if !stop.finish && !stop.clock.allows(part.blocks.len()) {
            return None;
        }
        if self.reversed {
            return Rule { reversed: false, ..self }.place(&Part::new(reversed(&part.blocks)), stop);
        }
        match self.way {
            Way::StripPacking => strip_packing::place_until(&part.blocks, &|| stop.clock.is_late()),
            Way::Greedy(order, fit) => place_until(part, &order.of(part), fit, stop),
        }
    }
}

/// When a placement is given up.
#[derive(Debug)]
pub(crate) struct Stop<'a> {
    /// Another plan has that peak; what comes out higher is of no use.
    pub best_bytes: &'a AtomicU64,
    pub clock: Clock,
    /// Finish all the same when it gets late: what is left goes on top of everything.
    pub finish: bool,
}

/// Blocks between two looks at the clock.
const CLOCK_EVERY: usize = 256;

fn place_until(part: &Part, order: &[u32], fit: Fit, stop: &Stop) -> Option<Vec<u64>> {
    let mut index = Index::with_pins(&part.blocks, &part.sections);
    let mut offsets: Vec<u64> = part.blocks.iter().map(|b| b.pin.unwrap_or(0)).collect();
    let mut ceiling = stop.best_bytes.load(Ordering::Relaxed);
    let free = order.iter().map(|i| *i as usize).filter(|i| part.blocks[*i].pin.is_none());
    let mut top = part.peak(&offsets);
    let mut is_late = false;
    for (at, i) in free.enumerate() {
        if at % CLOCK_EVERY == 0 {
            is_late |= stop.clock.is_late();
            if is_late && !stop.finish {
                return None;
            }
            ceiling = stop.best_bytes.load(Ordering::Relaxed);
        }
        let (block, span) = (&part.blocks[i], part.sections.spans[i]);
        let offset = if is_late {
            align_up(top, block.align_bytes)
        } else {
            index.find(span, block.size_bytes, block.align_bytes, fit)
        };
        let end = offset + block.size_bytes;
        if end > ceiling {
            return None;
        }
        if !is_late {
            index.insert(span, (offset, end));
        }
        top = top.max(end);
        offsets[i] = offset;
    }
    Some(offsets)
}

impl Order {
    pub fn of(self, part: &Part) -> Vec<u32> {
        let Part { blocks, sections, loads, .. } = part;
        if self == Order::Breadth {
            return by_breadth(blocks).into_iter().map(|i| i as u32).collect();
        }
        let length = |i: u32| {
            let (first, last) = sections.spans[i as usize];
            u64::from(last - first + 1)
        };
        let size = |i: u32| blocks[i as usize].size_bytes;
        let first = |i: u32| u64::from(blocks[i as usize].first);
        let last = |i: u32| u64::from(blocks[i as usize].last);
        let fullest = Fullest::new(loads);
        // Keys descend; what is to ascend is taken from the largest number.
        let key = |i: u32| -> (u128, u64, u64) {
            match self {
                Order::Size => (size(i).into(), u64::MAX - first(i), 0),
                Order::SizeLast => (size(i).into(), last(i), 0),
                Order::SizeLength => (size(i).into(), length(i), 0),
                Order::Area => (u128::from(size(i)) * u128::from(length(i)), u64::MAX - first(i), 0),
                Order::Length => (length(i).into(), size(i), u64::MAX - first(i)),
                Order::LengthFirst => (length(i).into(), u64::MAX - first(i), size(i)),
                Order::LengthClass => (length(i).ilog2().into(), size(i), u64::MAX - first(i)),
                Order::SizeClass => (size(i).ilog2().into(), length(i), u64::MAX - first(i)),
                Order::LoadLength => (fullest.over(sections.spans[i as usize]).into(), length(i), size(i)),
                Order::LoadSize => (fullest.over(sections.spans[i as usize]).into(), size(i), length(i)),
                Order::Weight => (u128::from(size(i)).pow(2) * u128::from(length(i)), u64::MAX - first(i), 0),
                Order::First => ((u64::MAX - first(i)).into(), size(i), length(i)),
                Order::Breadth => (0, 0, 0),
            }
        };
        let mut order: Vec<u32> = (0..blocks.len() as u32).collect();
        order.sort_by_cached_key(|i| (Reverse(key(*i)), *i));
        order
    }
}

/// Range maxima of the loads.
struct Fullest {
    nodes: Vec<u64>,
    count: usize,
}

impl Fullest {
    fn new(loads: &[u64]) -> Self {
        let count = loads.len();
        let mut nodes = vec![0; count];
        nodes.extend_from_slice(loads);
        for i in (1..count).rev() {
            nodes[i] = nodes[2 * i].max(nodes[2 * i + 1]);
        }
        Fullest { nodes, count }
    }

    fn over(&self, (first, last): (u32, u32)) -> u64 {
        let (mut left, mut right) = (self.count + first as usize, self.count + last as usize + 1);
        let mut most = 0;
        while left < right {
            if left & 1 == 1 {
                most = most.max(self.nodes[left]);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                most = most.max(self.nodes[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        most
    }
}

/// The rule with the lowest peak under `best_bytes`, and its offsets; of equals the first rule.
///
/// Rules are handed out in order until one reaches `floor`. Whatever the threads do, a rule is only given
/// up where another has a lower peak, so the choice does not depend on them.
pub(crate) fn best(
    rules: &[Rule],
    part: &Part,
    best_bytes: u64,
    floor: u64,
    clock: Clock,
    threads: usize,
) -> Option<(Rule, Vec<u64>)> {
    let lowest = AtomicU64::new(best_bytes);
    let next = AtomicUsize::new(0);
    // The first rule known to reach the floor: none behind it matters.
    let enough = AtomicUsize::new(rules.len());
    let results: Mutex<Option<(u64, usize, Vec<u64>)>> = Mutex::new(None);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= rules.len() || at > enough.load(Ordering::Relaxed) {
                break;
            }
            let Some(offsets) = rules[at].place(part, &Stop { best_bytes: &lowest, clock, finish: false })
            else {
                continue;
            };
            let peak = part.peak(&offsets);
            lowest.fetch_min(peak, Ordering::Relaxed);
            if peak <= floor {
                enough.fetch_min(at, Ordering::Relaxed);
            }
            let mut best = results.lock().unwrap_or_else(PoisonError::into_inner);
            if best.as_ref().is_none_or(|(least, rule, _)| (peak, at) < (*least, *rule)) {
                *best = Some((peak, at, offsets));
            }
        }
    };
    if threads <= 1 {
        work();
    } else {
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    }
    let best = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    best.filter(|(peak, _, _)| *peak < best_bytes).map(|(_, at, offsets)| (rules[at], offsets))
}
