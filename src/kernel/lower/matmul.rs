//! Matrix products: strides from shapes, and constants over the binding limit in row segments.

use super::grid::Lowering;
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
    operands: [Operand; 3],
    output: Operand,
}

/// A part of a product that one dispatch computes: `len` of `m`, `n` or `k` from `first` on.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Whole,
    M(usize, usize),
    N(usize, usize),
    K(usize, usize),
}

/// Dispatches of an [`Op::MatMul`] or [`Op::Gemm`].
pub(super) fn lower_matmul(
    graph: &Graph,
    node: &Node,
    limits: LowerLimits,
) -> Result<Vec<Dispatch>, LowerError> {
    let cx = Lowering::new(graph, node, limits);
    let product = match node.op {
        Op::MatMul => Product::of_matmul(&cx)?,
        Op::Gemm { alpha, beta, trans_a, trans_b } => Product::of_gemm(&cx, [alpha, beta], trans_a, trans_b)?,
        _ => return Err(cx.unsupported("not a matrix product")),
    };
    if product.output == Operand::Absent {
        return Ok(Vec::new());
    }
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    let (a_parts, b_parts) = (product.parts(&cx, a, true)?, product.parts(&cx, b, false)?);
    match (a_parts.len(), b_parts.len()) {
        (_, 1) => a_parts.iter().map(|part| product.dispatch(&cx, *part, Some(0))).collect(),
        (1, _) => b_parts.iter().map(|part| product.dispatch(&cx, *part, Some(1))).collect(),
        _ => Err(cx.unsupported(format!(
            "'{}' and '{}' both exceed the {} bytes that one binding holds",
            graph.get(a).name,
            graph.get(b).name,
            limits.max_binding_bytes
        ))),
    }
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
            Some(id) => (cx.unsplit(*id)?, c_strides(cx, *id, m, n)?),
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
            operands: [cx.whole(a)?, cx.whole(b)?, c],
            output: cx.whole(y)?,
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
        let [batch, a_batch, b_batch] = three_dims(&batch, &a_batch, &b_batch)
            .ok_or_else(|| cx.unsupported("more than 3 batch dimensions that do not merge"))?;
        Ok(Product {
            m,
            n,
            k,
            a: [k, 1],
            b: if n == 1 { [1, k] } else { [n, 1] },
            c: [0, 0],
            batch,
            a_batch,
            b_batch,
            alpha: 1.0,
            beta: 0.0,
            operands: [cx.whole(a)?, cx.whole(b)?, Operand::Absent],
            output: cx.whole(y)?,
        })
    }

    /// How an operand's rows are dealt to dispatches; more than one part only where a constant exceeds the
    /// limit.
    fn parts(&self, cx: &Lowering, id: ValueId, is_a: bool) -> Result<Vec<Part>, LowerError> {
        let value = cx.graph.get(id);
        if value.size_bytes() <= cx.limits.max_binding_bytes || value.constant.is_none() {
            return Ok(vec![Part::Whole]);
        }
        if self.batch != [1; 3] {
            return Err(cx.unsupported(format!(
                "constant '{}' of {} bytes in a batch of products, the device binds at most {}",
                value.name,
                value.size_bytes(),
                cx.limits.max_binding_bytes
            )));
        }
        let (outer, outer_stride, k_stride) =
            if is_a { (self.m, self.a[0], self.a[1]) } else { (self.n, self.b[1], self.b[0]) };
        let k_is_row = k_stride != 1;
        let segments =
            if k_is_row { cx.segments(id, self.k, k_stride)? } else { cx.segments(id, outer, outer_stride)? };
        Ok(segments
            .into_iter()
            .map(|(first, len)| match (k_is_row, is_a) {
                (true, _) => Part::K(first, len),
                (false, true) => Part::M(first, len),
                (false, false) => Part::N(first, len),
            })
            .collect())
    }

    /// One dispatch; `split` is the operand bound by the part's range only, the others are bound whole.
    fn dispatch(&self, cx: &Lowering, part: Part, split: Option<usize>) -> Result<Dispatch, LowerError> {
        let (mut m, mut n, mut k) = (self.m, self.n, self.k);
        // First elements of a, b, c and the output.
        let (mut starts, mut accumulate, mut has_c) = ([0; 4], false, self.operands[2] != Operand::Absent);
        let mut range = (0, 0);
        match part {
            Part::Whole => {}
            Part::M(first, len) => {
                m = len;
                starts = [first * self.a[0], 0, first * self.c[0], first * self.n];
                range = (first * self.a[0], len * self.a[0]);
            }
            Part::N(first, len) => {
                n = len;
                starts = [0, first * self.b[1], first * self.c[1], first];
                range = (first * self.b[1], len * self.b[1]);
            }
            Part::K(first, len) => {
                k = len;
                starts = [first * self.a[1], first * self.b[0], 0, 0];
                accumulate = first > 0;
                has_c &= first == 0;
                let stride = if split == Some(0) { self.a[1] } else { self.b[0] };
                range = (first * stride, len * stride);
            }
        }
        let mut inputs = self.operands.to_vec();
        if !has_c {
            inputs[2] = Operand::Absent;
        }
        if let (Some(split), Operand::Value { value, .. }, true) =
            (split, self.operands[split.unwrap_or(0)], part != Part::Whole)
        {
            inputs[split] = Operand::Value { value, start_len: range.0, len: range.1 };
            starts[split] = 0;
        }
        let matvec = m <= MATVEC_ROWS && k > 0;
        let k_fast = self.b[0] == 1;
        let parts = if k_fast { 16 } else { 4 };
        let batches: usize = self.batch.iter().product();
        let workgroups = if matvec {
            let [x, y] = cx.fold(n.div_ceil(WORKGROUP / parts * if m == 1 { 4 } else { 1 }));
            cx.workgroups([x, y, batches])?
        } else {
            cx.workgroups([n.div_ceil(TILE), m.div_ceil(TILE), batches])?
        };
        let block = cx.words(ParamWriter::new(4), &[m, n, k])?;
        let block = cx.words(block, &[self.a, self.b, self.c].concat())?;
        let block = cx.words(block, &[self.n])?;
        let block = cx.words(block, &starts)?;
        let block = cx.words(block, &[self.batch, self.a_batch, self.b_batch].concat())?;
        let block = block.f32(self.alpha).f32(self.beta).u32(u32::from(has_c)).u32(u32::from(accumulate));
        let block = cx.words(block, &[parts, usize::from(k_fast)])?;
        Ok(Dispatch {
            kernel: if matvec { KernelId::Matvec } else { KernelId::Matmul },
            inputs,
            output: self.output,
            params: block.finish(),
            workgroups,
            fills_output: !accumulate && matches!(part, Part::Whole | Part::K(..)),
        })
    }
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
