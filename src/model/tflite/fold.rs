//! Integers computed at import: shapes, and what models compute from them.

use crate::model::shape as shapes;
use crate::model::size::{MAX_CONSTANT_LEN, checked_len, room};

/// Constant integers with their shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ints {
    pub shape: Vec<usize>,
    pub data: Vec<i64>,
}

/// The element of `shape` that broadcasting puts at position `at` of `target`.
fn broadcast_index(shape: &[usize], target: &[usize], at: usize) -> usize {
    let (mut left, mut index, mut stride) = (at, 0, 1);
    let missing = target.len() - shape.len();
    for (d, dim) in target.iter().enumerate().rev() {
        let position = left % dim.max(&1);
        left /= dim.max(&1);
        if d >= missing {
            let own = shape[d - missing];
            index += if own == 1 { 0 } else { position * stride };
            stride *= own;
        }
    }
    index
}

/// An element-wise function of two tensors with broadcasting.
///
/// # Errors
/// The shapes do not broadcast, or the function has no value (a division by zero).
pub(super) fn binary(a: &Ints, b: &Ints, f: impl Fn(i64, i64) -> Option<i64>) -> Result<Ints, String> {
    let shape = shapes::broadcast(&a.shape, &b.shape)?;
    let len = checked_len(&shape, MAX_CONSTANT_LEN)?;
    let mut data = room(len)?;
    for at in 0..len {
        let (x, y) = (broadcast_index(&a.shape, &shape, at), broadcast_index(&b.shape, &shape, at));
        data.push(f(a.data[x], b.data[y]).ok_or("division by zero")?);
    }
    Ok(Ints { shape, data })
}

/// Quotient towards minus infinity.
pub(super) fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// Every `steps[d]`-th element from `starts[d]` on, `counts[d]` of each dimension. All must lie inside.
pub(super) fn slice(x: &Ints, starts: &[i64], counts: &[usize], steps: &[i64]) -> Result<Ints, String> {
    let len = checked_len(counts, MAX_CONSTANT_LEN)?;
    let strides = shapes::strides(&x.shape);
    let mut data = room(len)?;
    for at in 0..len {
        let (mut left, mut index) = (at, 0i64);
        for d in (0..counts.len()).rev() {
            index += (starts[d] + (left % counts[d]) as i64 * steps[d]) * strides[d] as i64;
            left /= counts[d];
        }
        data.push(x.data[index as usize]);
    }
    Ok(Ints { shape: counts.to_vec(), data })
}

/// Tensors one after the other along `axis`; their other dimensions agree.
pub(super) fn concat(parts: &[Ints], axis: usize, shape: Vec<usize>) -> Ints {
    let outer: usize = shape[..axis].iter().product();
    let mut data = Vec::with_capacity(parts.iter().map(|p| p.data.len()).sum());
    for row in 0..outer {
        for part in parts {
            let len = part.data.len() / outer.max(1);
            data.extend(&part.data[row * len..(row + 1) * len]);
        }
    }
    Ints { shape, data }
}

/// A function of all elements along `axes`, which become dimensions of 1.
pub(super) fn reduce(x: &Ints, axes: &[usize], f: impl Fn(i64, i64) -> i64) -> Ints {
    let shape: Vec<usize> =
        x.shape.iter().enumerate().map(|(d, dim)| if axes.contains(&d) { 1 } else { *dim }).collect();
    let mut data: Vec<Option<i64>> = vec![None; shape.iter().product()];
    for (at, value) in x.data.iter().enumerate() {
        let place = &mut data[broadcast_index(&shape, &x.shape, at)];
        *place = Some(place.map_or(*value, |old| f(old, *value)));
    }
    Ints { shape, data: data.into_iter().map(Option::unwrap_or_default).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(shape: &[usize], data: &[i64]) -> Ints {
        Ints { shape: shape.to_vec(), data: data.to_vec() }
    }

    #[test]
    fn integers_are_computed() {
        let matrix = ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        let column = ints(&[2, 1], &[10, 20]);
        let sum = binary(&matrix, &column, |a, b| Some(a + b)).unwrap();
        assert_eq!(sum, ints(&[2, 3], &[11, 12, 13, 24, 25, 26]));
        assert_eq!((floor_div(-7, 2), floor_div(7, 2), floor_div(1, 0)), (Some(-4), Some(3), None));
        assert!(binary(&matrix, &ints(&[], &[0]), floor_div).is_err());
        assert_eq!(slice(&matrix, &[1, 2], &[1, 2], &[1, -1]).unwrap(), ints(&[1, 2], &[6, 5]));
        assert_eq!(reduce(&matrix, &[0], |a, b| a * b), ints(&[1, 3], &[4, 10, 18]));
        let both = concat(&[matrix, column], 1, vec![2, 4]);
        assert_eq!(both.data, [1, 2, 3, 10, 4, 5, 6, 20]);
    }
}
