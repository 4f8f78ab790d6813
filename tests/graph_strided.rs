//! Concatenations along an inner axis whose inputs are written where they belong, row by row.

mod support;

use std::sync::Arc;
use sublet::exec::{CpuHost, CpuNetwork, Layout, Program, audit, mutate};
use sublet::graph::passes::Passes;
use sublet::graph::{BinaryOp, Graph, Op, Rows, UnaryOp, ValueId};
use sublet::kernel::{LowerLimits, run_twin};
use sublet::plan::{Alignment, Planner, bound};
use support::graphs::Builder;
use support::{block_on, random_graph, random_problem::Random, strided};

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
const WITHOUT: Passes = Passes { strided: false, ..Passes::ALL };

fn program_within(graph: &Graph, passes: Passes, layout: Layout, limits: LowerLimits) -> Arc<Program> {
    let (graph, sharing) = layout.allows(passes).apply(graph.clone()).unwrap();
    let alignment = layout.alignment(32).unwrap();
    Arc::new(Program::sharing(graph, sharing, alignment, limits).unwrap().with_layout(layout).unwrap())
}

fn program(graph: &Graph, passes: Passes) -> Arc<Program> {
    program_within(graph, passes, Layout::Shared, LIMITS)
}

fn run(program: &Arc<Program>) -> Vec<Vec<u32>> {
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    plan.validate(&program.usage.problem).unwrap();
    let outputs = CpuNetwork::new(program.clone(), &plan).unwrap().run(&program.default_inputs()).unwrap();
    outputs.into_iter().map(|o| o.into_iter().map(f32::to_bits).collect()).collect()
}

fn named(graph: &Graph, name: &str) -> ValueId {
    let at = graph.values.iter().position(|v| v.name == name).unwrap();
    ValueId(at as u32)
}

/// Names of the values that lie in rows.
fn in_rows(graph: &Graph, passes: Passes) -> Vec<&str> {
    let sharing = passes.share(graph);
    let written = graph.nodes.iter().flat_map(|n| &n.outputs);
    written.filter(|id| sharing.rows(**id).is_some()).map(|id| &graph.get(*id).name[..]).collect()
}

fn copies(program: &Program) -> usize {
    let steps = program.steps.iter().zip(&program.graph.nodes);
    steps
        .filter(|(_, node)| matches!(node.op, Op::Concat { .. }))
        .map(|(dispatches, _)| dispatches.len())
        .sum()
}

#[test]
fn rows_know_their_places_and_strides() {
    let rows = Rows { len: 6, stride: 10 };
    assert_eq!([0, 5, 6, 12].map(|i| rows.place(i)), [0, 5, 10, 20]);
    assert_eq!([0, 1, 6, 7, 12].map(|len| rows.span(len)), [0, 1, 6, 11, 16]);
    assert_eq!(rows.strides(&[4, 2, 3]), Some(vec![10, 3, 1]));
    assert_eq!(rows.strides(&[2, 2, 1, 6]), Some(vec![20, 10, 10, 1]));
    assert_eq!(rows.strides(&[4, 6]), Some(vec![10, 1]));
    assert_eq!(rows.strides(&[3, 8]), None, "a row begins within a dimension");
    assert_eq!(Rows { len: 1, stride: 7 }.strides(&[2, 3]), Some(vec![21, 7]));
}

/// Every kernel family writes its column of one result: nothing is copied, no bit changes, the audit holds
/// and deliberate faults are caught.
#[test]
fn every_family_writes_its_column() {
    for (graph, parts) in [(strided::families(), 12), (strided::heads(), 3)] {
        let passes = Passes { fuse: false, ..Passes::ALL };
        let shared = program(&graph, passes);
        assert_eq!(copies(&shared), 0, "{}", graph.name);
        assert_eq!(copies(&program(&graph, Passes { strided: false, ..passes })), parts, "{}", graph.name);
        let plain = run(&program(&graph, Passes::NONE));
        for layout in Layout::ALL {
            assert_eq!(run(&program_within(&graph, passes, *layout, LIMITS)), plain, "{layout}");
        }
        let plan = Planner::auto().plan(&shared.usage.problem).unwrap();
        let inputs = shared.default_inputs();
        let host = CpuHost(shared);
        let found = block_on(audit(&host, &plan, &inputs, &CpuHost::LIMITS)).unwrap();
        assert!(found.ok(), "{}: {found:?}", graph.name);
        let counts = block_on(mutate(&host, &plan, &inputs, 60)).unwrap();
        assert_eq!(counts.tried, counts.caught, "{}: {counts:?}", graph.name);
        assert!(counts.tried >= 40 && counts.read_later > 10, "{}: {counts:?}", graph.name);
    }
}

/// The twins write in rows what they write in one piece, and nothing between the rows.
#[test]
fn a_twin_in_rows_is_the_twin_spread() {
    let graph = strided::families();
    let (graph, sharing) = Passes { fuse: false, ..Passes::ALL }.apply(graph).unwrap();
    let mut compared = 0;
    for (step, node) in graph.nodes.iter().enumerate() {
        let output = node.outputs[0];
        let Some(rows) = sharing.rows(output).filter(|_| !sharing.is_elided(step, 0)) else { continue };
        let inputs: Vec<Vec<f32>> = node
            .inputs
            .iter()
            .map(|id| (0..graph.get(*id).len()).map(|i| (i % 13) as f32 - 6.0).collect())
            .collect();
        let fetch = |id: ValueId| &inputs[node.inputs.iter().position(|i| *i == id).unwrap()][..];
        let len = graph.get(output).len();
        let mut dense = vec![0.0; len];
        for dispatch in sublet::kernel::lower(&graph, node, LIMITS).unwrap() {
            run_twin(&dispatch, fetch, &mut dense);
        }
        let mut spread = vec![f32::NAN; rows.span(len)];
        for dispatch in sublet::kernel::lower_shared(&graph, step, LIMITS, &sharing).unwrap() {
            assert_eq!(dispatch.rows, Some(rows));
            run_twin(&dispatch, fetch, &mut spread);
        }
        assert!((0..len).all(|i| spread[rows.place(i)].to_bits() == dense[i].to_bits()), "{}", node.name);
        assert_eq!(spread.iter().filter(|v| !v.is_nan()).count(), len, "{}", node.name);
        compared += 1;
    }
    assert_eq!(compared, 12);
}

/// The result lives from its first producer to its last reader.
#[test]
fn the_result_lives_from_its_first_producer_to_its_last_reader() {
    let mut b = Builder::new("lives");
    let x = b.input("x", &[4, 8]);
    let a = b.op("a", Op::Unary(UnaryOp::Tanh), &[x], &[4, 8]);
    let c = b.op("c", Op::Unary(UnaryOp::Relu), &[x], &[4, 8]);
    let joined = b.op("joined", Op::Concat { axis: 1 }, &[a, c], &[4, 16]);
    let mean = b.op("mean", Op::ReduceMean { axes: vec![1] }, &[joined], &[4, 1]);
    let end = b.op("end", Op::Binary(BinaryOp::Add), &[joined, mean], &[4, 16]);
    let graph = b.output(&[end]);
    let shared = program(&graph, Passes::ALL);
    let whole = 4 * 16 * 4;
    assert_eq!(bound::breadths(&shared.usage.problem), [whole, whole, whole, whole + 16, whole + 16]);
    assert_eq!(shared.dispatch_count(), 4);
    let sharing = Passes::ALL.share(&graph);
    let place = |name: &str| (sharing.place(named(&graph, name)), sharing.rows(named(&graph, name)));
    assert_eq!(place("a"), ((joined, 0), Some(Rows { len: 8, stride: 16 })));
    assert_eq!(place("c"), ((joined, 8), Some(Rows { len: 8, stride: 16 })));
}

/// Of two concatenations one has the producer's rows, the other copies them from there; a tensor joined with
/// itself and a part that the caller takes are copied; a result may be a column of another.
#[test]
fn what_is_read_twice_is_copied_once() {
    let graph = strided::shared();
    assert_eq!(in_rows(&graph, Passes::ALL), ["t", "u", "both", "twice", "v"]);
    let shared = program(&graph, Passes::ALL);
    assert_eq!(copies(&shared), 2 + 2 + 1, "t and u once, s twice, w since it is an output");
    assert_eq!(run(&shared), run(&program(&graph, Passes::NONE)));
    let plan = Planner::auto().plan(&shared.usage.problem).unwrap();
    let inputs = shared.default_inputs();
    let host = CpuHost(shared);
    let found = block_on(audit(&host, &plan, &inputs, &CpuHost::LIMITS)).unwrap();
    assert!(found.ok(), "{found:?}");
    let counts = block_on(mutate(&host, &plan, &inputs, 40)).unwrap();
    assert_eq!(counts.caught, counts.tried, "{counts:?}");
}

/// Kernels read what lies in one piece, so whatever else reads a part keeps it apart.
#[test]
fn a_part_with_another_reader_is_copied() {
    let mut b = Builder::new("read");
    let x = b.input("x", &[4, 8]);
    let a = b.op("a", Op::Unary(UnaryOp::Tanh), &[x], &[4, 8]);
    let c = b.op("c", Op::Unary(UnaryOp::Relu), &[a], &[4, 8]);
    let s = b.op("s", Op::Softmax { first_axis: 1, last_axis: 2 }, &[x], &[4, 8]);
    let joined = b.op("joined", Op::Concat { axis: 1 }, &[a, c, s, x], &[4, 32]);
    let end = b.op("end", Op::Unary(UnaryOp::Neg), &[joined], &[4, 32]);
    let graph = b.output(&[end]);
    assert_eq!(
        in_rows(&graph, Passes::ALL),
        ["c"],
        "a has a reader, a softmax reads what it wrote, x is given"
    );
    assert_eq!(run(&program(&graph, Passes::ALL)), run(&program(&graph, Passes::NONE)));
}

/// A result whose own parts lie in it one after the other stays in one piece: as a column it would have to
/// copy them.
#[test]
fn a_column_that_would_cost_its_own_parts_a_copy_is_copied() {
    let mut b = Builder::new("stacked");
    let x = b.input("x", &[2, 8]);
    let op = |b: &mut Builder, name: &str, f: UnaryOp| b.op(name, Op::Unary(f), &[x], &[2, 8]);
    let parts = [UnaryOp::Tanh, UnaryOp::Relu, UnaryOp::Neg].map(|f| op(&mut b, f.name(), f));
    let stack = b.op("stack", Op::Concat { axis: 0 }, &parts, &[6, 8]);
    let other = b.op("other", Op::Expand, &[x], &[3, 2, 8]);
    let other = b.op("flat", Op::Copy, &[other], &[6, 8]);
    let joined = b.op("joined", Op::Concat { axis: 1 }, &[stack, other], &[6, 16]);
    let end = b.op("end", Op::Unary(UnaryOp::Abs), &[joined], &[6, 16]);
    let graph = b.output(&[end]);
    assert_eq!(in_rows(&graph, Passes::ALL), ["other", "flat"]);
    assert_eq!(copies(&program(&graph, Passes::ALL)), 1);
    assert_eq!(run(&program(&graph, Passes::ALL)), run(&program(&graph, Passes::NONE)));
}

/// Where rows reach further than a device binds, they are copied as they were before.
#[test]
fn rows_over_the_binding_limit_are_copied() {
    let mut b = Builder::new("limit");
    let x = b.input("x", &[64, 64]);
    let a = b.op("a", Op::Unary(UnaryOp::Tanh), &[x], &[64, 64]);
    let c = b.op("c", Op::Unary(UnaryOp::Relu), &[x], &[64, 64]);
    let joined = b.op("joined", Op::Concat { axis: 1 }, &[a, c], &[64, 128]);
    let end = b.op("end", Op::Unary(UnaryOp::Neg), &[joined], &[64, 128]);
    let graph = b.output(&[end]);
    let limits = LowerLimits { max_binding_bytes: 64 * 64 * 4, ..LIMITS };
    let cut = program_within(&graph, Passes::ALL, Layout::Shared, limits);
    assert!(copies(&cut) >= 2);
    assert_eq!(copies(&program(&graph, Passes::ALL)), 0);
    assert_eq!(run(&cut), run(&program(&graph, Passes::NONE)));
}

/// Random graphs: no bit changes, the max load never rises, and many concatenations lose their copies.
#[test]
fn random_graphs_keep_their_bits_and_their_load() {
    let (mut rows, mut fewer, mut lower) = (0, 0, 0);
    for seed in 0..1200 {
        let graph = random_graph::draw(&mut Random(seed ^ 0x77), 4 + seed as usize % 24);
        let (with, without) = (program(&graph, Passes::ALL), program(&graph, WITHOUT));
        assert_eq!(run(&with), run(&without), "seed {seed}");
        let load = |program: &Program| bound::max_load(&program.usage.problem);
        assert!(load(&with) <= load(&without), "seed {seed}: {} against {}", load(&with), load(&without));
        lower += usize::from(load(&with) < load(&without));
        fewer += usize::from(with.dispatch_count() < without.dispatch_count());
        rows += in_rows(&graph, Passes::ALL).len();
        if seed % 8 == 0 {
            let plan = Planner::auto().plan(&with.usage.problem).unwrap();
            let inputs = with.default_inputs();
            let host = CpuHost(with);
            let counts = block_on(mutate(&host, &plan, &inputs, 10)).unwrap();
            assert_eq!(counts.judge_caught, counts.tried, "seed {seed}: {counts:?}");
        }
    }
    assert!(rows > 100 && fewer > 75 && lower > 60, "{rows} {fewer} {lower}");
}

#[test]
fn the_pass_can_be_left_out() {
    let graph = strided::families();
    assert!(in_rows(&graph, WITHOUT).is_empty());
    assert!(!in_rows(&graph, Passes { concat: false, ..Passes::ALL }).is_empty(), "and runs alone");
    let problem = &program(&graph, WITHOUT).usage.problem.clone();
    assert_eq!(problem.alignment(), Alignment::new(32).unwrap());
    assert!(problem.lookup("joined").is_some_and(|id| problem.get(id).unwrap().alias().is_none()));
}
