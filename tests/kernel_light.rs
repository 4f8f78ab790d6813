//! The light kernels' twins against a naive oracle, and the shape of the dispatches that the lowering makes.

#[path = "support/light_cases.rs"]
#[allow(dead_code, reason = "typed cases are of other kernels")]
mod light_cases;
#[path = "support/light_oracle.rs"]
mod light_oracle;

use light_cases::Case;
use light_oracle::Tensor;
use sublet::graph::{BinaryOp, Graph, Op, PadMode, UnaryOp, Value};
use sublet::kernel::{Dispatch, KernelId, LowerError, LowerLimits, Operand, lower};

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };

/// What the output holds before a run; no kernel may leave one behind.
const UNWRITTEN: f32 = 123_456.0;

fn dispatches(graph: &Graph) -> Result<Vec<Dispatch>, LowerError> {
    lower(graph, &graph.nodes[0], LIMITS)
}

/// Runs a case on the twins.
fn run(case: &Case) -> Vec<f32> {
    let out = case.graph.outputs[0];
    let mut values = case.inputs.clone();
    values.push(vec![UNWRITTEN; case.graph.get(out).len()]);
    for dispatch in dispatches(&case.graph).unwrap_or_else(|e| panic!("{}: {e}", case.graph.name)) {
        let kernel = dispatch.kernel.kernel();
        assert_eq!(dispatch.inputs.len(), kernel.inputs.len(), "{}", case.graph.name);
        assert_eq!(dispatch.params.len() % 4, 0);
        assert!(dispatch.params[..kernel.inputs.len() + 1].iter().all(|base| *base == 0));
        let read = values.clone();
        let inputs: Vec<&[f32]> = dispatch
            .inputs
            .iter()
            .map(|operand| match operand {
                Operand::Value { value, start_len, len } => &read[value.index()][*start_len..start_len + len],
                Operand::Absent => &[0.0; 4],
            })
            .collect();
        assert_eq!(
            dispatch.output,
            Operand::Value { value: out, start_len: 0, len: values[out.index()].len() }
        );
        (kernel.twin)(&dispatch.params, &inputs, &mut values[out.index()]);
    }
    values.swap_remove(out.index())
}

/// Compares every element with the oracle; `relative` is of that element.
fn check(cases: &[Case], relative: f64) {
    // 1e-38: a result below the smallest normal number may be flushed to zero.
    check_near(cases, relative, 1e-38);
}

fn check_near(cases: &[Case], relative: f64, absolute: f64) {
    for case in cases {
        let graph = &case.graph;
        let node = &graph.nodes[0];
        let inputs: Vec<Tensor> = (node.inputs.iter().zip(&case.inputs))
            .map(|(id, data)| Tensor {
                shape: graph.get(*id).shape.clone(),
                data: data.iter().map(|v| f64::from(*v)).collect(),
            })
            .collect();
        let expected = light_oracle::eval(&node.op, &inputs, &graph.get(graph.outputs[0]).shape);
        let found = run(case);
        assert_eq!(found.len(), expected.len(), "{}", graph.name);
        for (i, (found, expected)) in found.iter().map(|v| f64::from(*v)).zip(expected).enumerate() {
            let same = found == expected || (found.is_nan() && expected.is_nan());
            let near = (found - expected).abs() <= relative * expected.abs() + absolute;
            assert!(same || near, "{}: element {i} is {found}, should be {expected}", graph.name);
        }
    }
}

#[test]
fn unary_twin_matches_the_definitions() {
    check(&light_cases::unary(), 1e-6);
}

#[test]
fn smooth_functions_match_the_definitions() {
    check_near(&light_cases::smooth(), 2e-6, 3e-7);
}

#[test]
fn binary_twin_broadcasts_as_the_definition() {
    let is_remainder = |case: &Case| matches!(case.graph.nodes[0].op, Op::Binary(BinaryOp::Mod { .. }));
    let (remainders, others): (Vec<Case>, Vec<Case>) =
        light_cases::binary().into_iter().partition(is_remainder);
    assert!(!remainders.is_empty() && !others.is_empty());
    check(&others, 2e-6);
    // A remainder is as exact as the product that is taken away.
    check_near(&remainders, 2e-6, 1e-6);
}

#[test]
fn copy_twin_moves_every_element_unchanged() {
    check(&light_cases::moves(), 0.0);
}

#[test]
fn pad_twin_matches_the_definition() {
    check(&light_cases::pads(), 0.0);
}

#[test]
fn normalising_twins_match_the_definitions() {
    check(&light_cases::norms(), 1e-5);
}

#[test]
fn copy_keeps_bits() {
    let odd = vec![f32::from_bits(0x7fa0_1234), -0.0, f32::from_bits(1), f32::INFINITY, f32::MIN, 1.0];
    let case = Case::new(Op::Transpose { perm: vec![1, 0] }, &[(&[2, 3], odd.clone())], &[3, 2]);
    let expected: Vec<u32> = [0, 3, 1, 4, 2, 5].iter().map(|i: &usize| odd[*i].to_bits()).collect();
    assert_eq!(run(&case).iter().map(|v| v.to_bits()).collect::<Vec<_>>(), expected);
}

/// A one-node graph without data.
fn graph(op: Op, inputs: &[&[usize]], out: &[usize]) -> Graph {
    let mut graph = Graph::new("test");
    let inputs: Vec<_> =
        inputs.iter().enumerate().map(|(i, s)| graph.value(Value::f32(format!("x{i}"), *s))).collect();
    let out = graph.value(Value::f32("out", out));
    graph.node("node", op, inputs, vec![out]);
    graph
}

fn only(graph: &Graph) -> Dispatch {
    let mut all = dispatches(graph).expect("lowers");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn contiguous_dimensions_are_walked_as_one() {
    let copy_rank = |op, input: &[usize], out: &[usize]| only(&graph(op, &[input], out)).params[3];
    assert_eq!(copy_rank(Op::Copy, &[2, 3, 4], &[6, 4]), 1);
    assert_eq!(copy_rank(Op::Transpose { perm: vec![0, 1, 3, 2] }, &[2, 3, 4, 5], &[2, 3, 5, 4]), 3);
    assert_eq!(copy_rank(Op::Transpose { perm: vec![1, 2, 3, 0] }, &[2, 3, 4, 5], &[3, 4, 5, 2]), 2);
    assert_eq!(copy_rank(Op::Expand, &[1, 1, 5], &[3, 4, 5]), 2);
    let binary_rank = |a: &[usize], b: &[usize], out: &[usize]| {
        only(&graph(Op::Binary(BinaryOp::Add), &[a, b], out)).params[5]
    };
    assert_eq!(binary_rank(&[2, 3, 4, 5], &[2, 3, 4, 5], &[2, 3, 4, 5]), 1);
    assert_eq!(binary_rank(&[2, 3, 4, 5], &[1], &[2, 3, 4, 5]), 1);
    assert_eq!(binary_rank(&[2, 3, 4, 5], &[3, 1, 1], &[2, 3, 4, 5]), 3);
}

#[test]
fn concat_fills_its_output_in_parts() {
    let parts =
        dispatches(&graph(Op::Concat { axis: 1 }, &[&[2, 3], &[2, 0], &[2, 4]], &[2, 7])).expect("lowers");
    assert_eq!(parts.len(), 2);
    assert!(parts.iter().all(|d| d.kernel == KernelId::Copy && !d.fills_output));
    let whole = dispatches(&graph(Op::Concat { axis: 1 }, &[&[2, 0], &[2, 4]], &[2, 4])).expect("lowers");
    assert!(whole.len() == 1 && whole[0].fills_output);
}

#[test]
fn sum_adds_further_inputs_to_its_output() {
    let g = graph(Op::Sum, &[&[2], &[2], &[2]], &[2]);
    let all = dispatches(&g).expect("lowers");
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].inputs[0], all[1].output);
}

#[test]
fn grids_fold_at_the_devices_limit() {
    let groups = |len: usize, max_workgroups| {
        let g = graph(Op::Unary(UnaryOp::Relu), &[&[len]], &[len]);
        lower(&g, &g.nodes[0], LowerLimits { max_workgroups, max_binding_bytes: u64::MAX })
            .map(|d| d[0].workgroups)
    };
    assert_eq!(groups(256, 4), Ok([1, 1, 1]));
    assert_eq!(groups(4 * 256, 4), Ok([4, 1, 1]));
    assert_eq!(groups(4 * 256 + 1, 4), Ok([3, 2, 1]));
    assert_eq!(groups(16 * 256, 4), Ok([4, 4, 1]));
    let refused = groups(16 * 256 + 1, 4).expect_err("17 workgroups").to_string();
    assert!(refused.contains("17") && refused.contains("16"), "{refused}");
    assert_eq!(groups((1 << 32) - (1 << 17), 65_535), Ok([65_534, 256, 1]));
}

#[test]
fn impossible_nodes_are_refused_with_a_reason() {
    let nine = [2; 9];
    let relu = Op::Unary(UnaryOp::Relu);
    let slice = |starts: &[i64], steps: &[i64]| Op::Slice { starts: starts.to_vec(), steps: steps.to_vec() };
    let edge = |before| Op::Pad { mode: PadMode::Edge, before };
    let cases = [
        (graph(relu.clone(), &[&[1 << 32]], &[1 << 32]), "4294967296 elements"),
        (graph(relu.clone(), &[&[usize::MAX, 3]], &[1]), "kernels index at most 4294836224"),
        (graph(relu.clone(), &[&[2]], &[3]), "output 'out' is [3], the inputs make it [2]"),
        (graph(relu, &[&[2], &[2]], &[2]), "2 inputs, needs 1"),
        (graph(Op::Sum, &[], &[2]), "0 inputs"),
        (graph(Op::Transpose { perm: (0..9).rev().collect() }, &[&nine], &nine), "walks 9 dimensions"),
        (graph(Op::Transpose { perm: vec![0, 0] }, &[&[2, 2]], &[2, 2]), "not a permutation"),
        (graph(Op::Transpose { perm: vec![0] }, &[&[2, 2]], &[2]), "rank 2"),
        (graph(Op::Binary(BinaryOp::Add), &[&[2], &[3]], &[3]), "do not broadcast"),
        (graph(Op::Expand, &[&[2, 3]], &[3]), "does not broadcast"),
        (graph(Op::Copy, &[&[2]], &[3]), "2 elements, output has 3"),
        (graph(slice(&[1], &[1]), &[&[4]], &[4]), "reads 1..=4 of dimension 0, which has 4"),
        (graph(slice(&[2], &[-1]), &[&[4]], &[4]), "reads 2..=-1"),
        (graph(slice(&[0], &[i64::MAX]), &[&[4]], &[3]), "dimension 0"),
        (graph(Op::Concat { axis: 2 }, &[&[2, 2]], &[2, 2]), "axis 2"),
        (graph(Op::Concat { axis: 0 }, &[&[2], &[2]], &[3]), "hold 4 along axis 0, the output 3"),
        (graph(Op::Concat { axis: 0 }, &[&[2, 2]], &[2, 3]), "does not fit"),
        (graph(edge(vec![1]), &[&[0]], &[2]), "leave nothing"),
        (graph(edge(vec![-9]), &[&[4]], &[2]), "leave nothing"),
        (graph(Op::ReduceMean { axes: vec![2] }, &[&[2, 2]], &[2]), "axis 2"),
        (graph(Op::ReduceMean { axes: vec![0] }, &[&[2, 3]], &[2]), "3 results"),
        (graph(Op::Softmax { first_axis: 1, last_axis: 3 }, &[&[2, 2]], &[2, 2]), "axes 1..3"),
        (graph(Op::Lrn { size: 0, alpha: 1.0, beta: 1.0, bias: 1.0 }, &[&[1, 2]], &[1, 2]), "size 0"),
        (graph(Op::Lrn { size: 1, alpha: 1.0, beta: 1.0, bias: -1.0 }, &[&[1, 2]], &[1, 2]), "bias -1"),
        (graph(Op::Lrn { size: 1, alpha: 1.0, beta: 1.0, bias: 1.0 }, &[&[2]], &[2]), "no channel"),
        (
            graph(Op::BatchNormalization { epsilon: 0.0 }, &[&[1, 2], &[2], &[2], &[3], &[2]], &[1, 2]),
            "'x3' has 3 elements for 2 channels",
        ),
    ];
    for (graph, reason) in cases {
        let error = dispatches(&graph).expect_err(reason).to_string();
        assert!(error.starts_with("node 'node' (") && error.contains(reason), "{error}, not {reason}");
    }
}
