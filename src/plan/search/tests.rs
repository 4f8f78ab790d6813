//! The parts of the search against slower ones, the whole against the judge.

use std::path::Path;
use std::time::Duration;

use crate::plan::clock::Instant;

use proptest::prelude::*;

use super::super::resolve::{Block, Merging, resolve};
use super::super::strategy::gap::Arena;
use super::super::strategy::{by_breadth, by_size, in_order, steps_by_breadth};
use super::super::{Alignment, ArenaId, Plan, Problem, Strategy as Published, Synthetic, csv};
use super::board::Board;
use super::budget::{Clock, Work};
use super::index::{Fit, place};
use super::part::Part;
use super::repair::{OUT, Repair};
use super::sections::Sections;
use super::{Found, Proof, SearchOptions, search};

fn blocks(most: usize, steps: u32) -> impl Strategy<Value = Vec<Block>> {
    let size = prop_oneof![1 => 1u64..400, 1 => (1u64..8).prop_map(|n| n * 64)];
    let block = (size, 0..steps, 0u32..8, 0u32..6, prop::bool::weighted(0.05));
    prop::collection::vec(block, 1..most).prop_map(|drafts| {
        let mut pin_end = 0u64;
        let mut blocks = Vec::new();
        for (size_bytes, first, length, align_log2, pinned) in drafts {
            // Long lives are rare but matter: they are what the index melts together.
            let last = first + if length == 7 { length * 12 } else { length };
            let pin = pinned.then_some(pin_end);
            pin_end = if pinned { (pin_end + size_bytes).next_multiple_of(64) } else { pin_end };
            blocks.push(Block { size_bytes, align_bytes: 1 << align_log2, first, last, pin });
        }
        blocks
    })
}

/// Placement by a scan over all placed blocks.
fn scan(blocks: &[Block], order: &[usize], fit: Fit) -> Vec<u64> {
    let mut offsets: Vec<Option<u64>> = blocks.iter().map(|b| b.pin).collect();
    for i in order.iter().copied().filter(|i| blocks[*i].pin.is_none()) {
        let placed = (0..blocks.len()).filter(|j| offsets[*j].is_some());
        let offset = match fit {
            Fit::Best => {
                let mut arena = Arena::default();
                placed.for_each(|j| arena.insert(blocks, j, offsets[j].unwrap()));
                arena.best_fit(blocks, &blocks[i]).offset_bytes
            }
            Fit::First => {
                let met: Vec<(u64, u64)> = placed
                    .filter(|j| blocks[*j].meets(&blocks[i]))
                    .map(|j| (offsets[j].unwrap(), offsets[j].unwrap() + blocks[j].size_bytes))
                    .collect();
                let ends = met.iter().map(|m| m.1.next_multiple_of(blocks[i].align_bytes)).chain([0]);
                ends.filter(|o| met.iter().all(|m| o + blocks[i].size_bytes <= m.0 || m.1 <= *o))
                    .min()
                    .unwrap()
            }
        };
        offsets[i] = Some(offset);
    }
    offsets.into_iter().map(Option::unwrap).collect()
}

/// The published loop of strip packing, with a list for the blocks and one height a step.
fn strip(blocks: &[Block]) -> Vec<u64> {
    let mut todo: Vec<usize> = (0..blocks.len()).collect();
    todo.sort_by_key(|i| (std::cmp::Reverse(blocks[*i].last - blocks[*i].first), blocks[*i].first, *i));
    let steps = blocks.iter().map(|b| b.last as usize + 1).max().unwrap();
    let (mut heights, mut offsets) = (vec![0u64; steps], vec![0; blocks.len()]);
    // Lines are kept apart where blocks of the same height end and begin, as in the published figures.
    let mut lines: Vec<(usize, usize)> = vec![(0, steps)];
    while !todo.is_empty() {
        let at = (0..lines.len()).min_by_key(|l| (heights[lines[*l].0], lines[*l].0)).unwrap();
        let (start, end) = lines[at];
        let within = |i: &usize| start <= blocks[*i].first as usize && (blocks[*i].last as usize) < end;
        if let Some(found) = todo.iter().position(within) {
            let block = &blocks[todo[found]];
            offsets[todo[found]] = heights[start].next_multiple_of(block.align_bytes);
            let (first, past) = (block.first as usize, block.last as usize + 1);
            heights[first..past].fill(offsets[todo[found]] + block.size_bytes);
            let cut = [(start, first), (first, past), (past, end)];
            lines.splice(at..=at, cut.into_iter().filter(|(s, e)| s < e));
            todo.remove(found);
        } else {
            let neighbours = [at.checked_sub(1), (at + 1 < lines.len()).then_some(at + 1)];
            let lowest = neighbours.into_iter().flatten().map(|l| heights[lines[l].0]).min().unwrap();
            let joins = |l: Option<usize>| l.filter(|l| heights[lines[*l].0] == lowest);
            let (left, right) = (joins(neighbours[0]).unwrap_or(at), joins(neighbours[1]).unwrap_or(at));
            let joined = (lines[left].0, lines[right].1);
            heights[joined.0..joined.1].fill(lowest);
            lines.splice(left..=right, [joined]);
        }
    }
    offsets
}

fn judged(blocks: &[Block], found: &Found) -> Result<(), String> {
    let mut problem = Problem::new(Alignment::ONE);
    for (i, block) in blocks.iter().enumerate() {
        let id = problem.tensor(format!("b{i}"), block.size_bytes, block.first..=block.last).unwrap();
        problem.set_alignment(id, Alignment::new(block.align_bytes).unwrap()).unwrap();
        block.pin.into_iter().for_each(|pin| problem.pin(id, pin).unwrap());
    }
    let places = found.offsets.iter().map(|offset| (ArenaId::new(0), *offset)).collect();
    let plan = Plan::given(&problem, Published::Given, places, vec![found.peak_bytes]);
    plan.validate(&problem).map_err(|e| e.to_string())
}

/// The lowest peak over all orders, each block at the lowest free offset: one of them is an optimum.
fn optimum(blocks: &[Block]) -> u64 {
    fn visit(blocks: &[Block], order: &mut Vec<usize>, at: usize) -> u64 {
        if at == order.len() {
            let offsets = scan(blocks, order, Fit::First);
            return blocks.iter().zip(offsets).map(|(b, o)| b.size_bytes + o).max().unwrap();
        }
        let mut best = u64::MAX;
        for other in at..order.len() {
            order.swap(at, other);
            best = best.min(visit(blocks, order, at + 1));
            order.swap(at, other);
        }
        best
    }
    visit(blocks, &mut (0..blocks.len()).collect(), 0)
}

/// The same cases on every machine; PROPTEST_RNG_SEED draws others by hand.
fn seeded(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = proptest::test_runner::RngSeed::Fixed(2026);
    }
    config
}

proptest! {
    #![proptest_config(seeded(200))]

    #[test]
    fn the_index_places_as_a_scan_does(blocks in blocks(120, 150)) {
        for order in [by_size(&blocks), by_breadth(&blocks), in_order(&blocks)] {
            for fit in [Fit::First, Fit::Best] {
                prop_assert_eq!(place(&blocks, &order, fit), scan(&blocks, &order, fit));
            }
        }
    }

    #[test]
    fn strip_packing_is_as_published(mut blocks in blocks(80, 60)) {
        blocks.iter_mut().for_each(|b| b.pin = None);
        prop_assert_eq!(Published::StripPacking.place(&blocks), strip(&blocks));
    }

    #[test]
    fn breadth_takes_step_after_step(blocks in blocks(80, 60)) {
        let (mut waiting, mut order) = (by_size(&blocks), Vec::new());
        for step in steps_by_breadth(&blocks) {
            let lives = |i: &usize| (blocks[*i].first..=blocks[*i].last).contains(&step);
            order.extend(waiting.iter().copied().filter(lives));
            waiting.retain(|i| !lives(i));
        }
        prop_assert_eq!(by_breadth(&blocks), order);
    }

    #[test]
    fn sections_keep_who_meets_whom(blocks in blocks(80, 150)) {
        let sections = Sections::new(&blocks);
        let board = Board::new(&blocks, &sections);
        let components = sections.components();
        for (i, a) in blocks.iter().enumerate() {
            let met: Vec<usize> = (0..blocks.len()).filter(|j| *j != i && a.meets(&blocks[*j])).collect();
            let mut seen = Vec::new();
            board.neighbours(i, |j| seen.push(j as usize));
            seen.sort_unstable();
            prop_assert_eq!(&seen, &met);
            prop_assert_eq!(board.crowd[i] as usize, met.len().max(1));
            for j in met {
                let component = |i: usize| components[sections.spans[i].0 as usize];
                prop_assert_eq!(component(i), component(j));
            }
        }
        let live = |step| blocks.iter().filter(move |b| (b.first..=b.last).contains(&step));
        let most = blocks.iter().map(|b| live(b.first).map(|b| b.size_bytes).sum::<u64>()).max().unwrap();
        prop_assert_eq!(sections.loads(&blocks).into_iter().max(), Some(most));
    }

    #[test]
    fn repair_ends_under_the_capacity_or_says_no(blocks in blocks(60, 40), extra in 0u64..400) {
        let part = Part::new(blocks);
        let board = Board::new(&part.blocks, &part.sections);
        let capacity = part.loads.iter().copied().max().unwrap_or(0) + extra;
        let offsets = part.blocks.iter().map(|b| b.pin.unwrap_or(OUT)).collect();
        let mut work = Work::new(100_000, Clock::default());
        if let Some(offsets) = Repair::new(&part.blocks, &board).run(offsets, capacity, &mut work) {
            let found = found(offsets, part.peak(&[]).max(capacity));
            prop_assert_eq!(judged(&part.blocks, &found), Ok(()));
        }
    }
}

fn found(offsets: Vec<u64>, peak_bytes: u64) -> Found {
    Found { offsets, peak_bytes, lower_bound_bytes: 0, proof: None, method: super::Method::Naive }
}

proptest! {
    // Fewer: every case may search.
    #![proptest_config(seeded(60))]

    #[test]
    fn whatever_is_found_is_valid_and_the_same_with_two_threads(blocks in blocks(60, 40)) {
        let options = SearchOptions { nodes: 20_000, ..SearchOptions::default() };
        let mut peaks = Vec::new();
        let one = search(&blocks, &options, &mut |p| peaks.push((p.best_peak_bytes, p.lower_bound_bytes)));
        prop_assert_eq!(judged(&blocks, &one), Ok(()));
        prop_assert!(one.lower_bound_bytes <= one.peak_bytes);
        prop_assert_eq!(one.proof.is_some(), one.lower_bound_bytes == one.peak_bytes);
        prop_assert_eq!(peaks.last(), Some(&(one.peak_bytes, one.lower_bound_bytes)));
        prop_assert!(peaks.is_sorted_by(|a, b| a.0 >= b.0 && a.1 <= b.1), "{:?}", peaks);
        let two = search(&blocks, &SearchOptions { threads: 2, ..options }, &mut |_| {});
        prop_assert_eq!(one, two);
    }

    #[test]
    fn small_problems_are_solved(mut blocks in blocks(7, 6), align_log2 in 0u32..5) {
        for block in &mut blocks {
            (block.pin, block.align_bytes) = (None, 1 << align_log2);
        }
        let found = search(&blocks, &SearchOptions::default(), &mut |_| {});
        prop_assert_eq!(judged(&blocks, &found), Ok(()));
        let best = optimum(&blocks);
        prop_assert_eq!(found.peak_bytes, best);
        prop_assert!(found.lower_bound_bytes <= best);
    }
}

fn networks(folder: &Path) -> Vec<(String, Vec<Block>)> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.retain(|p| p.extension().is_some_and(|e| e == "csv"));
    let read = |p: &Path| resolve(&csv::read(p, csv::Options::default()).unwrap(), Merging::None).blocks;
    paths.iter().map(|p| (p.display().to_string(), read(p))).collect()
}

fn check_networks(folder: &Path) {
    let networks = networks(folder);
    assert!(networks.len() >= 10, "{}", folder.display());
    for (name, blocks) in networks {
        let found = search(&blocks, &SearchOptions::default(), &mut |_| {});
        assert_eq!(judged(&blocks, &found), Ok(()), "{name}");
        assert_eq!(found.proof, Some(Proof::Bound("max load")), "{name}: {}", found.peak_bytes);
    }
}

#[test]
fn networks_that_come_with_the_sources_are_at_their_max_load() {
    check_networks(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/networks"));
}

#[test]
fn every_network_is_at_its_max_load() {
    for folder in ["networks", "networks_inplace"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(folder);
        if folder.is_dir() {
            check_networks(&folder);
        } else {
            println!("SKIPPED: {} is not there", folder.display());
        }
    }
}

/// A full rectangle cut into pieces: every section is full, so a wrong place anywhere is one too many.
fn hard(count: usize) -> Vec<Block> {
    let mut random = 1u64;
    let mut below = |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % n
    };
    let mut blocks = vec![Block { size_bytes: 1 << 20, align_bytes: 1, first: 0, last: 99, pin: None }];
    while blocks.len() < count {
        let steps = |b: &Block| u64::from(b.last - b.first + 1);
        let largest = (0..blocks.len()).max_by_key(|i| (blocks[*i].size_bytes * steps(&blocks[*i]), *i));
        let block = blocks.swap_remove(largest.unwrap());
        if steps(&block) > 1 && below(2) == 0 {
            let at = block.first + below(steps(&block) - 1) as u32;
            blocks.extend([Block { last: at, ..block.clone() }, Block { first: at + 1, ..block }]);
        } else {
            let size_bytes = 1 + below(block.size_bytes - 1);
            let rest = block.size_bytes - size_bytes;
            blocks.extend([Block { size_bytes, ..block.clone() }, Block { size_bytes: rest, ..block }]);
        }
    }
    blocks
}

#[test]
fn a_deadline_ends_a_search_that_would_go_on() {
    let blocks = hard(1_000);
    // Far more than can be looked at in the time.
    let options = SearchOptions { nodes: u64::MAX / 2, ..SearchOptions::default() };
    for millis in [0, 30, 300] {
        let started = Instant::now();
        let deadline = Some(started + Duration::from_millis(millis));
        let found = search(&blocks, &SearchOptions { deadline, ..options.clone() }, &mut |_| {});
        let late = started.elapsed().saturating_sub(Duration::from_millis(millis));
        assert_eq!(judged(&blocks, &found), Ok(()));
        assert_eq!(found.proof, None, "too easy to tell anything");
        // Other programs on the machine may hold this one up, hence not 50 ms.
        assert!(late < Duration::from_millis(500), "{millis} ms: {late:?} late");
    }
}

#[test]
fn a_deadline_holds_for_many_tensors() {
    let problem = Synthetic::Uniform.problem(50_000, 1).unwrap();
    let blocks = resolve(&problem, Merging::None).blocks;
    let started = Instant::now();
    let options = SearchOptions { deadline: Some(started), ..SearchOptions::default() };
    let found = search(&blocks, &options, &mut |_| {});
    let elapsed = started.elapsed();
    assert_eq!(judged(&blocks, &found), Ok(()));
    assert!(elapsed < Duration::from_millis(1500), "{elapsed:?} with no time at all");
}

#[test]
fn made_up_records_are_at_their_max_load() {
    for shape in Synthetic::ALL {
        let problem = shape.problem(5_000, 3).unwrap();
        assert_eq!(problem.fingerprint(), shape.problem(5_000, 3).unwrap().fingerprint());
        assert_ne!(problem.fingerprint(), shape.problem(5_000, 4).unwrap().fingerprint());
        let blocks = resolve(&problem, Merging::None).blocks;
        let found = search(&blocks, &SearchOptions::default(), &mut |_| {});
        assert_eq!(judged(&blocks, &found), Ok(()));
        assert!(
            found.proof.is_some(),
            "{}: {} over {}",
            shape.key(),
            found.peak_bytes,
            found.lower_bound_bytes
        );
    }
}

#[test]
fn a_goal_ends_the_search_early() {
    let blocks = hard(300);
    let quick = search(&blocks, &SearchOptions { nodes: 0, ..SearchOptions::default() }, &mut |_| {});
    let options = SearchOptions { capacity_goal: Some(quick.peak_bytes), ..SearchOptions::default() };
    let mut phases = Vec::new();
    let found = search(&blocks, &options, &mut |p| phases.push(p.phase));
    assert!(found.peak_bytes <= quick.peak_bytes);
    assert!(!phases.contains(&super::Phase::Exact), "{phases:?}");
}
