//! Shape rules shared by folding and by the operators.

/// Multidirectional broadcasting.
///
/// # Errors
/// Two dimensions differ and neither is 1.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, String> {
    let rank = a.len().max(b.len());
    let dim = |s: &[usize], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    (0..rank)
        .map(|i| match (dim(a, i), dim(b, i)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            (x, y) => Err(format!("shapes {a:?} and {b:?} do not broadcast: {x} meets {y}")),
        })
        .collect()
}

/// Shapes that broadcast to `to` without changing it.
///
/// # Errors
/// `from` would change `to`.
pub(super) fn broadcasts_to(from: &[usize], to: &[usize]) -> Result<(), String> {
    match broadcast(from, to) {
        Ok(shape) if shape == to => Ok(()),
        _ => Err(format!("shape {from:?} does not broadcast to {to:?}")),
    }
}

/// An axis that may count from the end, as an index.
///
/// # Errors
/// It is outside `-rank..rank`.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let signed = rank as i64;
    if (-signed..signed).contains(&axis) {
        Ok((if axis < 0 { axis + signed } else { axis }) as usize)
    } else {
        Err(format!("axis {axis} is outside a tensor of {rank} dimensions"))
    }
}

/// Several axes, ascending.
///
/// # Errors
/// One is outside, or named twice.
pub(super) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, String> {
    let mut out = list.iter().map(|a| axis(*a, rank)).collect::<Result<Vec<_>, _>>()?;
    out.sort_unstable();
    match out.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(format!("axis {} is named twice", w[0])),
        None => Ok(out),
    }
}

/// Dimensions from a constant input.
///
/// # Errors
/// One is negative.
pub(super) fn dims(list: &[i64]) -> Result<Vec<usize>, String> {
    list.iter().map(|d| usize::try_from(*d).map_err(|_| format!("shape {list:?} is negative"))).collect()
}

/// The target of a Reshape: 0 copies a dimension (unless `allow_zero`), one -1 is solved.
///
/// # Errors
/// The element counts differ.
pub(super) fn reshape(from: &[usize], target: &[i64], allow_zero: bool) -> Result<Vec<usize>, String> {
    let len: usize = from.iter().product();
    let differ = || format!("{from:?} cannot be reshaped to {target:?}: the element counts differ");
    let mut shape = Vec::with_capacity(target.len());
    let mut open = None;
    for (i, dim) in target.iter().enumerate() {
        shape.push(match dim {
            0 if !allow_zero => *from.get(i).ok_or_else(|| {
                format!("shape {target:?} copies dimension {i} of a tensor of {} dimensions", from.len())
            })?,
            -1 if open.is_none() => {
                open = Some(i);
                1
            }
            d => usize::try_from(*d).map_err(|_| format!("shape {target:?} is not valid"))?,
        });
    }
    let known = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).ok_or_else(differ)?;
    match open {
        Some(i) if known > 0 && len.is_multiple_of(known) => shape[i] = len / known,
        None if known == len => {}
        _ => return Err(differ()),
    }
    Ok(shape)
}

/// One dimension of a Slice: start index and number of elements.
///
/// The rule of the operator: negative indices count from the end, then both are clamped to where a step
/// can go.
pub(super) fn slice(dim: usize, start: i64, end: i64, step: i64) -> (i64, usize) {
    if dim == 0 {
        return (0, 0);
    }
    let dim = dim as i64;
    let from_end = |i: i64| if i < 0 { i.saturating_add(dim) } else { i };
    let (start, end) = (from_end(start), from_end(end));
    if step > 0 {
        let (start, end) = (start.clamp(0, dim), end.clamp(0, dim));
        (start, ((end - start).max(0) as u64).div_ceil(step as u64) as usize)
    } else {
        let (start, end) = (start.clamp(0, dim - 1), end.clamp(-1, dim - 1));
        (start, ((start - end).max(0) as u64).div_ceil(step.unsigned_abs()) as usize)
    }
}

/// Elements between neighbours of each dimension, row-major.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting() {
        assert_eq!(broadcast(&[2, 1, 4], &[3, 1]).unwrap(), [2, 3, 4]);
        assert_eq!(broadcast(&[], &[5]).unwrap(), [5]);
        assert_eq!(broadcast(&[0], &[1]).unwrap(), [0]);
        assert!(broadcast(&[3], &[4]).unwrap_err().contains("3 meets 4"));
        assert!(broadcasts_to(&[2, 3], &[3]).is_err());
    }

    #[test]
    fn reshaping() {
        assert_eq!(reshape(&[2, 3, 4], &[0, -1], false).unwrap(), [2, 12]);
        assert_eq!(reshape(&[0, 3], &[3, 0], true).unwrap(), [3, 0]);
        assert!(reshape(&[2, 3], &[4, -1], false).is_err());
        assert!(reshape(&[2, 3], &[-1, -1], false).is_err());
        assert!(reshape(&[2], &[2, 0], false).unwrap_err().contains("dimension 1"));
        assert!(reshape(&[4], &[i64::MAX, i64::MAX], false).is_err());
    }

    #[test]
    fn slicing() {
        assert_eq!(slice(5, 1, i64::MAX, 2), (1, 2));
        assert_eq!(slice(5, -1, i64::MIN, -1), (4, 5));
        assert_eq!(slice(5, 3, 0, -2), (3, 2));
        assert_eq!(slice(5, 9, 0, 1), (5, 0));
        assert_eq!(slice(5, 2, 2, -1), (2, 0));
        assert_eq!(slice(0, -1, i64::MIN, -1), (0, 0));
        assert_eq!(slice(5, 0, 5, i64::MIN), (0, 0));
    }
}
