//! Passes: what shares storage, that it changes no bit, and that it never costs a byte of max load.

mod support;

use std::sync::Arc;
use sublet::exec::{CpuHost, CpuNetwork, Layout, Program, audit};
use sublet::graph::passes::Passes;
use sublet::graph::{BinaryOp, Graph, Op, Sharing, UnaryOp, ValueId};
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner, bound};
use support::block_on;
use support::graphs::Builder;
use support::random_graph;
use support::random_problem::Random;

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };

fn program(graph: &Graph, passes: Passes, layout: Layout) -> Arc<Program> {
    let (graph, sharing) = layout.allows(passes).apply(graph.clone()).unwrap();
    let alignment = layout.alignment(32).unwrap();
    Arc::new(Program::sharing(graph, sharing, alignment, LIMITS).unwrap().with_layout(layout).unwrap())
}

fn run(program: &Arc<Program>) -> Vec<Vec<u32>> {
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    plan.validate(&program.usage.problem).unwrap();
    let outputs = CpuNetwork::new(program.clone(), &plan).unwrap().run(&program.default_inputs()).unwrap();
    outputs.into_iter().map(|o| o.into_iter().map(f32::to_bits).collect()).collect()
}

fn load(program: &Program) -> u64 {
    bound::max_load(&program.usage.problem)
}

fn share(graph: &Graph) -> Sharing {
    Passes::ALL.share(graph)
}

fn named(graph: &Graph, name: &str) -> ValueId {
    let at = graph.values.iter().position(|v| v.name == name).unwrap();
    ValueId(at as u32)
}

/// What shares storage computes the same bits, in every layout, and passes the audit.
#[test]
fn passes_change_no_bit_of_random_graphs() {
    let (mut views, mut elided, mut in_place) = (0, 0, 0);
    for seed in 0..400 {
        let graph = random_graph::draw(&mut Random(seed), 3 + seed as usize % 22);
        let plain = run(&program(&graph, Passes::NONE, Layout::Shared));
        for layout in Layout::ALL {
            let shared = program(&graph, Passes { fuse: false, ..Passes::ALL }, *layout);
            assert_eq!(run(&shared), plain, "seed {seed}, {}", layout.key());
            let plan = Planner::auto().plan(&shared.usage.problem).unwrap();
            let inputs = shared.default_inputs();
            let found = block_on(audit(&CpuHost(shared), &plan, &inputs, &CpuHost::LIMITS)).unwrap();
            assert!(found.ok(), "seed {seed}, {}: {found:?}", layout.key());
        }
        let sharing = share(&graph);
        views += sharing.views().count();
        elided += (0..graph.nodes.len()).filter(|n| sharing.touches(*n)).count();
        in_place += sharing.in_place().len();
    }
    assert!(views > 1_000 && elided > 1_000 && in_place > 200, "{views} {elided} {in_place}");
}

#[test]
fn passes_never_raise_the_max_load() {
    let mut lower = 0;
    for seed in 0..400 {
        let graph = random_graph::draw(&mut Random(seed ^ 0x5a5a), 3 + seed as usize % 30);
        let none = load(&program(&graph, Passes::NONE, Layout::Shared));
        let all = load(&program(&graph, Passes { fuse: false, ..Passes::ALL }, Layout::Shared));
        assert!(all <= none, "seed {seed}: {all} against {none}");
        lower += usize::from(all < none);
    }
    assert!(lower > 200, "{lower}");
}

/// Case 24 of the collected reports: along the first axis a concatenation costs no copy and no byte, along
/// the last one copy of each input, unless the inputs are written there row by row.
#[test]
fn case_24_a_concat_along_the_first_axis_costs_nothing_along_the_last_one_copy_each_or_rows() {
    let build = |axis: usize| {
        let mut b = Builder::new("concat");
        let x = b.input("x", &[16, 128, 768]);
        let shape = [16, 128, 768];
        let parts: Vec<ValueId> =
            (0..3).map(|i| b.op(&format!("p{i}"), Op::Unary(UnaryOp::Tanh), &[x], &shape)).collect();
        let mut out = shape;
        out[axis] *= 3;
        let joined = b.op("joined", Op::Concat { axis }, &parts, &out);
        let end = b.op("end", Op::ReduceMean { axes: vec![0, 1, 2] }, &[joined], &[1]);
        b.output(&[end])
    };
    let whole = 16 * 128 * 768 * 3 * 4;
    let first = program(&build(0), Passes::ALL, Layout::Shared);
    assert_eq!(first.steps[3].len(), 0);
    assert_eq!(load(&first), whole);
    let last = program(&build(2), Passes { strided: false, ..Passes::ALL }, Layout::Shared);
    assert_eq!(last.steps[3].len(), 3);
    assert_eq!(load(&last), 2 * whole);
    let rows = program(&build(2), Passes::ALL, Layout::Shared);
    assert_eq!(rows.steps[3].len(), 0);
    assert_eq!(load(&rows), whole);
}

/// A producer that feeds two concatenations is written into one and copied into the other.
#[test]
fn a_producer_of_two_concats_is_copied_once() {
    let mut b = Builder::new("two");
    let x = b.input("x", &[1, 8]);
    let t = b.op("t", Op::Unary(UnaryOp::Tanh), &[x], &[1, 8]);
    let u = b.op("u", Op::Unary(UnaryOp::Relu), &[x], &[1, 8]);
    let one = b.op("one", Op::Concat { axis: 1 }, &[t, u], &[1, 16]);
    let two = b.op("two", Op::Concat { axis: 1 }, &[u, t], &[1, 16]);
    let end = b.op("end", Op::Binary(BinaryOp::Add), &[one, two], &[1, 16]);
    let graph = b.output(&[end]);
    let shared = program(&graph, Passes::ALL, Layout::Shared);
    assert_eq!(shared.steps[2].len() + shared.steps[3].len(), 2, "each of t and u is copied once");
    assert_eq!(run(&shared), run(&program(&graph, Passes::NONE, Layout::Shared)));
}

/// Blocks in which each layer reads all that came before: every concatenation is a part of the last one.
#[test]
fn nested_concats_are_parts_of_the_last() {
    let mut b = Builder::new("dense");
    let x = b.input("x", &[1, 4, 8]);
    let mut features = vec![b.op("f0", Op::Unary(UnaryOp::Tanh), &[x], &[1, 4, 8])];
    let mut joined = features[0];
    for layer in 1..5 {
        let rows = 4 * layer;
        let mean = b.op(&format!("m{layer}"), Op::ReduceMean { axes: vec![1] }, &[joined], &[1, 1, 8]);
        let wide = b.op(&format!("f{layer}"), Op::Expand, &[mean], &[1, 4, 8]);
        features.push(wide);
        joined = b.op(&format!("j{layer}"), Op::Concat { axis: 1 }, &features, &[1, rows + 4, 8]);
    }
    let end = b.op("end", Op::ReduceMean { axes: vec![0, 1, 2] }, &[joined], &[1]);
    let graph = b.output(&[end]);
    let sharing = share(&graph);
    let last = named(&graph, "j4");
    for (i, name) in ["f0", "f1", "f2", "f3", "f4"].iter().enumerate() {
        assert_eq!(sharing.place(named(&graph, name)), (last, i * 32), "{name}");
    }
    for name in ["j1", "j2", "j3"] {
        assert_eq!(sharing.place(named(&graph, name)), (last, 0), "{name}");
    }
    let copies: usize = program(&graph, Passes::ALL, Layout::Shared)
        .steps
        .iter()
        .zip(&graph.nodes)
        .filter(|(_, node)| matches!(node.op, Op::Concat { .. }))
        .map(|(dispatches, _)| dispatches.len())
        .sum();
    assert_eq!(copies, 0);
}

/// Case 9 of the collected reports: an input that another node still reads is not given away.
#[test]
fn case_9_an_input_with_a_later_reader_is_not_written_over() {
    let mut b = Builder::new("later");
    let x = b.input("x", &[64]);
    let t = b.op("t", Op::Unary(UnaryOp::Tanh), &[x], &[64]);
    let d = b.op("d", Op::Unary(UnaryOp::Relu), &[t], &[64]);
    let e = b.op("e", Op::Binary(BinaryOp::Add), &[t, d], &[64]);
    let end = b.op("end", Op::Unary(UnaryOp::Neg), &[e], &[64]);
    let graph = b.output(&[end]);
    let shared = program(&graph, Passes::ALL, Layout::Shared);
    let problem = &shared.usage.problem;
    let inputs = |name: &str| problem.get(problem.lookup(name).unwrap()).unwrap().in_place().to_vec();
    assert!(inputs("d").is_empty());
    assert_eq!(inputs("e").len(), 2);
    assert_eq!(Planner::auto().plan(problem).unwrap().peak_bytes(), 512);
}

/// Two siblings of one input, of which only the last reader may take its bytes; views of it count as readers.
#[test]
fn siblings_and_views_of_an_input_keep_it_alive() {
    let mut b = Builder::new("siblings");
    let x = b.input("x", &[8, 8]);
    let t = b.op("t", Op::Unary(UnaryOp::Tanh), &[x], &[8, 8]);
    let flat = b.op("flat", Op::Copy, &[t], &[64]);
    let one = b.op("one", Op::Unary(UnaryOp::Neg), &[t], &[8, 8]);
    let two = b.op("two", Op::Unary(UnaryOp::Relu), &[flat], &[64]);
    let shaped = b.op("shaped", Op::Copy, &[two], &[8, 8]);
    let end = b.op("end", Op::Binary(BinaryOp::Sub), &[one, shaped], &[8, 8]);
    let graph = b.output(&[end]);
    let shared = program(&graph, Passes::ALL, Layout::Shared);
    let plan = Planner::auto().plan(&shared.usage.problem).unwrap();
    let offset = |name: &str| plan.offset_bytes(shared.usage.problem.lookup(name).unwrap());
    assert_ne!(offset("one"), offset("t"), "flat is read after one is written");
    assert_eq!(offset("two"), offset("flat"), "nothing reads t or flat after two");
    assert_eq!(plan.peak_bytes(), 512);
    assert_eq!(run(&shared), run(&program(&graph, Passes::NONE, Layout::Shared)));
}

/// A graph output has a buffer of the caller's: what is reshaped into it is written there at once, and a
/// value that is output and read later keeps its bytes.
#[test]
fn outputs_are_written_in_the_callers_buffer() {
    let mut b = Builder::new("outputs");
    let x = b.input("x", &[4, 4]);
    let t = b.op("t", Op::Unary(UnaryOp::Tanh), &[x], &[4, 4]);
    let out = b.op("out", Op::Copy, &[t], &[16]);
    let next = b.op("next", Op::Unary(UnaryOp::Neg), &[t], &[4, 4]);
    let graph = b.output(&[out, next]);
    let shared = program(&graph, Passes::ALL, Layout::Shared);
    assert_eq!(shared.usage.problem.len(), 0, "nothing is left to plan");
    assert_eq!(shared.steps[1].len(), 0);
    assert_eq!(run(&shared), run(&program(&graph, Passes::NONE, Layout::Shared)));
}

/// A small slice of a large tensor that lives for long is copied: as a view it would keep all of it.
#[test]
fn a_view_that_would_cost_more_than_its_copy_is_copied() {
    let mut b = Builder::new("slice");
    let x = b.input("x", &[1024]);
    let big = b.op("big", Op::Unary(UnaryOp::Tanh), &[x], &[1024]);
    let small = b.op("small", Op::Slice { starts: vec![8], steps: vec![1] }, &[big], &[8]);
    let other = b.op("other", Op::Unary(UnaryOp::Neg), &[x], &[1024]);
    let mean = b.op("mean", Op::ReduceMean { axes: vec![0] }, &[other], &[1]);
    let end = b.op("end", Op::Binary(BinaryOp::Add), &[small, mean], &[8]);
    let graph = b.output(&[end]);
    let shared = program(&graph, Passes::ALL, Layout::Shared);
    assert_eq!(shared.steps[1].len(), 1);
    assert_eq!(load(&shared), 4096 + 32 + 4, "other, small and mean");
}

#[test]
fn without_passes_every_value_has_storage_of_its_own() {
    let graph = random_graph::draw(&mut Random(7), 20);
    let plain = Program::new(graph, Alignment::new(32).unwrap(), LIMITS).unwrap();
    let tensors = plain.usage.problem.tensors();
    assert!(!tensors.is_empty());
    assert!(tensors.iter().all(|t| t.alias().is_none() && t.in_place().is_empty()));
}
