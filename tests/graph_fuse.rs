//! Operators that join a convolution or a matrix product: what is left of the graph, and that it computes
//! the same.

mod support;

use std::sync::Arc;
use sublet::exec::{CpuHost, CpuNetwork, Program, audit};
use sublet::graph::passes::Passes;
use sublet::graph::{BinaryOp, Graph, Op, UnaryOp, ValueId, Window};
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner, bound};
use support::block_on;
use support::graphs::Builder;

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
const WINDOW: Window = Window { kernel: [3, 3], strides: [1, 1], pads: [1; 4], dilations: [1, 1] };

fn program(graph: &Graph, passes: Passes) -> Arc<Program> {
    let (graph, sharing) = passes.apply(graph.clone()).unwrap();
    Arc::new(Program::sharing(graph, sharing, Alignment::new(32).unwrap(), LIMITS).unwrap())
}

fn run(program: &Arc<Program>) -> Vec<Vec<f32>> {
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    CpuNetwork::new(program.clone(), &plan).unwrap().run(&program.default_inputs()).unwrap()
}

/// Compares the graph as it is with what the passes make of it, and returns that.
fn same(graph: &Graph) -> Arc<Program> {
    let (plain, fused) = (program(graph, Passes::NONE), program(graph, Passes::ALL));
    for (want, got) in run(&plain).iter().zip(run(&fused)) {
        let largest = want.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        assert!(largest > 0.0, "nothing to compare");
        for (want, got) in want.iter().zip(got) {
            assert!((want - got).abs() <= 1e-5 * largest, "{want} against {got} of {largest}");
        }
    }
    let plan = Planner::auto().plan(&fused.usage.problem).unwrap();
    let inputs = fused.default_inputs();
    let found = block_on(audit(&CpuHost(fused.clone()), &plan, &inputs, &CpuHost::LIMITS)).unwrap();
    assert!(found.ok(), "{found:?}");
    fused
}

fn ops(program: &Program) -> Vec<&'static str> {
    program.graph.nodes.iter().map(|n| n.op.name()).collect()
}

fn data(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|i| ((i + seed) * 7919 % 1000) as f32 / 500.0 - 0.9).collect()
}

/// A 3 x 3 convolution of `x [1, c, 6, 5]` to `m` channels.
fn conv(b: &mut Builder, name: &str, x: ValueId, m: usize, bias: bool) -> ValueId {
    let c = b.0.get(x).shape[1];
    let mut inputs = vec![x, b.constant(&format!("{name}/w"), &[m, c, 3, 3], data(m * c * 9, m))];
    if bias {
        inputs.push(b.constant(&format!("{name}/b"), &[m], data(m, 3)));
    }
    b.op(name, Op::Conv { window: WINDOW, groups: 1, activation: None }, &inputs, &[1, m, 6, 5])
}

fn batch_norm(b: &mut Builder, name: &str, x: ValueId) -> ValueId {
    let m = b.0.get(x).shape[1];
    let mut inputs = vec![x];
    for (i, part) in ["scale", "bias", "mean"].iter().enumerate() {
        inputs.push(b.constant(&format!("{name}/{part}"), &[m], data(m, 11 * i)));
    }
    let variance = data(m, 5).iter().map(|v| v * v + 0.1).collect();
    inputs.push(b.constant(&format!("{name}/variance"), &[m], variance));
    let shape = b.0.get(x).shape.clone();
    b.op(name, Op::BatchNormalization { epsilon: 1e-3 }, &inputs, &shape)
}

fn binary(b: &mut Builder, name: &str, op: BinaryOp, x: ValueId, y: ValueId) -> ValueId {
    let shape = b.0.get(x).shape.clone();
    b.op(name, Op::Binary(op), &[x, y], &shape)
}

fn relu(b: &mut Builder, name: &str, x: ValueId) -> ValueId {
    let shape = b.0.get(x).shape.clone();
    b.op(name, Op::Unary(UnaryOp::Relu), &[x], &shape)
}

#[test]
fn normalisation_addition_and_activation_join_the_convolution() {
    let mut b = Builder::new("residual");
    let x = b.input("x", &[1, 4, 6, 5]);
    let first = conv(&mut b, "first", x, 4, false);
    let first = batch_norm(&mut b, "bn1", first);
    let first = relu(&mut b, "relu1", first);
    let second = conv(&mut b, "second", first, 4, true);
    let second = batch_norm(&mut b, "bn2", second);
    let sum = binary(&mut b, "sum", BinaryOp::Add, second, first);
    let sum = relu(&mut b, "relu2", sum);
    let end = b.op("end", Op::ReduceMean { axes: vec![2, 3] }, &[sum], &[1, 4]);
    let fused = same(&b.output(&[end]));
    assert_eq!(ops(&fused), ["Conv", "Conv", "ReduceMean"]);
    assert_eq!(fused.graph.nodes[1].inputs.len(), 4, "the addend is the fourth input");
    // relu2 takes the bytes of relu1, which it adds.
    assert_eq!(bound::max_load(&fused.usage.problem), 4 * 6 * 5 * 4);
}

#[test]
fn arithmetic_with_constants_joins_the_weights() {
    for (op, swapped) in [
        (BinaryOp::Mul, false),
        (BinaryOp::Mul, true),
        (BinaryOp::Add, true),
        (BinaryOp::Sub, false),
        (BinaryOp::Sub, true),
        (BinaryOp::Div, false),
    ] {
        for shape in [&[1, 3, 1, 1][..], &[3, 1, 1], &[1], &[]] {
            let mut b = Builder::new("arithmetic");
            let x = b.input("x", &[1, 2, 6, 5]);
            let y = conv(&mut b, "conv", x, 3, true);
            let constant = b.constant("k", shape, data(shape.iter().product(), 2));
            let inputs = if swapped { [constant, y] } else { [y, constant] };
            let end = b.op("end", Op::Binary(op), &inputs, &[1, 3, 6, 5]);
            assert_eq!(ops(&same(&b.output(&[end]))), ["Conv"], "{op:?} {swapped} {shape:?}");
        }
    }
}

/// A constant for each column, a division by the convolution and a product with its own result stay.
#[test]
fn what_is_not_one_factor_a_channel_stays() {
    let mut b = Builder::new("columns");
    let x = b.input("x", &[1, 2, 6, 5]);
    let y = conv(&mut b, "conv", x, 5, true);
    let columns = b.constant("columns", &[5], data(5, 2));
    let end = binary(&mut b, "end", BinaryOp::Mul, y, columns);
    assert_eq!(ops(&same(&b.output(&[end]))), ["Conv", "Mul"]);

    let mut b = Builder::new("square");
    let x = b.input("x", &[1, 2, 6, 5]);
    let y = conv(&mut b, "conv", x, 3, true);
    let end = binary(&mut b, "end", BinaryOp::Mul, y, y);
    assert_eq!(ops(&same(&b.output(&[end]))), ["Conv", "Mul"]);
}

/// What somebody else reads is still there: nothing joins over it.
#[test]
fn a_convolution_with_two_readers_or_an_output_is_left_alone() {
    let mut b = Builder::new("readers");
    let x = b.input("x", &[1, 2, 6, 5]);
    let y = conv(&mut b, "conv", x, 3, true);
    let one = relu(&mut b, "one", y);
    let two = b.op("two", Op::Unary(UnaryOp::Tanh), &[y], &[1, 3, 6, 5]);
    let z = conv(&mut b, "other", x, 3, true);
    let last = relu(&mut b, "last", z);
    let fused = same(&b.output(&[one, two, z, last]));
    assert_eq!(ops(&fused), ["Conv", "Relu", "Tanh", "Conv", "Relu"]);
}

/// Of two convolutions the later one adds the result of the other.
#[test]
fn the_later_of_two_convolutions_takes_the_sum() {
    let mut b = Builder::new("branches");
    let x = b.input("x", &[1, 2, 6, 5]);
    let one = conv(&mut b, "one", x, 3, true);
    let two = conv(&mut b, "two", x, 3, false);
    let sum = binary(&mut b, "sum", BinaryOp::Add, one, two);
    let end = relu(&mut b, "end", sum);
    let fused = same(&b.output(&[end]));
    assert_eq!(ops(&fused), ["Conv", "Conv"]);
    assert_eq!(fused.graph.nodes[1].inputs.len(), 4);
}

/// Weights that two convolutions share are not scaled for one of them.
#[test]
fn shared_weights_are_held_once() {
    let mut b = Builder::new("shared");
    let x = b.input("x", &[1, 3, 6, 5]);
    let w = b.constant("w", &[3, 3, 3, 3], data(81, 1));
    let op = || Op::Conv { window: WINDOW, groups: 1, activation: None };
    let one = b.op("one", op(), &[x, w], &[1, 3, 6, 5]);
    let one = batch_norm(&mut b, "bn", one);
    let two = b.op("two", op(), &[one, w], &[1, 3, 6, 5]);
    let fused = same(&b.output(&[two]));
    assert_eq!(ops(&fused), ["Conv", "BatchNormalization", "Conv"]);
}

/// A U-Net in small: the skip and what comes up are read by one convolution, which no longer needs them side
/// by side.
#[test]
fn a_convolution_reads_the_parts_of_a_concat_where_that_is_lower() {
    let mut b = Builder::new("unet");
    let x = b.input("x", &[1, 2, 6, 5]);
    let skip = conv(&mut b, "skip", x, 4, true);
    let inner = conv(&mut b, "inner", skip, 4, true);
    let inner = b.op("tanh", Op::Unary(UnaryOp::Tanh), &[inner], &[1, 4, 6, 5]);
    let joined = b.op("joined", Op::Concat { axis: 1 }, &[skip, inner], &[1, 8, 6, 5]);
    let out = conv(&mut b, "out", joined, 4, true);
    let out = relu(&mut b, "relu", out);
    let end = b.op("end", Op::ReduceMean { axes: vec![2, 3] }, &[out], &[1, 4]);
    let graph = b.output(&[end]);
    let fused = same(&graph);
    assert_eq!(ops(&fused), ["Conv", "Conv", "Tanh", "Conv", "Conv", "ReduceMean"]);
    let one = 4 * 6 * 5 * 4;
    assert_eq!(bound::max_load(&fused.usage.problem), 3 * one);
}

/// A product of `x` with constant weights of `n` columns.
fn matmul(b: &mut Builder, name: &str, x: ValueId, n: usize) -> ValueId {
    let mut shape = b.0.get(x).shape.clone();
    let k = *shape.last().unwrap();
    *shape.last_mut().unwrap() = n;
    let w = b.constant(&format!("{name}/w"), &[k, n], data(k * n, n));
    b.op(name, Op::MatMul { activation: None }, &[x, w], &shape)
}

/// Two layers of a transformer's feed-forward block, whose result is added to what they read.
#[test]
fn bias_activation_and_residual_join_the_product() {
    for swapped in [false, true] {
        let mut b = Builder::new("feed-forward");
        let x = b.input("x", &[2, 5, 6]);
        let x = relu(&mut b, "start", x);
        let wide = matmul(&mut b, "wide", x, 8);
        let bias = b.constant("bias1", &[8], data(8, 1));
        let inputs = if swapped { [bias, wide] } else { [wide, bias] };
        let wide = b.op("biased", Op::Binary(BinaryOp::Add), &inputs, &[2, 5, 8]);
        let wide = b.op("leaky", Op::Unary(UnaryOp::LeakyRelu { alpha: 0.1 }), &[wide], &[2, 5, 8]);
        let narrow = matmul(&mut b, "narrow", wide, 6);
        let bias = b.constant("bias2", &[1, 1, 6], data(6, 2));
        let narrow = b.op("biased2", Op::Binary(BinaryOp::Add), &[narrow, bias], &[2, 5, 6]);
        let inputs = if swapped { [x, narrow] } else { [narrow, x] };
        let sum = b.op("sum", Op::Binary(BinaryOp::Add), &inputs, &[2, 5, 6]);
        let end = b.op("end", Op::ReduceMean { axes: vec![1, 2] }, &[sum], &[2]);
        let graph = b.output(&[end]);
        let fused = same(&graph);
        assert_eq!(ops(&fused), ["Relu", "MatMul", "MatMul", "ReduceMean"]);
        assert_eq!(fused.graph.nodes[2].inputs.len(), 4, "the addend is the fourth input");
        let load = |passes| bound::max_load(&program(&graph, passes).usage.problem);
        assert_eq!(load(Passes::ALL), 4 * (2 * 5 * 8 + 2 * 5 * 6), "the sum takes the bytes of what it adds");
        assert!(load(Passes::ALL) <= load(Passes { fuse: false, ..Passes::ALL }));
        assert_eq!(ops(&program(&graph, Passes { fuse: false, ..Passes::ALL })).len(), 8);
    }
}

/// The same of a Gemm, whose own factors stay those of its product.
#[test]
fn a_gemm_takes_a_bias_where_it_has_none_and_adds() {
    for with_c in [false, true] {
        let mut b = Builder::new("gemm");
        let x = b.input("x", &[3, 4]);
        let other = b.op("other", Op::Unary(UnaryOp::Tanh), &[x], &[3, 4]);
        let w = b.constant("w", &[4, 4], data(16, 1));
        let mut inputs = vec![x, w];
        if with_c {
            inputs.push(b.constant("c", &[3, 1], data(3, 4)));
        }
        let gemm = Op::Gemm { alpha: 0.5, beta: 2.0, trans_a: false, trans_b: true, activation: None };
        let y = b.op("gemm", gemm, &inputs, &[3, 4]);
        let one = b.constant("one", &[], vec![1.5]);
        let y = b.op("more", Op::Binary(BinaryOp::Add), &[y, one], &[3, 4]);
        let y = b.op("sum", Op::Sum, &[other, y], &[3, 4]);
        let y = relu(&mut b, "relu", y);
        let fused = same(&b.output(&[y]));
        let due: &[&str] = if with_c { &["Tanh", "Gemm", "Add", "Sum", "Relu"] } else { &["Tanh", "Gemm"] };
        assert_eq!(ops(&fused), due, "a second bias stays");
    }
}

/// A constant for each row, a value that comes later, one that others read, and functions that the kernels do
/// not apply stay.
#[test]
fn what_a_product_cannot_take_stays() {
    let mut b = Builder::new("stays");
    let x = b.input("x", &[5, 4]);
    let y = matmul(&mut b, "rows", x, 3);
    let rows = b.constant("k", &[5, 1], data(5, 1));
    let y = b.op("by_row", Op::Binary(BinaryOp::Add), &[y, rows], &[5, 3]);
    let read = matmul(&mut b, "read", y, 3);
    let one = b.op("one", Op::Unary(UnaryOp::Relu), &[read], &[5, 3]);
    let late = b.op("late", Op::Unary(UnaryOp::Tanh), &[one], &[5, 3]);
    let sum = b.op("both", Op::Binary(BinaryOp::Add), &[read, late], &[5, 3]);
    let last = matmul(&mut b, "last", sum, 3);
    let end = b.op("end", Op::Unary(UnaryOp::Tanh), &[last], &[5, 3]);
    let fused = same(&b.output(&[end]));
    let due = ["MatMul", "Add", "MatMul", "Relu", "Tanh", "Add", "MatMul", "Tanh"];
    assert_eq!(ops(&fused), due);
}
