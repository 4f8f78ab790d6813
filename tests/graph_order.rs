//! The order of operators: what the search finds, that it is valid, and that it is never worse than what was
//! given.

mod support;

use std::sync::Arc;
use std::time::Duration;
use sublet::exec::{CpuHost, CpuNetwork, Layout, Program, audit};
use sublet::graph::passes::{Order, Passes};
use sublet::graph::{BinaryOp, Graph, Node, Op, UnaryOp, ValueId, usage};
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Plan, Planner, bound};
use support::block_on;
use support::graphs::Builder;
use support::random_graph;
use support::random_problem::Random;

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
const GIVEN: Passes = Passes { fuse: false, ..Passes::ALL };
const MEMORY: Passes = Passes { order: Order::Memory, ..GIVEN };

fn memory(passes: Passes) -> Passes {
    Passes { order: Order::Memory, ..passes }
}

fn program(graph: &Graph, passes: Passes, layout: Layout) -> Arc<Program> {
    let (graph, sharing) = layout.allows(passes).apply(graph.clone()).unwrap();
    graph.check().unwrap();
    let alignment = layout.alignment(32).unwrap();
    Arc::new(Program::sharing(graph, sharing, alignment, LIMITS).unwrap().with_layout(layout).unwrap())
}

fn plan(program: &Program) -> Plan {
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    plan.validate(&program.usage.problem).unwrap();
    plan
}

/// Max load and peak, with no padding.
fn worth(graph: &Graph, passes: Passes) -> (u64, u64) {
    let (graph, sharing) = passes.apply(graph.clone()).unwrap();
    let problem = usage(&graph, Alignment::ONE, &sharing).unwrap().problem;
    let plan = Planner::auto().plan(&problem).unwrap();
    plan.validate(&problem).unwrap();
    (bound::max_load(&problem), plan.peak_bytes())
}

fn names(graph: &Graph, passes: Passes) -> Vec<String> {
    let (graph, _) = passes.apply(graph.clone()).unwrap();
    graph.nodes.into_iter().map(|n| n.name).collect()
}

/// A matrix product with constant weights: every output element needs the whole input.
fn dense(b: &mut Builder, name: &str, input: ValueId, len: usize) -> ValueId {
    let before = b.0.get(input).shape[1];
    let weights = (0..before * len).map(|i| (i % 7) as f32 * 0.1 - 0.3).collect();
    let w = b.constant(&format!("{name}_w"), &[before, len], weights);
    b.op(name, Op::MatMul { activation: None }, &[input, w], &[1, len])
}

/// Moves a node to another step.
fn moved(mut graph: Graph, name: &str, to: usize) -> Graph {
    let at = graph.nodes.iter().position(|n| n.name == format!("{name}_node")).unwrap();
    let node = graph.nodes.remove(at);
    graph.nodes.insert(to, node);
    graph.check().unwrap();
    graph
}

/// Case 25 of the collected reports: a bottleneck block over tensors of 100, 100, 25, 100 and 100 elements.
/// M narrows what L computes, N widens it again, P takes L by the short way; P before N lets L go earlier.
#[test]
fn case_25_the_better_order_of_a_bottleneck_is_found() {
    let mut b = Builder::new("bottleneck");
    let x = b.input("x", &[1, 10]);
    let start = dense(&mut b, "start", x, 100);
    let l = dense(&mut b, "L", start, 100);
    let m = dense(&mut b, "M", l, 25);
    let n = dense(&mut b, "N", m, 100);
    let p = dense(&mut b, "P", l, 100);
    let end = b.op("end", Op::Binary(BinaryOp::Add), &[n, p], &[1, 100]);
    let lmnp = b.output(&[end]);
    let lmpn = moved(lmnp.clone(), "P", 3);
    assert_eq!(worth(&lmnp, GIVEN), (1200, 1200));
    assert_eq!(worth(&lmpn, GIVEN), (900, 900));
    for given in [&lmnp, &lmpn] {
        assert_eq!(worth(given, MEMORY), (900, 900));
        assert_eq!(names(given, MEMORY), names(&lmpn, GIVEN));
    }
}

/// A deadline ends the search and nothing else: with no time the order given stays, with an age of it what is
/// found is what no deadline finds.
#[test]
fn a_deadline_ends_the_search() {
    let within = |time| Passes { order: Order::MemoryWithin(time), ..GIVEN };
    let mut found = 0;
    for seed in 0..6 {
        let graph = random_graph::draw(&mut Random(seed ^ 0xabc), 20 + 10 * seed as usize);
        assert_eq!(names(&graph, within(Duration::ZERO)), names(&graph, GIVEN), "seed {seed}");
        assert_eq!(names(&graph, within(Duration::MAX)), names(&graph, MEMORY), "seed {seed}");
        found += usize::from(names(&graph, MEMORY) != names(&graph, GIVEN));
    }
    assert!(found >= 3, "{found}");
}

/// Seven operators over small tensors (1568, 3136, 1568, 512, 512, 256, 256 and 512 bytes), where one branch
/// first takes 5216 bytes and the other 4960.
#[test]
fn seven_operators_take_4960_bytes_instead_of_5216() {
    let mut b = Builder::new("seven");
    let t0 = b.input("t0", &[1, 392]);
    let t1 = dense(&mut b, "t1", t0, 784);
    let t2 = dense(&mut b, "t2", t1, 392);
    let t3 = dense(&mut b, "t3", t2, 128);
    let t4 = dense(&mut b, "t4", t1, 128);
    let t5 = dense(&mut b, "t5", t3, 64);
    let t6 = dense(&mut b, "t6", t4, 64);
    let t7 = b.op("t7", Op::Concat { axis: 1 }, &[t5, t6], &[1, 128]);
    let graph = b.output(&[t7]);
    assert_eq!(worth(&graph, Passes::NONE), (5216, 5216));
    assert_eq!(worth(&graph, memory(Passes::NONE)), (4960, 4960));
    // With everything shared, t5 and t6 are written into the caller's buffer, and nothing is left of them.
    assert_eq!(worth(&graph, GIVEN), (5216, 5216));
    assert_eq!(worth(&graph, MEMORY), (4704, 4704));
}

/// Calls back with every order of the nodes that their data allow.
fn all_orders(graph: &Graph, done: &mut Vec<Node>, left: &[Node], visit: &mut dyn FnMut(Graph)) {
    if left.is_empty() {
        visit(Graph { nodes: done.clone(), ..graph.clone() });
    }
    for (at, node) in left.iter().enumerate() {
        let written = |id: &ValueId| left.iter().all(|n| !n.outputs.contains(id));
        if node.inputs.iter().all(written) {
            let mut rest = left.to_vec();
            done.push(rest.remove(at));
            all_orders(graph, done, &rest, visit);
            done.pop();
        }
    }
}

fn load(graph: Graph, passes: Passes) -> u64 {
    let sharing = passes.share(&graph);
    bound::max_load(&usage(&graph, Alignment::ONE, &sharing).unwrap().problem)
}

/// Where sharing leaves nothing to choose, the order found is the lowest of all; else hardly ever above it.
#[test]
fn small_graphs_get_the_lowest_of_all_orders() {
    let (mut lower, mut missed, mut all) = (0, 0, 0);
    for seed in 0..250 {
        let graph = random_graph::draw(&mut Random(seed), 4 + seed as usize % 4);
        for passes in [Passes::NONE, Passes { in_place: true, ..Passes::NONE }, GIVEN] {
            let mut lowest = u64::MAX;
            let mut visit = |graph| lowest = lowest.min(load(graph, passes));
            all_orders(&graph, &mut Vec::new(), &graph.nodes, &mut visit);
            let (given, found) = (load(graph.clone(), passes), worth(&graph, memory(passes)).0);
            lower += usize::from(found < given);
            assert!(lowest <= found && found <= given, "seed {seed}: {lowest} {found} {given}");
            if passes.views {
                all += 1;
                missed += usize::from(lowest < found);
            } else {
                assert_eq!(found, lowest, "seed {seed}");
            }
        }
    }
    assert!(lower > 50, "{lower}");
    assert!(missed * 50 <= all, "{missed} of {all}");
}

fn run(program: &Arc<Program>) -> Vec<Vec<u32>> {
    let outputs = CpuNetwork::new(program.clone(), &plan(program)).unwrap().run(&program.default_inputs());
    outputs.unwrap().into_iter().map(|o| o.into_iter().map(f32::to_bits).collect()).collect()
}

/// Another order computes the same bits, in every layout, and passes the audit.
#[test]
fn another_order_changes_no_bit() {
    let mut changed = 0;
    for seed in 0..120 {
        let graph = random_graph::draw(&mut Random(seed ^ 0x0d0e), 4 + seed as usize % 24);
        let plain = run(&program(&graph, Passes::NONE, Layout::Shared));
        changed += usize::from(names(&graph, GIVEN) != names(&graph, MEMORY));
        for layout in Layout::ALL {
            let ordered = program(&graph, MEMORY, *layout);
            assert_eq!(run(&ordered), plain, "seed {seed}, {}", layout.key());
            let (plan, inputs) = (plan(&ordered), ordered.default_inputs());
            let found = block_on(audit(&CpuHost(ordered), &plan, &inputs, &CpuHost::LIMITS)).unwrap();
            assert!(found.ok(), "seed {seed}, {}: {found:?}", layout.key());
        }
    }
    assert!(changed > 20, "{changed}");
}

/// Neither max load nor peak rises, whatever the size; the same graph gives the same order.
#[test]
fn no_order_is_worse_than_the_one_given() {
    let mut lower = 0;
    for seed in 0..14 {
        let graph = random_graph::draw(&mut Random(seed ^ 0xabc), 10 + 10 * seed as usize);
        for passes in [Passes::NONE, GIVEN] {
            let (given, found) = (worth(&graph, passes), worth(&graph, memory(passes)));
            assert!(found.0 <= given.0 && found.1 <= given.1, "seed {seed}: {found:?} against {given:?}");
            lower += usize::from(found.1 < given.1);
        }
        if seed % 10 == 0 {
            assert_eq!(names(&graph, MEMORY), names(&graph, MEMORY), "seed {seed}");
        }
    }
    assert!(lower >= 10, "{lower}");
}

/// An order that is the only one, or whose every step needs what it takes, stays.
#[test]
fn an_order_that_cannot_be_beaten_stays() {
    let chain = support::graphs::chain(100, 30);
    assert_eq!(names(&chain, MEMORY), names(&chain, GIVEN));
    let mut b = Builder::new("equal");
    let x = b.input("x", &[8]);
    let parts: Vec<ValueId> =
        (0..6).map(|i| b.op(&format!("p{i}"), Op::Unary(UnaryOp::Tanh), &[x], &[8])).collect();
    let end = b.op("end", Op::Sum, &parts, &[8]);
    let equal = b.output(&[end]);
    assert_eq!(names(&equal, MEMORY), names(&equal, GIVEN));
}
