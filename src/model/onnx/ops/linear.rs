//! Matrix products.

use crate::graph::Op;
use crate::model::onnx::shape as shapes;
use crate::model::onnx::site::{Fault, Site};

/// `numpy.matmul`: a 1-D operand gets a dimension of 1 that the result drops again.
pub(super) fn matmul(site: &mut Site) -> Result<(), Fault> {
    let (a, b) = (site.shape(0)?, site.shape(1)?);
    if a.is_empty() || b.is_empty() {
        return Err(format!("shapes {a:?} and {b:?}: a scalar has no matrix product").into());
    }
    let wide_a = if a.len() == 1 { vec![1, a[0]] } else { a.clone() };
    let wide_b = if b.len() == 1 { vec![b[0], 1] } else { b.clone() };
    let (batch_a, [m, k]) = split_matrix(&wide_a);
    let (batch_b, [k_b, n]) = split_matrix(&wide_b);
    if k != k_b {
        return Err(format!("shapes {a:?} and {b:?}: {k} columns meet {k_b} rows").into());
    }
    let mut dims = shapes::broadcast(batch_a, batch_b)?;
    if a.len() > 1 {
        dims.push(m);
    }
    if b.len() > 1 {
        dims.push(n);
    }
    site.emit(Op::MatMul { activation: None }, &[0, 1], dims)
}

/// Batch dimensions and the last two.
fn split_matrix(shape: &[usize]) -> (&[usize], [usize; 2]) {
    let (batch, matrix) = shape.split_at(shape.len() - 2);
    (batch, [matrix[0], matrix[1]])
}

pub(super) fn gemm(site: &mut Site) -> Result<(), Fault> {
    let attributes = site.attributes();
    let (trans_a, trans_b) = (attributes.flag("transA", false)?, attributes.flag("transB", false)?);
    let alpha = attributes.float("alpha")?.unwrap_or(1.0);
    let beta = attributes.float("beta")?.unwrap_or(1.0);
    let matrix = |shape: Vec<usize>, transposed: bool| match shape[..] {
        [rows, columns] => Ok(if transposed { [columns, rows] } else { [rows, columns] }),
        _ => Err(format!("shape {shape:?} is not a matrix")),
    };
    let [m, k] = matrix(site.shape(0)?, trans_a)?;
    let [k_b, n] = matrix(site.shape(1)?, trans_b)?;
    if k != k_b {
        return Err(format!("A has {k} columns, B has {k_b} rows").into());
    }
    let mut inputs = vec![0, 1];
    if let Some(c) = site.optional(2) {
        shapes::broadcasts_to(&c.shape, &[m, n])?;
        inputs.push(2);
    }
    site.emit(Op::Gemm { alpha, beta, trans_a, trans_b, activation: None }, &inputs, vec![m, n])
}
