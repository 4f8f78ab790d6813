//! The exact search against exhaustive search on small random problems, and every answer against a plain
//! overlap loop.

use super::random::Random;
use super::{Answer, Effort, Item, fits};

fn meet(a: &Item, b: &Item) -> bool {
    a.first <= b.last && b.first <= a.last
}

/// Fails where offsets are no packing below a capacity.
pub(super) fn assert_packing(items: &[Item], offsets: &[u64], capacity: u64) {
    assert_eq!(items.len(), offsets.len());
    for (i, (a, at)) in items.iter().zip(offsets).enumerate() {
        assert!(a.size == 0 || at + a.size <= capacity, "{i} ends at {} above {capacity}", at + a.size);
        assert!(a.pin.is_some_and(|pin| pin == *at) || a.pin.is_none() && at.is_multiple_of(a.align.max(1)));
        for (j, (b, other)) in items.iter().zip(offsets).enumerate().take(i) {
            let apart = at + a.size <= *other || other + b.size <= *at;
            assert!(apart || a.size == 0 || b.size == 0 || !meet(a, b), "{i} and {j} overlap");
        }
    }
}

/// The lowest peak, by first fit over every order of the free items.
fn lowest_peak(items: &[Item]) -> u64 {
    let free: Vec<usize> = (0..items.len()).filter(|i| items[*i].pin.is_none()).collect();
    let mut placed: Vec<(usize, u64)> =
        (0..items.len()).filter_map(|i| items[i].pin.map(|pin| (i, pin))).collect();
    let mut best = u64::MAX;
    every_order(items, free, &mut placed, &mut best);
    best
}

fn every_order(items: &[Item], free: Vec<usize>, placed: &mut Vec<(usize, u64)>, best: &mut u64) {
    if free.is_empty() {
        let peak = placed.iter().map(|(i, at)| at + items[*i].size).max().unwrap_or(0);
        *best = peak.min(*best);
        return;
    }
    for (n, i) in free.iter().enumerate() {
        let mut rest = free.clone();
        rest.remove(n);
        placed.push((*i, first_fit(items, *i, placed)));
        every_order(items, rest, placed, best);
        placed.pop();
    }
}

fn first_fit(items: &[Item], i: usize, placed: &[(usize, u64)]) -> u64 {
    let align = items[i].align.max(1);
    let mut at = 0;
    loop {
        let hit = placed.iter().find(|(j, other)| {
            meet(&items[i], &items[*j]) && at < other + items[*j].size && *other < at + items[i].size
        });
        match hit {
            Some((j, other)) => at = (other + items[*j].size).next_multiple_of(align),
            None => return at,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    items: u64,
    steps: u64,
    size: u64,
    align: fn(&mut Random) -> u64,
    pins: u64,
}

fn random_items(random: &mut Random, shape: &Shape) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for _ in 0..1 + random.below(shape.items) {
        let first = random.below(shape.steps) as u32;
        let last = first + random.below(shape.steps.min(5)) as u32;
        let align = (shape.align)(random);
        items.push(Item { size: 1 + random.below(shape.size), first, last, align, pin: None });
    }
    for i in 0..(shape.pins as usize).min(items.len()) {
        let at = random.below(3 * shape.size).next_multiple_of(items[i].align);
        let clear = items[..i].iter().all(|other| {
            let pin = other.pin.unwrap_or(u64::MAX / 2);
            !meet(other, &items[i]) || at + items[i].size <= pin || pin + other.size <= at
        });
        items[i].pin = clear.then_some(at);
    }
    items
}

fn plenty() -> Effort<'static> {
    Effort { nodes: 1_000_000, deadline: None, cancelled: None }
}

/// At the optimum there is a packing, one byte below there is none.
fn agrees_with_exhaustive_search(shape: &Shape, problems: u64, seed: u64) {
    let mut random = Random(seed);
    for problem in 0..problems {
        let items = random_items(&mut random, shape);
        let best = lowest_peak(&items);
        for slack in [0, 1, 5] {
            match fits(&items, best + slack, &mut plenty()) {
                Answer::Fits(offsets) => assert_packing(&items, &offsets, best + slack),
                other => panic!("{shape:?} {problem}: {other:?} at {best} + {slack}: {items:?}"),
            }
        }
        let below = fits(&items, best - 1, &mut plenty());
        assert_eq!(below, Answer::Impossible, "{shape:?} {problem}: below {best}: {items:?}");
    }
}

#[test]
fn unaligned_problems() {
    for (steps, size) in [(4, 4), (8, 5), (8, 12), (6, 40)] {
        let shape = Shape { items: 7, steps, size, align: |_| 1, pins: 0 };
        agrees_with_exhaustive_search(&shape, 400, steps * 1000 + size);
    }
}

#[test]
fn uniformly_aligned_problems() {
    for size in [12, 40] {
        let shape = Shape { items: 6, steps: 7, size, align: |_| 8, pins: 0 };
        agrees_with_exhaustive_search(&shape, 400, size);
    }
}

#[test]
fn problems_of_mixed_alignment() {
    for size in [5, 12, 40] {
        let shape = Shape { items: 6, steps: 7, size, align: |r| 1 << r.below(5), pins: 0 };
        agrees_with_exhaustive_search(&shape, 400, size);
    }
}

#[test]
fn problems_with_pins() {
    for pins in [1, 2, 3] {
        let shape = Shape { items: 7, steps: 7, size: 9, align: |_| 1, pins };
        agrees_with_exhaustive_search(&shape, 400, pins);
        let mixed = Shape { align: |r| 1 << r.below(4), items: 6, ..shape };
        agrees_with_exhaustive_search(&mixed, 400, pins);
    }
}
