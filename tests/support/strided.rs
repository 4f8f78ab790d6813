//! Graphs whose concatenations join along an inner axis.

use super::graphs::Builder;
use sublet::graph::{BinaryOp, Graph, Op, PoolKind, UnaryOp, ValueId, Window};

/// A spread of numbers around 0.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 37) % 23) as f32 / 11.0 - 1.0).collect()
}

/// Producers of every family side by side in one result `[2, 3, columns]`, and what follows reads it whole.
pub fn families() -> Graph {
    let mut b = Builder::new("families");
    let x = b.input("x", &[2, 3, 8]);
    let y = b.input("y", &[2, 3, 8]);
    let shape = [2, 3, 8];
    let mut parts = vec![
        b.op("unary", Op::Unary(UnaryOp::Tanh), &[x], &shape),
        b.op("binary", Op::Binary(BinaryOp::Mul), &[x, y], &shape),
        b.op("mean", Op::ReduceMean { axes: vec![2] }, &[x], &[2, 3, 1]),
    ];
    let weights = b.constant("weights", &[8, 5], numbers(40));
    parts.push(b.op("product", Op::MatMul { activation: None }, &[x, weights], &[2, 3, 5]));
    let tall = b.constant("tall", &[2, 8, 70], numbers(1120));
    parts.push(b.op("batched", Op::MatMul { activation: None }, &[y, tall], &[2, 3, 70]));
    let window = Window { kernel: [1, 3], strides: [1, 1], pads: [0, 1, 0, 1], dilations: [1, 1] };
    let filters = b.constant("filters", &[3, 3, 3], numbers(27));
    let conv = Op::Conv { window, groups: 1, activation: None };
    parts.push(b.op("conv", conv, &[x, filters], &shape));
    let filters = b.constant("depthwise_filters", &[3, 1, 3], numbers(9));
    let conv = Op::Conv { window, groups: 3, activation: Some(UnaryOp::Relu) };
    parts.push(b.op("depthwise", conv, &[y, filters], &shape));
    let pool = Op::Pool { kind: PoolKind::Max, window };
    parts.push(b.op("pool", pool, &[x], &shape));
    let turned = b.op("turned", Op::Unary(UnaryOp::Neg), &[y], &shape);
    let turned = b.op("flat", Op::Copy, &[turned], &[8, 6]);
    let turned = b.op("turn", Op::Transpose { perm: vec![1, 0] }, &[turned], &[6, 8]);
    parts.push(b.op("shaped", Op::Copy, &[turned], &shape));
    let back = Op::Slice { starts: vec![0, 0, 7], steps: vec![1, 1, -2] };
    parts.push(b.op("slice", back, &[x], &[2, 3, 4]));
    let rank = Op::TopK { axis: 2, largest: true, indices: false };
    parts.push(b.op("top", rank, &[x], &[2, 3, 2]));
    let sum = Op::CumSum { axis: 2, exclusive: false, reverse: false };
    parts.push(b.op("running", sum, &[y], &shape));
    let columns = parts.iter().map(|id| b.0.get(*id).shape[2]).sum();
    let joined = b.op("joined", Op::Concat { axis: 2 }, &parts, &[2, 3, columns]);
    let end = b.op("end", Op::Unary(UnaryOp::Abs), &[joined], &[2, 3, columns]);
    b.output(&[end])
}

/// An image convolved by tiles, reshaped and joined with others, as the heads of detectors are.
pub fn heads() -> Graph {
    let mut b = Builder::new("heads");
    let x = b.input("x", &[1, 4, 8, 8]);
    let mut parts = Vec::new();
    for (i, side) in [8usize, 4, 2].into_iter().enumerate() {
        let stride = 8 / side;
        let window =
            Window { kernel: [3, 3], strides: [stride, stride], pads: [1, 1, 1, 1], dilations: [1, 1] };
        let filters = b.constant(&format!("w{i}"), &[18, 4, 3, 3], numbers(18 * 36));
        let conv = Op::Conv { window, groups: 1, activation: None };
        let map = b.op(&format!("conv{i}"), conv, &[x, filters], &[1, 18, side, side]);
        parts.push(b.op(&format!("flat{i}"), Op::Copy, &[map], &[1, 18, side * side]));
    }
    let joined = b.op("joined", Op::Concat { axis: 2 }, &parts, &[1, 18, 84]);
    let end = b.op("end", Op::Unary(UnaryOp::Sigmoid), &[joined], &[1, 18, 84]);
    b.output(&[end])
}

/// A producer of two concatenations, one of a tensor with itself, one inside another, and two of which the
/// caller takes the result or a part.
pub fn shared() -> Graph {
    let mut b = Builder::new("shared");
    let x = b.input("x", &[4, 6]);
    let op = |b: &mut Builder, name: &str, f: UnaryOp| b.op(name, Op::Unary(f), &[x], &[4, 6]);
    let join = |b: &mut Builder, name: &str, parts: &[ValueId]| {
        let columns = parts.iter().map(|id| b.0.get(*id).shape[1]).sum();
        b.op(name, Op::Concat { axis: 1 }, parts, &[4, columns])
    };
    let (t, u) = (op(&mut b, "t", UnaryOp::Tanh), op(&mut b, "u", UnaryOp::Relu));
    let one = join(&mut b, "one", &[t, u]);
    let two = join(&mut b, "two", &[u, t]);
    let both = b.op("both", Op::Binary(BinaryOp::Add), &[one, two], &[4, 12]);
    let s = op(&mut b, "s", UnaryOp::Neg);
    let twice = join(&mut b, "twice", &[s, s]);
    let outer = join(&mut b, "outer", &[twice, both]);
    let v = op(&mut b, "v", UnaryOp::Abs);
    let w = op(&mut b, "w", UnaryOp::Exp);
    let taken = join(&mut b, "taken", &[v, w]);
    let end = b.op("end", Op::Unary(UnaryOp::Tanh), &[outer], &[4, 24]);
    b.output(&[end, taken, w])
}
