//! Random small graphs of operators that share storage or might: views, concatenations, element-wise chains.

use super::graphs::Builder;
use super::random_problem::Random;
use sublet::graph::{BinaryOp, Graph, Op, UnaryOp, ValueId};

/// Draws a graph of `nodes` nodes over tensors of a few elements; everything that nobody reads is an output,
/// and so is a value now and then that is read.
pub fn draw(random: &mut Random, nodes: usize) -> Graph {
    let mut b = Builder::new("random");
    let mut known = vec![b.input("x", &[1, 2, 3]), b.input("y", &[4, 3])];
    let constant: Vec<f32> = (0..6).map(|i| i as f32 - 2.5).collect();
    known.push(b.constant("c", &[1, 2, 3], constant));
    for n in 0..nodes {
        let x = known[random.below(known.len() as u64) as usize];
        let id = node(&mut b, random, &format!("t{n}"), x, &known);
        known.push(id);
    }
    let read: Vec<ValueId> = b.0.nodes.iter().flat_map(|n| n.inputs.clone()).collect();
    let written: Vec<ValueId> = b.0.nodes.iter().flat_map(|n| n.outputs.clone()).collect();
    let outputs: Vec<ValueId> =
        written.into_iter().filter(|id| !read.contains(id) || random.once_in(6)).collect();
    b.output(&outputs)
}

fn node(b: &mut Builder, random: &mut Random, name: &str, x: ValueId, known: &[ValueId]) -> ValueId {
    let shape = b.0.get(x).shape.clone();
    let rank = shape.len();
    let same: Vec<ValueId> = known.iter().copied().filter(|k| b.0.get(*k).shape == shape).collect();
    let other = same[random.below(same.len() as u64) as usize];
    match random.below(8) {
        0 => b.op(name, Op::Unary(UnaryOp::Tanh), &[x], &shape),
        1 => b.op(name, Op::Unary(UnaryOp::LeakyRelu { alpha: 0.5 }), &[x], &shape),
        2 => b.op(name, Op::Binary(BinaryOp::Add), &[x, other], &shape),
        3 => b.op(name, Op::Binary(BinaryOp::Mul), &[other, x], &shape),
        4 => {
            let len = shape.iter().product::<usize>();
            let shapes = [vec![len], vec![1, len], vec![len, 1, 1]];
            b.op(name, Op::Copy, &[x], &shapes[random.below(3) as usize])
        }
        5 => {
            let mut perm: Vec<usize> = (0..rank).collect();
            perm.rotate_left(random.below(rank as u64) as usize);
            let out: Vec<usize> = perm.iter().map(|d| shape[*d]).collect();
            b.op(name, Op::Transpose { perm }, &[x], &out)
        }
        6 => slice(b, random, name, x),
        _ => {
            let axis = random.below(rank as u64) as usize;
            let fits = |k: &&ValueId| {
                let other = &b.0.get(**k).shape;
                other.len() == rank && (0..rank).all(|d| d == axis || other[d] == shape[d])
            };
            let fitting: Vec<ValueId> = known.iter().filter(fits).copied().collect();
            let more = 1 + random.below(3) as usize;
            let mut inputs = vec![x];
            inputs.extend((0..more).map(|_| fitting[random.below(fitting.len() as u64) as usize]));
            let mut out = shape.clone();
            out[axis] = inputs.iter().map(|id| b.0.get(*id).shape[axis]).sum();
            if out.iter().product::<usize>() > 400 {
                return b.op(name, Op::Unary(UnaryOp::Relu), &[x], &shape);
            }
            b.op(name, Op::Concat { axis }, &inputs, &out)
        }
    }
}

fn slice(b: &mut Builder, random: &mut Random, name: &str, x: ValueId) -> ValueId {
    let shape = b.0.get(x).shape.clone();
    let (mut starts, mut steps, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for dim in &shape {
        let len = 1 + random.below(*dim as u64) as usize;
        let len = if random.once_in(2) { *dim } else { len };
        let backwards = random.once_in(8);
        starts.push(if backwards { *dim as i64 - 1 } else { (*dim - len) as i64 });
        steps.push(if backwards { -1 } else { 1 });
        out.push(len);
    }
    b.op(name, Op::Slice { starts, steps }, &[x], &out)
}
