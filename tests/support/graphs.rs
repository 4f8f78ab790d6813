//! Small graphs for tests of executors.

use sublet::graph::{BinaryOp, Graph, Op, UnaryOp, Value, ValueId};

/// A graph under construction whose nodes are named after their outputs.
pub struct Builder(pub Graph);

impl Builder {
    pub fn new(name: &str) -> Self {
        Builder(Graph::new(name))
    }

    pub fn input(&mut self, name: &str, shape: &[usize]) -> ValueId {
        let id = self.0.value(Value::f32(name, shape));
        self.0.inputs.push(id);
        id
    }

    pub fn constant(&mut self, name: &str, shape: &[usize], data: Vec<f32>) -> ValueId {
        self.0.value(Value::f32_constant(name, shape, data))
    }

    pub fn op(&mut self, name: &str, op: Op, inputs: &[ValueId], shape: &[usize]) -> ValueId {
        let id = self.0.value(Value::f32(name, shape));
        self.0.node(format!("{name}_node"), op, inputs.to_vec(), vec![id]);
        id
    }

    pub fn output(mut self, ids: &[ValueId]) -> Graph {
        self.0.outputs = ids.to_vec();
        self.0
    }
}

/// `x -> relu -> t; t + t -> d; d * t -> m; concat(m, d) -> c; c + 1 -> out`: the same tensor bound twice,
/// a concat and enough life to reuse bytes.
pub fn same_tensor_twice(len: usize) -> Graph {
    let mut b = Builder::new("same_tensor_twice");
    let x = b.input("x", &[1, len]);
    let one = b.constant("one", &[1], vec![1.0]);
    let t = b.op("t", Op::Unary(UnaryOp::Relu), &[x], &[1, len]);
    let d = b.op("d", Op::Binary(BinaryOp::Add), &[t, t], &[1, len]);
    let m = b.op("m", Op::Binary(BinaryOp::Mul), &[d, t], &[1, len]);
    let c = b.op("c", Op::Concat { axis: 1 }, &[m, d], &[1, 2 * len]);
    let e = b.op("e", Op::Binary(BinaryOp::Add), &[c, one], &[1, 2 * len]);
    let out = b.op("out", Op::Sum, &[e, c, e], &[1, 2 * len]);
    b.output(&[out])
}

/// What [`same_tensor_twice`] computes, by hand.
pub fn same_tensor_twice_expected(x: &[f32]) -> Vec<f32> {
    let t: Vec<f32> = x.iter().map(|x| x.max(0.0)).collect();
    let d = t.iter().map(|t| t + t);
    let m = t.iter().map(|t| (t + t) * t);
    m.chain(d).map(|c| (c + 1.0) + c + (c + 1.0)).collect()
}

/// Scalars, tensors of no element, and outputs that nobody reads.
pub fn odd_shapes() -> Graph {
    let mut b = Builder::new("odd_shapes");
    let x = b.input("x", &[]);
    let y = b.input("y", &[3, 0]);
    let z = b.input("z", &[3, 2]);
    let two = b.constant("two", &[], vec![2.0]);
    let scalar = b.op("scalar", Op::Binary(BinaryOp::Mul), &[x, two], &[]);
    let empty = b.op("empty", Op::Unary(UnaryOp::Relu), &[y], &[3, 0]);
    let joined = b.op("joined", Op::Concat { axis: 1 }, &[empty, z], &[3, 2]);
    b.op("unused", Op::Unary(UnaryOp::Tanh), &[joined], &[3, 2]);
    let out = b.op("out", Op::Binary(BinaryOp::Add), &[joined, scalar], &[3, 2]);
    let nothing = b.op("nothing", Op::Copy, &[empty], &[0]);
    b.output(&[scalar, out, nothing])
}

/// A chain of element-wise nodes over `len` elements that ends in one output.
pub fn chain(len: usize, nodes: usize) -> Graph {
    let mut b = Builder::new("chain");
    let mut last = b.input("x", &[len]);
    for i in 0..nodes {
        let op = if i % 2 == 0 { UnaryOp::Tanh } else { UnaryOp::LeakyRelu { alpha: 0.5 } };
        last = b.op(&format!("t{i}"), Op::Unary(op), &[last], &[len]);
    }
    b.output(&[last])
}
