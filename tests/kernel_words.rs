//! The twins of integers, indices and order against a naive oracle.

#[path = "support/light_cases.rs"]
#[allow(dead_code, reason = "the other cases are of other kernels")]
mod light_cases;
#[path = "support/light_oracle.rs"]
#[allow(dead_code, reason = "the other operators are of other kernels")]
mod light_oracle;
#[path = "support/word_cases.rs"]
mod word_cases;
#[path = "support/word_oracle.rs"]
mod word_oracle;

use light_cases::Case;
use light_oracle::{Tensor, indices};
use sublet::graph::{BinaryOp, Constant, DType, Node, Op, word_int};
use sublet::kernel::fold;
use word_oracle::{gathered, mapped, ordered, paired, scattered};

/// The words of a value as numbers.
fn numbers(dtype: DType, words: &[f32]) -> Vec<f64> {
    let number = |w: &f32| if dtype.is_float() { f64::from(*w) } else { f64::from(word_int(*w)) };
    words.iter().map(number).collect()
}

/// Runs a case on the twins: its inputs as constants, folded.
fn run(case: &Case) -> Vec<f64> {
    let mut graph = case.graph.clone();
    for (id, words) in graph.inputs.clone().into_iter().zip(&case.inputs) {
        graph.values[id.index()].constant = Some(Constant::new(words.clone()));
    }
    let node = Node { name: "node".into(), ..graph.nodes[0].clone() };
    let values: Vec<_> = node.inputs.iter().map(|id| graph.get(*id)).collect();
    let output = graph.get(graph.outputs[0]);
    node.op.check_types(&values, output).unwrap_or_else(|e| panic!("{}: {e}", graph.name));
    let folded = fold(&graph, &node).unwrap_or_else(|e| panic!("{}: {e}", graph.name)).expect("constants");
    numbers(output.dtype, folded.words())
}

fn expected(case: &Case) -> Vec<f64> {
    let graph = &case.graph;
    let (node, out) = (&graph.nodes[0], graph.get(graph.outputs[0]));
    let dtypes: Vec<DType> = node.inputs.iter().map(|id| graph.get(*id).dtype).collect();
    let tensor = |(id, words): (&sublet::graph::ValueId, &Vec<f32>)| Tensor {
        shape: graph.get(*id).shape.clone(),
        data: numbers(graph.get(*id).dtype, words),
    };
    let mut inputs: Vec<Tensor> = node.inputs.iter().zip(&case.inputs).map(tensor).collect();
    let pair = |op: BinaryOp, a: f64, b: f64| paired(op, a, b, dtypes[0].is_float(), out.dtype);
    if matches!(node.op, Op::ScatterElements { .. } | Op::ScatterNd { .. }) {
        return scattered(&node.op, &inputs);
    }
    if matches!(node.op, Op::OneHot { .. }) {
        // The depth, which only the output's shape tells.
        inputs.push(Tensor { shape: out.shape.clone(), data: vec![] });
    }
    let element = |index: Vec<usize>| match &node.op {
        op @ (Op::Unary(_) | Op::Cast) => mapped(op, inputs[0].at(&index), dtypes[0], out.dtype),
        Op::Binary(op) => pair(*op, inputs[0].broadcast_at(&index), inputs[1].broadcast_at(&index)),
        Op::Sum => inputs.iter().map(|x| x.broadcast_at(&index)).sum(),
        Op::Select => {
            let on = inputs[0].broadcast_at(&index) != 0.0;
            inputs[if on { 1 } else { 2 }].broadcast_at(&index)
        }
        op @ (Op::Gather { .. } | Op::GatherElements { .. } | Op::GatherNd { .. }) => {
            gathered(op, &inputs[0], &inputs[1], &index)
        }
        op => ordered(op, &inputs, &index),
    };
    indices(&out.shape).into_iter().map(element).collect()
}

/// Compares every element; only sums and products of floats may be rounded.
fn check(cases: &[Case]) {
    for case in cases {
        let (found, expected) = (run(case), expected(case));
        assert_eq!(found.len(), expected.len(), "{}", case.graph.name);
        for (i, (found, due)) in found.iter().zip(&expected).enumerate() {
            let same = found == due || (found.is_nan() && due.is_nan());
            let float = case.graph.get(case.graph.outputs[0]).is_float();
            let near = float && (found - due).abs() <= 1e-5 * due.abs().max(1.0);
            assert!(same || near, "{}: element {i} is {found}, should be {due}", case.graph.name);
        }
    }
}

#[test]
fn functions_of_integers_match_the_definitions() {
    check(&word_cases::unary());
    check(&word_cases::binary());
}

#[test]
fn casts_match_the_definitions() {
    check(&word_cases::casts());
}

#[test]
fn choices_match_the_definition() {
    check(&word_cases::choices());
}

#[test]
fn gathers_match_the_definitions() {
    check(&word_cases::gathers());
}

#[test]
fn scatters_match_the_definitions() {
    check(&word_cases::scatters());
}

#[test]
fn orders_match_the_definitions() {
    check(&word_cases::orders());
}

#[test]
fn marks_triangles_and_repeats_match_the_definitions() {
    check(&word_cases::marks());
}
