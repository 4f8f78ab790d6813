//! The picture of the load against the load, the searches against all orders.

use super::exact::{Answer, Budget, lowest};
use super::model::{Model, State};
use super::pieces::{Aim, order};
use super::{beam, permuted};
use crate::graph::passes::{Passes, weigh};
use crate::graph::{BinaryOp, Graph, Op, UnaryOp, Value, ValueId};

/// Splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// A graph of vectors of several lengths; a node reads what was written up to `reach` nodes ago.
fn draw(seed: u64, nodes: usize, reach: usize) -> Graph {
    let mut random = Random(seed);
    let mut graph = Graph::new("random");
    let input = graph.value(Value::f32("x", [4]));
    graph.inputs.push(input);
    let mut known = vec![input];
    for n in 0..nodes {
        let from = known.len().saturating_sub(reach);
        let mut any = || known[from + random.below(known.len() - from)];
        let (a, b) = (any(), any());
        let (len, other) = (graph.get(a).len(), graph.get(b).len());
        let (op, inputs, out) = match random.below(9) {
            0 | 1 => (Op::Unary(UnaryOp::Tanh), vec![a], len),
            2 if len == other => (Op::Binary(BinaryOp::Add), vec![a, b], len),
            2 | 3 => (Op::ReduceMean { axes: vec![0] }, vec![a], 1),
            4 if len > 1 => {
                (Op::Slice { starts: vec![1], steps: vec![1] }, vec![a], 1 + random.below(len - 1))
            }
            4 | 5 => (Op::Copy, vec![a], len),
            6 if len == 1 => (Op::Expand, vec![a], 1 + random.below(40)),
            _ if len + other < 60 => (Op::Concat { axis: 0 }, vec![a, b], len + other),
            _ => (Op::Unary(UnaryOp::Relu), vec![a], len),
        };
        let output = graph.value(Value::f32(format!("t{n}"), [out]));
        graph.node(format!("n{n}"), op, inputs, vec![output]);
        known.push(output);
    }
    let read: Vec<ValueId> = graph.nodes.iter().flat_map(|n| n.inputs.clone()).collect();
    graph.outputs = known[1..].iter().copied().filter(|id| !read.contains(id)).collect();
    // Ends without a reader are intermediates in half of the graphs.
    if seed.is_multiple_of(2) {
        graph.outputs.truncate(1);
    }
    graph.check().unwrap();
    graph
}

fn models(seed: u64, nodes: usize, reach: usize) -> Vec<(Graph, crate::graph::Sharing, Model)> {
    let graph = draw(seed, nodes, reach);
    let passes = [Passes::ALL, Passes::NONE, Passes { in_place: true, ..Passes::NONE }];
    let with = |passes: &Passes| {
        let sharing = passes.share(&graph);
        let model = Model::new(&graph, &sharing);
        (graph.clone(), sharing, model)
    };
    passes.iter().map(with).collect()
}

/// The lowest peak by trying every order, and how many there are.
fn by_force(model: &Model, state: &State, peak: u64, best: &mut u64, orders: &mut usize) {
    if state.ready().is_empty() {
        *best = peak.min(*best);
        *orders += 1;
    }
    for node in state.ready() {
        let mut next = state.clone();
        let during = model.cost(state, *node).during_bytes;
        model.execute(&mut next, *node);
        by_force(model, &next, peak.max(during), best, orders);
    }
}

fn given(model: &Model) -> Vec<u32> {
    (0..model.len() as u32).collect()
}

/// A random order.
fn shuffled(model: &Model, random: &mut Random) -> Vec<u32> {
    let mut state = model.start().clone();
    let mut order = Vec::new();
    while !state.ready().is_empty() {
        let node = state.ready()[random.below(state.ready().len())];
        model.execute(&mut state, node);
        order.push(node);
    }
    order
}

/// Under one sharing, the picture is the load that the bound computes, whatever the order.
#[test]
fn the_picture_of_the_load_is_the_load() {
    let mut random = Random(1);
    let mut differ = 0;
    for seed in 0..300 {
        for (graph, sharing, model) in models(seed, 3 + seed as usize % 30, 6) {
            let order = shuffled(&model, &mut random);
            differ += usize::from(order != given(&model));
            let reordered = permuted(&graph, &order);
            reordered.check().unwrap();
            let load = weigh::measure(&reordered, &sharing).0.0;
            assert_eq!(model.peak(order), load, "seed {seed}");
            assert!(model.floor() <= load, "seed {seed}");
        }
    }
    assert!(differ > 500, "{differ}");
}

/// The searches find what trying every order finds, piece by piece or as one.
#[test]
fn the_exact_search_is_exact() {
    let (mut lower, mut most) = (0, 0);
    for seed in 0..400 {
        for (_, _, model) in models(seed, 4 + seed as usize % 6, 5) {
            let (mut best, mut orders) = (u64::MAX, 0);
            by_force(&model, model.start(), 0, &mut best, &mut orders);
            most = most.max(orders);
            let now = model.peak(given(&model));
            lower += usize::from(best < now);
            let answer = lowest(&model, model.floor(), now + 1, &mut Budget::new(1 << 40));
            let Answer::Lowest(found) = answer else { panic!("seed {seed}: {answer:?}") };
            assert_eq!(model.peak(found), best, "seed {seed}");
            for aim in [Aim::Highest, Aim::Everywhere] {
                assert_eq!(
                    model.peak(order(&model, aim, &mut Budget::new(10_000_000))),
                    best,
                    "seed {seed}, {aim:?}"
                );
            }
        }
    }
    assert!(lower > 100 && most > 1_000, "{lower} {most}");
}

/// Where nothing is below the limit, that is the answer; where the budget ends, there is none.
#[test]
fn the_exact_search_knows_what_it_does_not_know() {
    let mut unknown = 0;
    for seed in 0..100 {
        for (_, _, model) in models(seed, 9, 5) {
            let (mut best, mut orders) = (u64::MAX, 0);
            by_force(&model, model.start(), 0, &mut best, &mut orders);
            assert_eq!(lowest(&model, 0, best, &mut Budget::new(1 << 40)), Answer::None);
            for work in [10, 40, 160] {
                match lowest(&model, 0, best + 1, &mut Budget::new(work)) {
                    Answer::Lowest(order) => assert_eq!(model.peak(order), best),
                    Answer::None => panic!("seed {seed}: there is an order"),
                    Answer::Unknown => unknown += 1,
                }
            }
        }
    }
    assert!(unknown > 100, "{unknown}");
}

/// A stretch on its own costs what it costs in the whole.
#[test]
fn a_piece_costs_what_it_costs_in_the_whole() {
    let mut random = Random(2);
    for seed in 0..200 {
        for (_, _, model) in models(seed, 20, 8) {
            let order = shuffled(&model, &mut random);
            let start = random.below(15);
            let end = start + 1 + random.below(20 - start);
            let before = model.walk(order[..start].iter().copied(), |_| {});
            let piece = model.piece(&order[start..end], &before);
            let (mut whole, mut part) = (Vec::new(), Vec::new());
            model.walk(order.iter().copied(), |load| whole.push(load));
            piece.walk(given(&piece), |load| part.push(load));
            assert_eq!(part, whole[start..end], "seed {seed}");
            assert!(piece.floor() <= *part.iter().max().unwrap());
        }
    }
}

/// A node has one place in all orders or it does not.
#[test]
fn cuts_have_one_place_in_all_orders() {
    let mut cuts = 0;
    for seed in 0..100 {
        for (_, _, model) in models(seed, 8, 2) {
            let mut moved = vec![false; model.len()];
            places(&model, model.start(), 0, &mut moved);
            let found = model.cuts();
            cuts += found.iter().filter(|cut| **cut).count();
            assert_eq!(found, moved.iter().map(|m| !m).collect::<Vec<_>>(), "seed {seed}");
        }
    }
    assert!(cuts > 100, "{cuts}");
}

/// Marks the nodes that have another place in some order than the one given.
fn places(model: &Model, state: &State, at: u32, moved: &mut [bool]) {
    for node in state.ready() {
        moved[*node as usize] |= *node != at;
        let mut next = state.clone();
        model.execute(&mut next, *node);
        places(model, &next, at + 1, moved);
    }
}

/// The beam finds valid orders, of low peaks mostly; what it cannot find below the limit it does not claim.
#[test]
fn the_beam_keeps_to_the_limit() {
    let (mut reached, mut all) = (0, 0);
    for seed in 0..100 {
        for (_, _, model) in models(seed, 9, 5) {
            let (mut best, mut orders) = (u64::MAX, 0);
            by_force(&model, model.start(), 0, &mut best, &mut orders);
            assert_eq!(beam::search(&model, 0, best, &mut Budget::new(10_000)), None, "seed {seed}");
            let found = beam::search(&model, 0, u64::MAX, &mut Budget::new(10_000)).unwrap();
            let mut sorted = found.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, given(&model));
            all += 1;
            reached += usize::from(model.peak(found) == best);
        }
    }
    assert!(reached * 100 >= all * 95, "{reached} of {all}");
}

/// Larger graphs, where the budget of the exact search ends: never above the order given, the same twice.
#[test]
fn large_graphs_end_in_valid_orders() {
    let mut lower = 0;
    for seed in 0..2 {
        for (graph, _, model) in models(seed, 300, 60) {
            let now = model.peak(given(&model));
            let found = order(&model, Aim::Highest, &mut Budget::new(10_000_000));
            permuted(&graph, &found).check().unwrap();
            assert_eq!(found, order(&model, Aim::Highest, &mut Budget::new(10_000_000)), "seed {seed}");
            let peak = model.peak(found);
            assert!(peak <= now, "seed {seed}: {peak} against {now}");
            lower += usize::from(peak < now);
        }
    }
    assert!(lower >= 4, "{lower}");
}
