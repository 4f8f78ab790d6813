//! Networks whose tensors are over a small binding limit, all of kernels that run in segments.

use super::graphs::Builder;
use sublet::graph::{BinaryOp, DType, Graph, Op, UnaryOp, Value, ValueId};

/// The binding limit these networks are over, bytes.
pub const LIMIT_BYTES: u64 = 4096;

/// Whole numbers of eighths in -4..4: sums of a few products are exact, so that the order of adding shows in
/// nothing.
fn numbers(len: usize) -> Vec<f32> {
    (0..len as u64).map(|i| ((i * 7919 + 13) % 64) as f32 / 8.0 - 4.0).collect()
}

fn add(b: &mut Builder, name: &str, x: ValueId, y: ValueId, shape: &[usize]) -> ValueId {
    b.op(name, Op::Binary(BinaryOp::Add), &[x, y], shape)
}

/// Every network with the number of dispatches it needs at least.
pub fn all() -> Vec<(Graph, usize)> {
    vec![
        (elementwise(), 25),
        (broadcasts(), 20),
        (joins(), 30),
        (moves(), 10),
        (sums(), 18),
        (normalisation([1, 6, 640]), 10),
        (normalisation([1, 2, 1280]), 7),
        (normalisation([3, 64, 18]), 10),
        (products(), 20),
        (batches(), 8),
        (thin_products(), 8),
        (lookups(), 8),
        (words(), 15),
    ]
}

/// 5,001 elements through unary functions and equal shapes, one tensor twice.
fn elementwise() -> Graph {
    let mut b = Builder::new("elementwise");
    let shape = [5001];
    let x = b.input("x", &shape);
    let own = b.constant("own", &shape, numbers(5001));
    let t = b.op("t", Op::Unary(UnaryOp::Tanh), &[x], &shape);
    let d = add(&mut b, "d", t, t, &shape);
    let m = b.op("m", Op::Binary(BinaryOp::Mul), &[d, own], &shape);
    let n = b.op("n", Op::Binary(BinaryOp::Sub), &[m, t], &shape);
    let out = b.op("out", Op::Unary(UnaryOp::Relu), &[n], &shape);
    b.output(&[out, m])
}

/// A scalar, a row, a channel each, both sides, and a whole broadcast along the outermost dimension.
fn broadcasts() -> Graph {
    let mut b = Builder::new("broadcasts");
    let shape = [1, 5, 16, 64];
    let x = b.input("x", &shape);
    let column = b.input("column", &[16, 1]);
    let two = b.constant("two", &[], vec![2.0]);
    let row = b.constant("row", &[64], numbers(64));
    let channel = b.constant("channel", &[5, 1, 1], numbers(5));
    let image = b.constant("image", &[1, 1, 16, 64], numbers(1024));
    let t = b.op("t", Op::Binary(BinaryOp::Mul), &[x, two], &shape);
    let t = add(&mut b, "u", row, t, &shape);
    let t = b.op("v", Op::Binary(BinaryOp::Prelu), &[t, channel], &shape);
    let t = b.op("w", Op::Binary(BinaryOp::Sub), &[image, t], &shape);
    let out = add(&mut b, "out", t, column, &shape);
    b.output(&[out])
}

/// Concatenations along the first, a middle and the last axis; rows of odd length; a tensor with itself.
fn joins() -> Graph {
    let mut b = Builder::new("joins");
    let x = b.input("x", &[7, 11, 23]);
    let y = b.input("y", &[7, 11, 40]);
    let t = b.op("t", Op::Unary(UnaryOp::Neg), &[x], &[7, 11, 23]);
    let last = b.op("last", Op::Concat { axis: 2 }, &[t, y], &[7, 11, 63]);
    let middle = b.op("middle", Op::Concat { axis: 1 }, &[last, last], &[7, 22, 63]);
    let first = b.op("first", Op::Concat { axis: 0 }, &[middle, middle], &[14, 22, 63]);
    let out = b.op("out", Op::Unary(UnaryOp::Relu), &[first], &[14, 22, 63]);
    b.output(&[out])
}

/// Copies under another shape, a slice forwards, and a sum of one.
fn moves() -> Graph {
    let mut b = Builder::new("moves");
    let x = b.input("x", &[30, 77]);
    let t = b.op("t", Op::Unary(UnaryOp::Neg), &[x], &[30, 77]);
    let flat = b.op("flat", Op::Copy, &[t], &[2310]);
    let one = b.op("one", Op::Sum, &[flat], &[2310]);
    let back = b.op("back", Op::Copy, &[one], &[30, 77]);
    let slice = Op::Slice { starts: vec![3, 1], steps: vec![2, 3] };
    let out = b.op("out", slice, &[back], &[13, 25]);
    b.output(&[out, back])
}

/// Sums of equal and of broadcast shapes: later dispatches read what earlier ones wrote.
fn sums() -> Graph {
    let mut b = Builder::new("sums");
    let shape = [40, 64];
    let x = b.input("x", &shape);
    let row = b.constant("row", &[64], numbers(64));
    let t = b.op("t", Op::Unary(UnaryOp::Neg), &[x], &shape);
    let s = b.op("s", Op::Sum, &[t, x, t, row], &shape);
    let out = b.op("out", Op::Sum, &[row, s, s], &shape);
    b.output(&[out])
}

/// Batch normalisation, cut by channels, within a channel, or within each image.
fn normalisation(shape: [usize; 3]) -> Graph {
    let mut b = Builder::new("normalisation");
    let channels = shape[1];
    let x = b.input("x", &shape);
    let t = b.op("t", Op::Unary(UnaryOp::Neg), &[x], &shape);
    let mut inputs = vec![t];
    for name in ["scale", "bias", "mean"] {
        inputs.push(b.constant(name, &[channels], numbers(channels)));
    }
    let variance = numbers(channels).iter().map(|v| v.abs() + 0.5).collect();
    inputs.push(b.constant("variance", &[channels], variance));
    let out = b.op("out", Op::BatchNormalization { epsilon: 1e-5 }, &inputs, &shape);
    b.output(&[out])
}

/// Many rows: a product, one with a bias and one with a whole matrix added.
fn products() -> Graph {
    let mut b = Builder::new("products");
    let x = b.input("x", &[203, 31]);
    let w = b.constant("w", &[31, 33], numbers(31 * 33));
    let v = b.constant("v", &[30, 33], numbers(30 * 33));
    let bias = b.constant("bias", &[30], numbers(30));
    let t = b.op("t", Op::MatMul { activation: None }, &[x, w], &[203, 33]);
    let gemm = |beta| Op::Gemm { alpha: 0.5, beta, trans_a: false, trans_b: true, activation: None };
    let u = b.op("u", gemm(2.0), &[t, v, bias], &[203, 30]);
    let r = b.op("r", Op::Unary(UnaryOp::Relu), &[u], &[203, 30]);
    let out = b.op("out", gemm(1.0), &[t, v, r], &[203, 30]);
    b.output(&[out])
}

/// Stacks of matrices, each with its own right side, and a stack whose matrices are over the limit.
fn batches() -> Graph {
    let mut b = Builder::new("batches");
    let x = b.input("x", &[2, 6, 20, 25]);
    let y = b.input("y", &[2, 6, 25, 10]);
    let z = b.input("z", &[2, 1, 10, 90]);
    let t = b.op("t", Op::MatMul { activation: None }, &[x, y], &[2, 6, 20, 10]);
    let out = b.op("out", Op::MatMul { activation: None }, &[t, z], &[2, 6, 20, 90]);
    b.output(&[out])
}

/// Rows of a table named by indices, with rows of odd length, and places of two indices.
fn lookups() -> Graph {
    let mut b = Builder::new("lookups");
    let indices: Vec<i32> = (0..20).map(|i| (i * 37) % 200 - 100).collect();
    let table = b.constant("table", &[100, 33], numbers(3300));
    let rows = b.0.value(Value::i32_constant("rows", [20], &indices));
    let t = b.op("t", Op::Gather { axis: 0 }, &[table, rows], &[20, 33]);
    let places: Vec<i32> = (0..40).map(|i| (i * 37) % 59 - 29).collect();
    let x = b.input("x", &[30, 30, 5]);
    let places = b.0.value(Value::i32_constant("places", [20, 2], &places));
    let u = b.op("u", Op::GatherNd { batch_dims: 0 }, &[x, places], &[20, 5]);
    b.output(&[t, u])
}

/// Comparisons, choices and conversions over the limit.
fn words() -> Graph {
    let mut b = Builder::new("words");
    let shape = [2600];
    let x = b.input("x", &shape);
    let half = b.constant("half", &[], vec![0.5]);
    let large = typed(&mut b, "large", Op::Binary(BinaryOp::Greater), &[x, half], &shape, DType::Bool);
    let whole = typed(&mut b, "whole", Op::Cast, &[x], &shape, DType::I32);
    let sum = typed(&mut b, "sum", Op::Binary(BinaryOp::Add), &[whole, whole], &shape, DType::I32);
    let back = typed(&mut b, "back", Op::Cast, &[sum], &shape, DType::F32);
    let out = b.op("out", Op::Select, &[large, x, back], &shape);
    b.output(&[out])
}

fn typed(b: &mut Builder, name: &str, op: Op, inputs: &[ValueId], shape: &[usize], dtype: DType) -> ValueId {
    let id = b.op(name, op, inputs, shape);
    b.0.values[id.index()].dtype = dtype;
    id
}

/// Up to four rows times matrices, in stacks.
fn thin_products() -> Graph {
    let mut b = Builder::new("thin_products");
    let x = b.input("x", &[40, 3, 17]);
    let y = b.input("y", &[40, 17, 13]);
    let t = b.op("t", Op::MatMul { activation: None }, &[x, y], &[40, 3, 13]);
    let out = b.op("out", Op::Unary(UnaryOp::Neg), &[t], &[40, 3, 13]);
    b.output(&[out])
}
