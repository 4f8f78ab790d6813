//! Matrix products.

use crate::graph::Op;
use crate::model::fault::Fault;
use crate::model::shape as shapes;
use crate::model::tflite::layout::Layout;
use crate::model::tflite::site::{Out, Site};

use super::window::bias;

/// Rows of the input times the rows of the weights. An input that is flattened keeps its order: the columns
/// of the weights follow it.
pub(super) fn fully_connected(site: &mut Site) -> Result<(), Fault> {
    let (shape, weights) = (site.shape(0)?, site.shape(1)?);
    let [units, depth] = weights[..] else {
        return Err(format!("weights {weights:?} are not a matrix").into());
    };
    if site.option::<i8>(1, 0)? != 0 {
        return Err("its weights are shuffled; only the plain format is supported".into());
    }
    let len: usize = shape.iter().product();
    if depth == 0 || !len.is_multiple_of(depth) {
        return Err(format!("input {shape:?} does not divide into rows of {depth}").into());
    }
    let rows = len / depth;
    let out = match site.flag(2)? {
        true if shape.last() == Some(&depth) => [&shape[..shape.len() - 1], &[units]].concat(),
        true => return Err(format!("input {shape:?} has no rows of {depth} to keep").into()),
        false => vec![rows, units],
    };
    let matrix = site.layout(0)?.reshaped(&[rows, depth]);
    let by_rows = matrix.and_then(|m| Some((m.with_rows([rows, depth], units)?, m)));
    let (columns, matrix) = match by_rows {
        Some(pair) => pair,
        None => (Layout::plain(&weights), Layout::plain(&[rows, depth])),
    };
    let mut inputs = vec![site.place(0, &matrix, &[rows, depth])?, site.place(1, &columns, &weights)?];
    if site.optional(2).is_some() {
        inputs.push(bias(site, 2, units)?);
    }
    let op = Op::Gemm { alpha: 1.0, beta: 1.0, trans_a: false, trans_b: true, activation: None };
    let activation = site.activation(0)?;
    let out = Out { dims: vec![rows, units], ..Out::plain(out) };
    site.emit_activated(op, inputs, out, activation)
}

/// `numpy.matmul`, either operand with its last two dimensions exchanged.
pub(super) fn batch_matmul(site: &mut Site) -> Result<(), Fault> {
    let mut operands = Vec::new();
    let mut matrices = Vec::new();
    for input in 0..2 {
        let shape = site.shape(input)?;
        let rank = shape.len();
        if rank < 2 {
            return Err(format!("input {input} {shape:?} is not a matrix").into());
        }
        let mut perm: Vec<usize> = (0..rank).collect();
        if site.flag(input)? {
            perm.swap(rank - 2, rank - 1);
        }
        operands.push(site.permuted(input, &perm)?);
        matrices.push(perm.iter().map(|axis| shape[*axis]).collect::<Vec<_>>());
    }
    let split = |m: &Vec<usize>| (m[..m.len() - 2].to_vec(), m[m.len() - 2], m[m.len() - 1]);
    let ((batch_a, rows, depth), (batch_b, depth_b, columns)) = (split(&matrices[0]), split(&matrices[1]));
    if depth != depth_b {
        return Err(format!("{depth} columns meet {depth_b} rows").into());
    }
    let mut shape = shapes::broadcast(&batch_a, &batch_b)?;
    shape.extend([rows, columns]);
    site.emit(Op::MatMul { activation: None }, operands, Out::plain(shape))
}
