//! The CPU executor and the audit, on the CPU.

mod support;

use std::sync::Arc;
use sublet::exec::{CpuHost, CpuNetwork, ExecError, Host, Program, WeightMap, audit, bind, mutate, watch};
use sublet::graph::Graph;
use sublet::kernel::LowerLimits;
use sublet::model::zoo;
use sublet::plan::{Alignment, Plan, Planner, Strategy, Violation};
use support::block_on;
use support::graphs::{Builder, chain, odd_shapes, same_tensor_twice, same_tensor_twice_expected};

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };

fn compile(graph: Graph, strategy: Strategy) -> (Arc<Program>, Plan) {
    let program = Program::new(graph, Alignment::new(256).unwrap(), LIMITS).unwrap();
    let plan = Planner::new(strategy).plan(&program.usage.problem).unwrap();
    (Arc::new(program), plan)
}

/// Case 8 of the collected reports: add(x, x).
#[test]
fn the_same_tensor_may_be_read_twice() {
    let x = [-1.0, 2.0, 0.5, -3.0, 4.0];
    let (program, plan) = compile(same_tensor_twice(5), Strategy::GreedyBySize);
    let outputs = CpuNetwork::new(program, &plan).unwrap().run(&[x.to_vec()]).unwrap();
    assert_eq!(outputs, [same_tensor_twice_expected(&x)]);
}

#[test]
fn scalars_empty_tensors_and_unused_outputs_work() {
    let (program, plan) = compile(odd_shapes(), Strategy::GreedyBySize);
    let inputs = vec![vec![3.0], vec![], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]];
    let outputs = CpuNetwork::new(program.clone(), &plan).unwrap().run(&inputs).unwrap();
    assert_eq!(outputs, [vec![6.0], vec![7.0, 8.0, 9.0, 10.0, 11.0, 12.0], vec![]]);
    let found = block_on(audit(&CpuHost(program), &plan, &inputs, &CpuHost::LIMITS)).unwrap();
    assert!(found.ok(), "{found:?}");
}

#[test]
fn every_strategy_passes_the_audit() {
    for strategy in Strategy::ALL {
        let (program, plan) = compile(same_tensor_twice(300), *strategy);
        let inputs = program.default_inputs();
        let found = block_on(audit(&CpuHost(program.clone()), &plan, &inputs, &CpuHost::LIMITS)).unwrap();
        assert!(found.ok(), "{strategy}: {found:?}");
        assert_eq!(found.tensors_compared, program.graph.nodes.len());
        assert_eq!(found.steps_watched, program.graph.nodes.len());
    }
}

#[test]
fn planted_faults_are_caught_by_judge_and_run() {
    let (program, plan) = compile(same_tensor_twice(300), Strategy::GreedyBySize);
    let inputs = program.default_inputs();
    let counts = block_on(mutate(&CpuHost(program), &plan, &inputs, 20)).unwrap();
    assert_eq!(counts.tried, 20);
    assert_eq!(counts.judge_caught, 20);
    assert!(counts.read_later > 5, "{counts:?}");
    assert_eq!(counts.run_caught, counts.read_later, "{counts:?}");
}

/// The negative control of the audit itself: a plan whose tensors all lie on one another must not pass.
#[test]
fn an_overlapping_plan_fails_with_the_first_bad_step_and_neighbour() {
    let (program, plan) = compile(same_tensor_twice(300), Strategy::GreedyBySize);
    let problem = &program.usage.problem;
    let (t, d) = (problem.lookup("t").unwrap(), problem.lookup("d").unwrap());
    let bad = plan.with_offset(d, plan.arena(t), plan.offset_bytes(t));
    let inputs = program.default_inputs();
    let refused = block_on(audit(&CpuHost(program.clone()), &bad, &inputs, &CpuHost::LIMITS));
    assert!(matches!(refused, Err(ExecError::Violation(_))), "{refused:?}");
    assert!(CpuNetwork::new(program.clone(), &bad).is_err());
    // The run notices too, not only the judge: the step that writes d destroys t, which m still reads.
    let first = block_on(watch(&CpuHost(program), &bad, &inputs)).unwrap().unwrap();
    assert_eq!((first.step, first.node.as_str(), first.tensor.as_str()), (1, "d_node", "t"));
    assert_eq!(first.neighbour.as_deref(), Some("d"));
}

#[test]
fn a_chain_needs_two_tensors_at_most() {
    let (program, plan) = compile(chain(1000, 10), Strategy::GreedyBySize);
    assert_eq!(plan.peak_bytes(), 4096 + 4000);
    let mut network = CpuNetwork::new(program.clone(), &plan).unwrap();
    let first = network.run(&program.default_inputs()).unwrap();
    assert_eq!(first, network.run(&program.default_inputs()).unwrap());
}

/// Whoever mixes up plans or weights of two networks is told so, by everything that takes them.
#[test]
fn plans_and_weights_of_another_network_are_refused() {
    let (other, foreign) = compile(chain(257, 9), Strategy::GreedyBySize);
    let (program, plan) = compile(zoo::build("blazeface").unwrap(), Strategy::GreedyBySize);
    let (host, inputs, limits) = (CpuHost(program.clone()), program.default_inputs(), CpuHost::LIMITS);
    let is_foreign = |error: ExecError| {
        assert!(matches!(error, ExecError::Violation(Violation::OtherProblem { .. })), "{error}");
    };
    let weights = WeightMap::new(&program, 256, u64::MAX);
    is_foreign(bind(&program, &foreign, &weights, &limits).unwrap_err());
    is_foreign(host.bound(&foreign).unwrap_err());
    is_foreign(CpuNetwork::new(program.clone(), &foreign).unwrap_err());
    is_foreign(block_on(watch(&host, &foreign, &inputs)).unwrap_err());
    is_foreign(block_on(audit(&host, &foreign, &inputs, &limits)).unwrap_err());

    let first = program.usage.problem.ids().next().unwrap();
    let outside = plan.with_offset(first, plan.arena(first), plan.peak_bytes());
    let error = bind(&program, &outside, &weights, &limits).unwrap_err();
    assert!(matches!(error, ExecError::Violation(Violation::OutsideArena { .. })), "{error}");

    let weights = WeightMap::new(&other, 256, u64::MAX);
    let error = bind(&program, &plan, &weights, &limits).unwrap_err();
    assert!(matches!(error, ExecError::NoWeight { .. }), "{error}");
    assert!(error.to_string().contains("another program"), "{error}");
}

#[test]
fn wrong_inputs_are_refused_by_name_and_number() {
    let (program, plan) = compile(chain(4, 1), Strategy::GreedyBySize);
    let mut network = CpuNetwork::new(program, &plan).unwrap();
    let text = network.run(&[vec![1.0; 5]]).unwrap_err().to_string();
    assert!(text.contains("'x'") && text.contains('4') && text.contains('5'), "{text}");
    let text = network.run(&[]).unwrap_err().to_string();
    assert!(text.contains('1') && text.contains('0'), "{text}");
}

/// Cases 11 to 13 of the collected reports: refused before anything is allocated, by tensor, op and both
/// numbers.
#[test]
fn a_tensor_over_the_binding_limit_is_refused_before_anything_is_allocated() {
    let limits = LowerLimits { max_binding_bytes: 1 << 30, max_workgroups: 65_535 };
    let mut b = Builder::new("tile");
    let shape = [1usize, 32, 3, 8_294_400];
    let x = b.input("x", &[1, 1, 1, 8_294_400]);
    let y = b.op("tiled", sublet::graph::Op::Expand, &[x], &shape);
    let error = Program::new(b.output(&[y]), Alignment::new(256).unwrap(), limits).unwrap_err();
    let text = error.to_string();
    for part in ["'tiled'", "Expand", "3185049600", "1073741824", "max_storage_buffer_binding_size"] {
        assert!(text.contains(part), "{text}");
    }
}
