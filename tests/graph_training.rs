//! Training iterations derived from forward graphs: a small one by hand, and what holds for all of them.

use sublet::graph::training::{Role, Step, Training, TrainingTensor};
use sublet::graph::{Graph, GraphError, Op, PoolKind, UnaryOp, Value, ValueId, Window};
use sublet::model::zoo;
use sublet::plan::{Alignment, Planner, Strategy, bound, keyed_pool_bytes};

fn window(kernel: usize, stride: usize, pad: usize) -> Window {
    Window { kernel: [kernel; 2], strides: [stride; 2], pads: [pad; 4], dilations: [1; 2] }
}

fn constant(graph: &mut Graph, name: &str, shape: &[usize]) -> ValueId {
    let len = shape.iter().product();
    graph.value(Value::f32_constant(name, shape, vec![0.5; len]))
}

/// Appends a node that writes one value of its name.
fn node(graph: &mut Graph, name: &str, op: Op, inputs: &[ValueId], shape: &[usize]) -> ValueId {
    let id = graph.value(Value::f32(name, shape));
    graph.node(name, op, inputs.to_vec(), vec![id]);
    id
}

/// A residual block with a pool and a classifier: `a` is read twice and its activation is fused.
fn small() -> Graph {
    let mut g = Graph::new("small");
    let x = g.value(Value::f32("x", [1, 1, 4, 4]));
    g.inputs.push(x);
    let (w1, b1) = (constant(&mut g, "w1", &[2, 1, 3, 3]), constant(&mut g, "b1", &[2]));
    let (w2, w3) = (constant(&mut g, "w2", &[2, 2, 1, 1]), constant(&mut g, "w3", &[3, 8]));
    let b3 = constant(&mut g, "b3", &[3]);
    let relu = Op::Conv { window: window(3, 1, 1), groups: 1, activation: Some(UnaryOp::Relu) };
    let a = node(&mut g, "a", relu, &[x, w1, b1], &[1, 2, 4, 4]);
    let linear = Op::Conv { window: window(1, 1, 0), groups: 1, activation: None };
    let b = node(&mut g, "b", linear, &[a, w2], &[1, 2, 4, 4]);
    let c = node(&mut g, "c", Op::Sum, &[a, b], &[1, 2, 4, 4]);
    let pool = Op::Pool { kind: PoolKind::Max, window: window(2, 2, 0) };
    let d = node(&mut g, "d", pool, &[c], &[1, 2, 2, 2]);
    let e = node(&mut g, "e", Op::Copy, &[d], &[1, 8]);
    let gemm = Op::Gemm { alpha: 1.0, beta: 1.0, trans_a: false, trans_b: true, activation: None };
    let f = node(&mut g, "f", gemm, &[e, w3, b3], &[1, 3]);
    let out = node(&mut g, "g", Op::Softmax { first_axis: 1, last_axis: 2 }, &[f], &[1, 3]);
    g.outputs.push(out);
    g.check().unwrap();
    g
}

#[test]
fn a_small_iteration_has_the_records_that_follow_from_its_operators() {
    let training = Training::new(&small(), 2).unwrap();
    let steps: Vec<Step> = (0..7)
        .map(Step::Forward)
        .chain([Step::Loss])
        .chain((0..7).rev().map(Step::Backward))
        .chain([Step::Update])
        .collect();
    assert_eq!(training.steps, steps);
    let found: Vec<(&str, Role, u64, u32, u32)> =
        training.tensors.iter().map(|t| (t.name.as_str(), t.role, t.size_bytes, t.first, t.last)).collect();
    let expected = [
        // The second convolution's weights need it, and then its own activation does.
        ("a", Role::Activation, 256, 0, 14),
        ("b", Role::Activation, 256, 1, 2),
        ("c", Role::Activation, 256, 2, 3),
        ("d", Role::Activation, 64, 3, 4),
        ("d:saved", Role::Saved, 64, 3, 11),
        ("e", Role::Activation, 64, 4, 9),
        ("f", Role::Activation, 24, 5, 6),
        ("g", Role::Activation, 24, 6, 8),
        ("g:gradient", Role::Gradient, 24, 7, 8),
        ("f:gradient", Role::Gradient, 24, 8, 9),
        ("e:gradient", Role::Gradient, 64, 9, 10),
        ("w3:gradient", Role::WeightGradient, 96, 9, 15),
        ("b3:gradient", Role::WeightGradient, 12, 9, 15),
        ("d:gradient", Role::Gradient, 64, 10, 11),
        ("c:gradient", Role::Gradient, 256, 11, 12),
        // Written by the sum, added to by the second convolution, read by the first.
        ("a:gradient", Role::Gradient, 256, 12, 14),
        ("b:gradient", Role::Gradient, 256, 12, 13),
        ("w2:gradient", Role::WeightGradient, 16, 13, 15),
        ("a:gradient of the sum", Role::Scratch, 256, 14, 14),
        ("w1:gradient", Role::WeightGradient, 72, 14, 15),
        ("b1:gradient", Role::WeightGradient, 8, 14, 15),
    ];
    assert_eq!(found, expected);
    assert_eq!((training.weights_bytes, training.inputs_bytes), (72 + 8 + 16 + 96 + 12, 128));
    let problem = training.problem(Alignment::ONE).unwrap();
    // Step 14: both gradients of `a`, `a`, and the weights' gradients so far.
    assert_eq!(bound::max_load(&problem), 256 * 4 + 96 + 12);
}

#[test]
fn no_samples_and_too_many_are_errors() {
    assert!(matches!(Training::new(&small(), 0), Err(GraphError::Invalid { .. })));
    let error = Training::new(&small(), u64::MAX / 64).unwrap_err().to_string();
    assert!(error.contains("'a'"), "{error}");
}

/// Where a node writes one of its values in a run, and the last node that reads it.
fn inference(graph: &Graph, id: ValueId) -> (usize, usize) {
    let first = graph.nodes.iter().position(|n| n.outputs.contains(&id)).unwrap();
    (first, graph.nodes.iter().rposition(|n| n.inputs.contains(&id)).unwrap_or(first))
}

fn step_of(training: &Training, step: Step) -> Option<u32> {
    training.steps.iter().position(|s| *s == step).map(|i| i as u32)
}

/// Every tensor of the forward pass is there, at least as long as a run needs it; every product's operand
/// and every kept output lives until the backward step that reads it.
#[test]
fn the_forward_pass_is_whole_and_what_backward_needs_lives_that_long() {
    for name in zoo::names() {
        let graph = zoo::build(name).unwrap();
        let training = Training::new(&graph, 1).unwrap();
        let find = |id: ValueId, role: Role| -> Option<&TrainingTensor> {
            training.tensors.iter().find(|t| t.value == id && t.role == role)
        };
        for (i, node) in graph.nodes.iter().enumerate() {
            let out = node.outputs[0];
            let tensor =
                find(out, Role::Activation).unwrap_or_else(|| panic!("{name}: {} is lost", node.name));
            let (first, last) = inference(&graph, out);
            assert_eq!(tensor.first, first as u32, "{name} {}", node.name);
            assert!(tensor.last >= last as u32, "{name} {}", node.name);
            assert_eq!(tensor.size_bytes, graph.get(out).size_bytes());
            let backward = step_of(&training, Step::Backward(i));
            let gradient = find(out, Role::Gradient);
            assert_eq!(gradient.map(|g| g.last), backward, "{name} {}: read by its writer", node.name);
            let Some(backward) = backward else { continue };
            let fused = matches!(node.op, Op::Conv { activation: Some(_), .. });
            if fused || matches!(node.op, Op::Softmax { .. }) {
                assert!(tensor.last >= backward, "{name} {}: the output is needed", node.name);
            }
            let product = matches!(node.op, Op::Conv { .. } | Op::Gemm { .. } | Op::ConvTranspose { .. });
            if let (true, Some(x)) = (product, find(node.inputs[0], Role::Activation)) {
                assert!(x.last >= backward, "{name} {}: its input is needed", node.name);
            }
            if matches!(node.op, Op::Pool { kind: PoolKind::Max, .. }) {
                assert_eq!(find(out, Role::Saved).map(|s| s.last), Some(backward), "{name} {}", node.name);
            }
        }
        let update = training.steps.len() as u32 - 1;
        for tensor in &training.tensors {
            assert!(tensor.first <= tensor.last && tensor.last <= update, "{name} {}", tensor.name);
            let weight = tensor.role == Role::WeightGradient;
            assert_eq!(weight, tensor.last == update, "{name} {}", tensor.name);
        }
        assert!(training.tensors.is_sorted_by_key(|t| t.first), "{name}");
    }
}

/// Tensors that follow the samples are so many times larger, the others are not, and nothing else changes.
#[test]
fn bytes_are_linear_in_the_batch() {
    for name in ["resnet50", "densenet121", "lstm_seq2seq", "gpt_block"] {
        let graph = zoo::build(name).unwrap();
        let [one, many] = [1, 24].map(|batch| Training::new(&graph, batch).unwrap());
        assert_eq!(one.steps, many.steps);
        assert_eq!(one.tensors.len(), many.tensors.len());
        for (a, b) in one.tensors.iter().zip(&many.tensors) {
            let statistics = a.role == Role::Saved && name == "densenet121" && a.name.contains("norm");
            let fixed = a.role == Role::WeightGradient || statistics;
            let times = if fixed { 1 } else { 24 };
            assert_eq!(b.size_bytes, a.size_bytes * times, "{name} {}", a.name);
            assert_eq!((a.first, a.last, a.role), (b.first, b.last, b.role));
        }
        assert_eq!(many.inputs_bytes, 24 * one.inputs_bytes);
        assert_eq!(many.weights_bytes, one.weights_bytes);
    }
}

#[test]
fn every_strategy_plans_an_iteration_below_the_pool() {
    let training = Training::new(&zoo::build("googlenet").unwrap(), 16).unwrap();
    let problem = training.problem(Alignment::PORTABLE).unwrap();
    let pool = keyed_pool_bytes(&problem, Alignment::PORTABLE);
    assert!(bound::max_load(&problem) <= pool && pool <= problem.naive_bytes() + 256 * problem.len() as u64);
    for strategy in [Strategy::GreedyBySize, Strategy::StripPacking] {
        let plan = Planner::new(strategy).plan(&problem).unwrap();
        plan.validate(&problem).unwrap();
        assert!(plan.peak_bytes() < pool, "{strategy}");
    }
}
