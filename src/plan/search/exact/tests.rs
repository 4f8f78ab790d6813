//! The exact search against exhaustive search on small random problems, and every answer against a plain
//! overlap loop.

use super::random::Random;
use super::{Answer, Effort, Item, fits, minimise};
use crate::plan::search::lower::lower_bound;

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

/// Cuts a rectangle at random until it is in pieces: a packing without a hole, mixed up.
fn cut_rectangle(random: &mut Random, steps: u32, height: u64, cuts: u64) -> Vec<Item> {
    let mut rectangles = vec![(0, steps - 1, height)];
    for _ in 0..cuts {
        let at = random.below(rectangles.len() as u64) as usize;
        let (first, last, size) = rectangles.swap_remove(at);
        if random.below(2) == 0 && first < last {
            let middle = first + random.below(u64::from(last - first)) as u32;
            rectangles.extend([(first, middle, size), (middle + 1, last, size)]);
        } else if size > 1 {
            let low = 1 + random.below(size - 1);
            rectangles.extend([(first, last, low), (first, last, size - low)]);
        } else {
            rectangles.push((first, last, size));
        }
    }
    rectangles.iter().map(|&(first, last, size)| Item { size, first, last, align: 1, pin: None }).collect()
}

#[test]
fn cut_rectangles_fit_again() {
    let mut random = Random(7);
    let mut found = 0;
    for cuts in (10..50).cycle().take(200) {
        let items = cut_rectangle(&mut random, 12, 60, cuts);
        match fits(&items, 60, &mut Effort { nodes: 20_000, ..plenty() }) {
            Answer::Fits(offsets) => {
                assert_packing(&items, &offsets, 60);
                found += 1;
            }
            Answer::Unknown => {}
            Answer::Impossible => panic!("a packing exists: {items:?}"),
        }
    }
    assert!(found >= 190, "found only {found}");
}

#[test]
fn no_nodes_no_answer() {
    let items = cut_rectangle(&mut Random(1), 12, 60, 30);
    assert_eq!(fits(&items, 60, &mut Effort { nodes: 0, ..plenty() }), Answer::Unknown);
    let stopped = std::sync::atomic::AtomicBool::new(true);
    let mut effort = Effort { nodes: 5000, deadline: None, cancelled: Some(&stopped) };
    let stacked = on_top_of_each_other(&items);
    let (offsets, proven) = minimise(&items, &stacked, 60, &mut effort, &mut |_, _| {});
    assert_packing(&items, &offsets, items.iter().map(|i| i.size).sum());
    assert_eq!(proven, 60);
    assert_eq!(effort.nodes, 0);
}

/// One of the hard instances in tests/data/minimalloc.
fn hard(name: &str) -> Vec<Item> {
    let path = format!("{}/tests/data/minimalloc/{name}.1048576.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let number = |field: &str| field.trim().parse::<u64>().unwrap_or_else(|error| panic!("{field}: {error}"));
    text.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<u64> = line.split(',').map(number).collect();
            let (first, last) = (fields[1] as u32, fields[2] as u32 - 1);
            Item { size: fields[3], first, last, align: 1, pin: None }
        })
        .collect()
}

fn on_top_of_each_other(items: &[Item]) -> Vec<u64> {
    let tops = items.iter().scan(0, |top, item| {
        *top += item.size;
        Some(*top - item.size)
    });
    tops.collect()
}

#[test]
fn hard_instances_fit_their_load() {
    for name in ["A", "B", "C", "E", "F", "G", "H", "I", "K"] {
        let items = hard(name);
        let (load, argument) = lower_bound(&items);
        assert_eq!(argument, "max load");
        let mut effort = Effort { nodes: 300_000, ..plenty() };
        match fits(&items, load, &mut effort) {
            Answer::Fits(offsets) => assert_packing(&items, &offsets, load),
            other => panic!("{name}: {other:?} at {load}"),
        }
    }
}

/// Lowers the peak from a stack of everything; every improvement must be one.
fn lowered(name: &str, nodes: u64) -> (u64, u64) {
    let items = hard(name);
    let (load, _) = lower_bound(&items);
    let mut heard = u64::MAX;
    let mut effort = Effort { nodes, ..plenty() };
    let (offsets, proven) =
        minimise(&items, &on_top_of_each_other(&items), load, &mut effort, &mut |at, peak| {
            assert!(peak < heard);
            heard = peak;
            assert_packing(&items, at, peak);
        });
    assert_packing(&items, &offsets, heard);
    assert!(proven >= load && proven <= heard);
    (heard, load)
}

#[test]
fn open_instances_are_lowered() {
    let (peak, load) = lowered("D", 400_000);
    assert_eq!(peak, load);
    // The best that any other planner is known to reach is 1,041,408.
    let (peak, _) = lowered("J", 400_000);
    assert!(peak <= 1_025_024, "{peak}");
}

#[test]
fn minimise_proves_what_it_says() {
    let mut random = Random(3);
    for pins in [0, 1, 2] {
        let shape = Shape { items: 6, steps: 6, size: 20, align: |r| 1 << r.below(4), pins };
        for _ in 0..300 {
            let items = random_items(&mut random, &shape);
            let best = lowest_peak(&items);
            let (bound, argument) = lower_bound(&items);
            assert!(bound <= best, "{argument} {bound} above {best}: {items:?}");
            // Far apart and aligned, above all pins.
            let mut stacked: Vec<u64> = (0..items.len() as u64).map(|i| 1024 + 64 * i).collect();
            items.iter().zip(&mut stacked).for_each(|(item, at)| *at = item.pin.unwrap_or(*at));
            let (offsets, proven) = minimise(&items, &stacked, bound, &mut plenty(), &mut |_, _| {});
            assert_packing(&items, &offsets, best);
            assert_eq!(proven, best, "{items:?}");
        }
    }
}
