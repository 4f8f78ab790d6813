//! Folding of what moves elements without changing them.

use std::sync::Arc;

use crate::model::onnx::shape::strides;
use crate::model::onnx::tensor::{Constant, MAX_CONSTANT_LEN, Tensor, checked_len, room};

/// Elements of `data` at `base + sum(index[d] * steps[d])` for every index of `out`, row-major.
fn pick<T: Copy>(data: &[T], base: i64, steps: &[i64], out: &[usize]) -> Result<Vec<T>, String> {
    let len = checked_len(out, MAX_CONSTANT_LEN)?;
    let mut result = room(len)?;
    let mut index = vec![0usize; out.len()];
    let mut at = base;
    for _ in 0..len {
        result.push(data[at as usize]);
        for d in (0..out.len()).rev() {
            index[d] += 1;
            at += steps[d];
            if index[d] < out[d] {
                break;
            }
            at -= steps[d] * out[d] as i64;
            index[d] = 0;
        }
    }
    Ok(result)
}

/// `data` of shape `from`, repeated to the shape `to` that it broadcasts to.
pub(super) fn spread<T: Copy>(data: &[T], from: &[usize], to: &[usize]) -> Result<Vec<T>, String> {
    let own = strides(from);
    let lead = to.len() - from.len();
    let step = |d: usize| if d < lead || from[d - lead] == 1 { 0 } else { own[d - lead] as i64 };
    let steps: Vec<i64> = (0..to.len()).map(step).collect();
    pick(data, 0, &steps, to)
}

fn rearranged(x: &Tensor, base: i64, steps: &[i64], out: Vec<usize>) -> Result<Tensor, String> {
    let data = match &x.data {
        Some(Constant::F32(data)) => Constant::F32(Arc::new(pick(data, base, steps, &out)?)),
        Some(Constant::I64(data)) => Constant::I64(Arc::new(pick(data, base, steps, &out)?)),
        None => return Err("its input is not constant".into()),
    };
    Ok(Tensor::constant(x.dtype, out, data))
}

/// Transpose; `perm` is a permutation of the axes.
///
/// # Errors
/// There is no memory for the result.
pub(in crate::model::onnx) fn transpose(x: &Tensor, perm: &[usize]) -> Result<Tensor, String> {
    let own = strides(&x.shape);
    let steps: Vec<i64> = perm.iter().map(|p| own[*p] as i64).collect();
    rearranged(x, 0, &steps, perm.iter().map(|p| x.shape[*p]).collect())
}

/// Slice with starts inside the tensor, steps and output shape for every dimension.
///
/// # Errors
/// There is no memory for the result.
pub(in crate::model::onnx) fn slice(
    x: &Tensor,
    starts: &[i64],
    steps: &[i64],
    out: Vec<usize>,
) -> Result<Tensor, String> {
    let own = strides(&x.shape);
    let base = starts.iter().zip(&own).map(|(s, o)| s * *o as i64).sum();
    // A dimension of one element is never stepped over, and its step may be huge.
    let steps: Vec<i64> =
        (0..out.len()).map(|d| if out[d] > 1 { steps[d] * own[d] as i64 } else { 0 }).collect();
    rearranged(x, base, &steps, out)
}

/// Expand to a shape that `x` broadcasts to.
///
/// # Errors
/// The result would be too large.
pub(in crate::model::onnx) fn expand(x: &Tensor, out: Vec<usize>) -> Result<Tensor, String> {
    let data = match &x.data {
        Some(Constant::F32(data)) => Constant::F32(Arc::new(spread(data, &x.shape, &out)?)),
        Some(Constant::I64(data)) => Constant::I64(Arc::new(spread(data, &x.shape, &out)?)),
        None => return Err("its input is not constant".into()),
    };
    Ok(Tensor::constant(x.dtype, out, data))
}

/// Gather along `axis`; the indices are inside it.
///
/// # Errors
/// The result would be too large.
pub(in crate::model::onnx) fn gather(
    x: &Tensor,
    axis: usize,
    indices: &[usize],
    out: Vec<usize>,
) -> Result<Tensor, String> {
    fn rows<T: Copy>(
        data: &[T],
        x: &[usize],
        axis: usize,
        indices: &[usize],
        len: usize,
    ) -> Result<Vec<T>, String> {
        let row: usize = x[axis + 1..].iter().product();
        let mut result = room(len)?;
        if len > 0 {
            for block in data.chunks_exact(x[axis] * row) {
                indices.iter().for_each(|i| result.extend_from_slice(&block[i * row..(i + 1) * row]));
            }
        }
        Ok(result)
    }
    let len = checked_len(&out, MAX_CONSTANT_LEN)?;
    let data = match &x.data {
        Some(Constant::F32(data)) => Constant::F32(Arc::new(rows(data, &x.shape, axis, indices, len)?)),
        Some(Constant::I64(data)) => Constant::I64(Arc::new(rows(data, &x.shape, axis, indices, len)?)),
        None => return Err("its input is not constant".into()),
    };
    Ok(Tensor::constant(x.dtype, out, data))
}

/// Concat along `axis`; the shapes agree elsewhere.
///
/// # Errors
/// The inputs are not of one kind, or the result would be too large.
pub(in crate::model::onnx) fn concat(
    parts: &[Tensor],
    axis: usize,
    out: Vec<usize>,
) -> Result<Tensor, String> {
    fn join<T: Copy>(parts: &[(&[T], usize)], blocks: usize, len: usize) -> Result<Vec<T>, String> {
        let mut result = room(len)?;
        for block in 0..blocks {
            parts.iter().for_each(|(data, n)| result.extend_from_slice(&data[block * n..(block + 1) * n]));
        }
        Ok(result)
    }
    let len = checked_len(&out, MAX_CONSTANT_LEN)?;
    let blocks = out[..axis].iter().product();
    let block_len = |t: &Tensor| t.shape[axis..].iter().product::<usize>();
    let floats: Option<Vec<_>> = parts.iter().map(|t| t.f32_data().map(|d| (d, block_len(t)))).collect();
    let ints: Option<Vec<_>> = parts.iter().map(|t| t.i64_data().map(|d| (d, block_len(t)))).collect();
    let data = match (floats, ints) {
        (Some(parts), _) => Constant::F32(Arc::new(join(&parts, blocks, len)?)),
        (None, Some(parts)) => Constant::I64(Arc::new(join(&parts, blocks, len)?)),
        (None, None) => return Err("its inputs are of different types".into()),
    };
    Ok(Tensor::constant(parts[0].dtype, out, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rearranging() {
        let x = Tensor::ints(vec![2, 3], vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(transpose(&x, &[1, 0]).unwrap().i64_data().unwrap(), [1, 4, 2, 5, 3, 6]);
        assert_eq!(slice(&x, &[1, 2], &[-1, -2], vec![2, 2]).unwrap().i64_data().unwrap(), [6, 4, 3, 1]);
        assert_eq!(gather(&x, 1, &[2, 0], vec![2, 2]).unwrap().i64_data().unwrap(), [3, 1, 6, 4]);
        let y = Tensor::ints(vec![2, 1], vec![7, 8]);
        let both = concat(&[x, y.clone()], 1, vec![2, 4]).unwrap();
        assert_eq!(both.i64_data().unwrap(), [1, 2, 3, 7, 4, 5, 6, 8]);
        assert_eq!(expand(&y, vec![2, 2, 2]).unwrap().i64_data().unwrap(), [7, 7, 8, 8, 7, 7, 8, 8]);
    }
}
