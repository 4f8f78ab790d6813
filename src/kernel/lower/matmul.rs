//! Matrix products: strides from shapes, and operands over the binding limit in segments of matrices, rows,
//! columns or k.

use super::conv::activation_words;
use super::grid::Lowering;
use super::segments::{Segment, Walked, segments};
use super::{LowerError, LowerLimits};
use crate::graph::{Graph, Node, Op, ValueId};
use crate::kernel::{Dispatch, KernelId, Operand, ParamWriter};

/// Side of a tile of `matmul`.
const TILE: usize = 64;
/// Rows up to which `matvec` is used.
const MATVEC_ROWS: usize = 4;
/// Invocations of a workgroup of `matvec`.
const WORKGROUP: usize = 64;

/// A product `[batch.., m, k] x [batch.., k, n]`, strides in elements.
struct Product {
    m: usize,
    n: usize,
    k: usize,
    /// Strides of `a` along m and k, of `b` along k and n, of `c` along m and n.
    a: [usize; 2],
    b: [usize; 2],
    c: [usize; 2],
    batch: [usize; 3],
    a_batch: [usize; 3],
    b_batch: [usize; 3],
    alpha: f32,
    beta: f32,
    /// `a`, `b`, `c`, the addend.
    operands: [Operand; 4],
    output: Operand,
    activation: (u32, f32, f32),
}

/// A part of a product that one dispatch computes.
struct Part {
    batch: [usize; 3],
    m: usize,
    n: usize,
    k: usize,
    /// What it binds: `a`, `b`, `c`, the addend, the output; and the first elements in that.
    operands: [Operand; 5],
    starts: [usize; 5],
    /// Whether it adds to what stands in the output, whether it is the last to do so, and whether it leaves
    /// none of that.
    accumulate: bool,
    finishes: bool,
    fills_output: bool,
}

/// Dispatches of an [`Op::MatMul`] or [`Op::Gemm`].
pub(super) fn lower_matmul(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
) -> Result<Vec<Dispatch>, LowerError> {
    let cx = Lowering::new(graph, node, limits);
    let product = match node.op {
        Op::MatMul { .. } => Product::of_matmul(&cx)?,
        Op::Gemm { alpha, beta, trans_a, trans_b, .. } => {
            Product::of_gemm(&cx, [alpha, beta], trans_a, trans_b)?
        }
        _ => return Err(cx.unsupported("not a matrix product")),
    };
    if product.output == Operand::Absent {
        return Ok(Vec::new());
    }
    // The last resort is refused in the end, by the tensor that is over the limit.
    let most = limits.max_binding_bytes;
    let parts = product.by_rows(most).or_else(|| product.by_columns(most)).or_else(|| product.by_k(most));
    let parts = parts.unwrap_or_else(|| vec![product.whole()]);
    parts.into_iter().map(|part| product.dispatch(&cx, part)).collect()
}

impl Product {
    fn of_gemm(
        cx: &Lowering,
        factors: [f32; 2],
        trans_a: bool,
        trans_b: bool,
    ) -> Result<Product, LowerError> {
        let (a, b, y) = (cx.input(0)?, cx.input(1)?, cx.output()?);
        let (&[a0, a1], &[b0, b1], &[m, n]) = (cx.shape(a), cx.shape(b), cx.shape(y)) else {
            return Err(misfit(cx, a, b, y));
        };
        let (a_m, k) = if trans_a { (a1, a0) } else { (a0, a1) };
        let (b_k, b_n) = if trans_b { (b1, b0) } else { (b0, b1) };
        if (a_m, b_k, b_n) != (m, k, n) {
            return Err(misfit(cx, a, b, y));
        }
        let (c, c_strides) = match cx.node.inputs.get(2) {
            None => (Operand::Absent, [0, 0]),
            Some(id) => (cx.whole(*id)?, c_strides(cx, *id, m, n)?),
        };
        Ok(Product {
            m,
            n,
            k,
            a: if trans_a && m != 1 { [1, m] } else { [k, 1] },
            b: if trans_b || n == 1 { [1, k] } else { [n, 1] },
            c: c_strides,
            batch: [1; 3],
            a_batch: [0; 3],
            b_batch: [0; 3],
            alpha: factors[0],
            beta: factors[1],
            operands: [cx.whole(a)?, cx.whole(b)?, c, addend(cx, y)?],
            output: cx.whole(y)?,
            activation: activation(cx)?,
        })
    }

    fn of_matmul(cx: &Lowering) -> Result<Product, LowerError> {
        let (a, b, y) = (cx.input(0)?, cx.input(1)?, cx.output()?);
        let (a_dims, m, a_k) = match cx.shape(a) {
            [] => return Err(misfit(cx, a, b, y)),
            [k] => (&[][..], 1, *k),
            [batch @ .., m, k] => (batch, *m, *k),
        };
        let (b_dims, k, n) = match cx.shape(b) {
            [] => return Err(misfit(cx, a, b, y)),
            [k] => (&[][..], *k, 1),
            [batch @ .., k, n] => (batch, *k, *n),
        };
        let batch = broadcast(a_dims, b_dims).filter(|_| a_k == k).ok_or_else(|| misfit(cx, a, b, y))?;
        let y_len = batch.iter().chain([&m, &n]).try_fold(1usize, |len, dim| len.checked_mul(*dim));
        if y_len != Some(cx.graph.get(y).len()) {
            return Err(misfit(cx, a, b, y));
        }
        let a_batch = batch_strides(a_dims, batch.len(), m * k);
        let b_batch = batch_strides(b_dims, batch.len(), k * n);
        // A stack of matrices times one matrix is one taller product.
        let (batch, a_batch, b_batch, m) = if b_dims.iter().all(|d| *d == 1) {
            (vec![], vec![], vec![], batch.iter().product::<usize>() * m)
        } else {
            (batch, a_batch, b_batch, m)
        };
        let c = cx.node.inputs.get(2).map_or(Ok(Operand::Absent), |id| cx.whole(*id))?;
        if matches!(c, Operand::Value { len, .. } if len != n) {
            return Err(cx.unsupported(format!("a bias for each of {n} columns is due")));
        }
        let [batch, a_batch, b_batch] = three_dims(&batch, &a_batch, &b_batch)
            .ok_or_else(|| cx.unsupported("more than 3 batch dimensions that do not merge"))?;
        Ok(Product {
            m,
            n,
            k,
            a: [k, 1],
            b: if n == 1 { [1, k] } else { [n, 1] },
            c: [0, 1],
            batch,
            a_batch,
            b_batch,
            alpha: 1.0,
            beta: 1.0,
            operands: [cx.whole(a)?, cx.whole(b)?, c, addend(cx, y)?],
            output: cx.whole(y)?,
            activation: activation(cx)?,
        })
    }

    /// The product as one part.
    fn whole(&self) -> Part {
        let [a, b, c, addend] = self.operands;
        Part {
            batch: self.batch,
            m: self.m,
            n: self.n,
            k: self.k,
            operands: [a, b, c, addend, self.output],
            starts: [0; 5],
            accumulate: false,
            finishes: true,
            fills_output: true,
        }
    }

    /// The operands and the output, each walked by its `strides` over some space, `tails` elements a step;
    /// the addend as the output.
    fn walked<const D: usize>(&self, strides: [[usize; D]; 4], tails: [usize; 4]) -> [Walked; 5] {
        let all = self.whole().operands;
        std::array::from_fn(|i| Walked {
            operand: all[i],
            start: 0,
            strides: strides[i.min(3)].iter().map(|stride| *stride as i64).collect(),
            tail_len: tails[i.min(3)],
            movable: true,
        })
    }

    /// A segment's part, but for its sizes.
    fn part(&self, segment: &Segment) -> Part {
        Part {
            operands: std::array::from_fn(|i| segment.operands[i]),
            starts: std::array::from_fn(|i| segment.starts[i] as usize),
            ..self.whole()
        }
    }

    /// Matrices of the batch, then rows of `a`, `c` and the output, dealt to as many parts as the binding
    /// limit asks for.
    fn by_rows(&self, max_binding_bytes: u64) -> Option<Vec<Part>> {
        let [[a0, a1, a2], [b0, b1, b2]] = [self.a_batch, self.b_batch];
        let (matrix, [d0, d1, d2]) = (self.m * self.n, self.batch);
        let strides = [
            [a0, a1, a2, self.a[0]],
            [b0, b1, b2, 0],
            [0, 0, 0, self.c[0]],
            [d1 * d2 * matrix, d2 * matrix, matrix, self.n],
        ];
        let b_len = reach(self.k, self.b[0]) + reach(self.n, self.b[1]) - 1;
        let tails = [reach(self.k, self.a[1]), b_len, reach(self.n, self.c[1]), self.n];
        let found = segments(&[d0, d1, d2, self.m], &self.walked(strides, tails), max_binding_bytes)?;
        let rows = |segment: &Segment| {
            let [d0, d1, d2, m] = std::array::from_fn(|i| segment.dims[i]);
            let part = Part { batch: [d0, d1, d2], m, ..self.part(segment) };
            let filled = d0 * d1 * d2 * m * self.n;
            let fills_output = matches!(part.operands[4], Operand::Value { len, .. } if len == filled);
            Part { fills_output, ..part }
        };
        Some(found.iter().map(rows).collect())
    }

    /// Columns of `b`, `c` and the output: serves where `b` is stored by columns.
    fn by_columns(&self, max_binding_bytes: u64) -> Option<Vec<Part>> {
        if self.batch != [1; 3] {
            return None;
        }
        let strides = [[0], [self.b[1]], [self.c[1]], [1]];
        let a_len = reach(self.m, self.a[0]) + reach(self.k, self.a[1]) - 1;
        let tails = [a_len, reach(self.k, self.b[0]), reach(self.m, self.c[0]), reach(self.m, self.n)];
        let found = segments(&[self.n], &self.walked(strides, tails), max_binding_bytes)?;
        let columns =
            |segment: &Segment| Part { n: segment.dims[0], fills_output: false, ..self.part(segment) };
        Some(found.iter().map(columns).collect())
    }

    /// Ranges of k, whose products are added up: serves where a row of `b`, or a column of `a`, lies in one
    /// piece.
    fn by_k(&self, max_binding_bytes: u64) -> Option<Vec<Part>> {
        if self.batch != [1; 3] || self.k == 0 {
            return None;
        }
        let strides = [[self.a[1]], [self.b[0]], [0], [0]];
        let c_len = reach(self.m, self.c[0]) + reach(self.n, self.c[1]) - 1;
        let tails = [reach(self.m, self.a[0]), reach(self.n, self.b[1]), c_len, self.m * self.n];
        let found = segments(&[self.k], &self.walked(strides, tails), max_binding_bytes)?;
        let inner = |(i, segment): (usize, &Segment)| Part {
            k: segment.dims[0],
            accumulate: i > 0,
            finishes: i + 1 == found.len(),
            fills_output: i == 0,
            ..self.part(segment)
        };
        Some(found.iter().enumerate().map(inner).collect())
    }

    fn dispatch(&self, cx: &Lowering, part: Part) -> Result<Dispatch, LowerError> {
        let Part { m, n, k, operands: [a, b, mut c, mut addend, output], .. } = part;
        if part.accumulate {
            (c, addend) = (Operand::Absent, Operand::Absent);
        }
        let is_there = |operand| u32::from(operand != Operand::Absent);
        let (act, act_a, act_b) = if part.finishes { self.activation } else { (0, 0.0, 0.0) };
        // Whatever a part's rows, so that a row's sum is added up alike in every cut.
        let matvec = self.m <= MATVEC_ROWS && k > 0;
        let k_fast = self.b[0] == 1;
        let lanes = if k_fast { 16 } else { 4 };
        let batches: usize = part.batch.iter().product();
        let workgroups = if matvec {
            let [x, y] = cx.fold(n.div_ceil(WORKGROUP / lanes * if m == 1 { 4 } else { 1 }));
            cx.workgroups([x, y, batches])?
        } else {
            cx.workgroups([n.div_ceil(TILE), m.div_ceil(TILE), batches])?
        };
        let block = cx.words(ParamWriter::new(5), &[m, n, k])?;
        let block = cx.words(block, &[self.a, self.b, self.c].concat())?;
        let block = cx.words(block, &[self.n])?;
        let block = cx.words(block, &part.starts)?;
        let block = cx.words(block, &[part.batch, self.a_batch, self.b_batch].concat())?;
        let block = block.f32(self.alpha).f32(self.beta).u32(is_there(c)).u32(u32::from(part.accumulate));
        let block = block.u32(is_there(addend)).u32(act).f32(act_a).f32(act_b);
        let block = cx.words(block, &[lanes, usize::from(k_fast)])?;
        Ok(Dispatch {
            kernel: if matvec { KernelId::Matvec } else { KernelId::Matmul },
            inputs: vec![a, b, c, addend],
            output,
            params: block.finish(),
            workgroups,
            fills_output: part.fills_output,
            rows: None,
        })
    }
}

/// What is added to the output, element by element.
fn addend(cx: &Lowering, y: ValueId) -> Result<Operand, LowerError> {
    match cx.node.inputs.get(3) {
        None => Ok(Operand::Absent),
        Some(id) if cx.shape(*id) == cx.shape(y) => cx.whole(*id),
        Some(id) => Err(cx.unsupported(format!("an addend {:?} of {:?}", cx.shape(*id), cx.shape(y)))),
    }
}

fn activation(cx: &Lowering) -> Result<(u32, f32, f32), LowerError> {
    match cx.node.op {
        Op::MatMul { activation } | Op::Gemm { activation, .. } => activation_words(cx, activation),
        _ => Ok((0, 0.0, 0.0)),
    }
}

/// Elements from the first to the last of `len` that are `stride` apart.
fn reach(len: usize, stride: usize) -> usize {
    len.saturating_sub(1) * stride + 1
}

fn misfit(cx: &Lowering, a: ValueId, b: ValueId, y: ValueId) -> LowerError {
    cx.unsupported(format!("{:?} times {:?} is not {:?}", cx.shape(a), cx.shape(b), cx.shape(y)))
}

/// Strides of `c` along m and n, 0 where it is broadcast.
fn c_strides(cx: &Lowering, c: ValueId, m: usize, n: usize) -> Result<[usize; 2], LowerError> {
    let (rows, columns) = match *cx.shape(c) {
        [] => (1, 1),
        [columns] => (1, columns),
        [rows, columns] => (rows, columns),
        _ => (0, 0),
    };
    if (rows != 1 && rows != m) || (columns != 1 && columns != n) {
        return Err(cx.unsupported(format!("c {:?} does not broadcast to [{m}, {n}]", cx.shape(c))));
    }
    Ok([if rows == 1 { 0 } else { columns }, usize::from(columns != 1)])
}

/// Broadcast batch dimensions, aligned at the right.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let dim = |dims: &[usize], i: usize| (i + dims.len()).checked_sub(rank).map_or(1, |i| dims[i]);
    (0..rank)
        .map(|i| match (dim(a, i), dim(b, i)) {
            (a, b) if a == b || b == 1 => Some(a),
            (1, b) => Some(b),
            _ => None,
        })
        .collect()
}

/// Strides of an operand along the batch dimensions, 0 where it is broadcast.
fn batch_strides(dims: &[usize], rank: usize, matrix_len: usize) -> Vec<usize> {
    let mut strides = vec![0; rank];
    let mut stride = matrix_len;
    for (out, dim) in strides.iter_mut().rev().zip(dims.iter().rev()) {
        if *dim != 1 {
            *out = stride;
        }
        stride *= dim;
    }
    strides
}

/// The batch as at most three dimensions: ones dropped, neighbours merged where both operands step evenly.
fn three_dims(dims: &[usize], a: &[usize], b: &[usize]) -> Option<[[usize; 3]; 3]> {
    let mut merged: Vec<[usize; 3]> = Vec::new();
    for ((dim, a), b) in dims.iter().zip(a).zip(b).filter(|((dim, _), _)| **dim != 1) {
        match merged.last_mut() {
            Some([outer, outer_a, outer_b]) if *outer_a == a * dim && *outer_b == b * dim => {
                (*outer, *outer_a, *outer_b) = (*outer * dim, *a, *b);
            }
            _ => merged.push([*dim, *a, *b]),
        }
    }
    if merged.len() > 3 {
        return None;
    }
    while merged.len() < 3 {
        merged.insert(0, [1, 0, 0]);
    }
    Some([0, 1, 2].map(|i| [merged[0][i], merged[1][i], merged[2][i]]))
}
