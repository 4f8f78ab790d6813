//! Many orders of placement: each is quick, and which of them is good depends on the problem.

use std::cmp::Reverse;

use super::super::resolve::Block;
use super::super::strategy::{Strategy, by_breadth};
use super::index::{Fit, place_in};
use super::sections::Sections;

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
}

/// One way to place all blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    Greedy(Order, Fit),
    /// Time runs backwards.
    Reversed(Order, Fit),
    StripPacking,
    StripPackingReversed,
}

pub(crate) const ORDERS: &[Order] = &[
    Order::Size,
    Order::SizeLast,
    Order::SizeLength,
    Order::Area,
    Order::Length,
    Order::LengthFirst,
    Order::LengthClass,
    Order::SizeClass,
    Order::LoadLength,
    Order::LoadSize,
    Order::Breadth,
    Order::Weight,
];

/// The same blocks with time running backwards.
pub(crate) fn reversed(blocks: &[Block]) -> Vec<Block> {
    let end = blocks.iter().map(|b| b.last).max().unwrap_or(0);
    blocks.iter().map(|b| Block { first: end - b.last, last: end - b.first, ..b.clone() }).collect()
}

impl Rule {
    /// One offset a block.
    pub fn place(self, blocks: &[Block], sections: &Sections, loads: &[u64]) -> Vec<u64> {
        match self {
            Rule::StripPacking => Strategy::StripPacking.place(blocks),
            Rule::StripPackingReversed => Strategy::StripPacking.place(&reversed(blocks)),
            Rule::Greedy(order, fit) => {
                let order = order.of(blocks, sections, loads);
                place_in(blocks, sections, order.into_iter().map(|i| i as usize), fit)
            }
            Rule::Reversed(order, fit) => {
                let blocks = reversed(blocks);
                let sections = Sections::new(&blocks);
                let loads = sections.loads(&blocks);
                Rule::Greedy(order, fit).place(&blocks, &sections, &loads)
            }
        }
    }
}

impl Order {
    pub fn of(self, blocks: &[Block], sections: &Sections, loads: &[u64]) -> Vec<u32> {
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
