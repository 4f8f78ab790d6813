//! How many elements a tensor of a model file may have.

/// Elements a tensor may have; more is a mistake in the model or its input sizes, or over the 2 GiB that a
/// machine of 32 bits allocates at once.
pub(super) const MAX_LEN: usize = 1 << if usize::BITS > 32 { 40 } else { 29 };

/// Elements a constant may have: a protobuf file holds 2 GiB at most, and a short file that asks for more by
/// arithmetic must not take the machine down.
pub(super) const MAX_CONSTANT_LEN: usize = 1 << 29;

/// Number of elements. A dimension of 0 counts as 1 against the limit, so that the product of any of
/// the dimensions fits too.
///
/// # Errors
/// The product is over `limit`.
pub(super) fn checked_len(shape: &[usize], limit: usize) -> Result<usize, String> {
    let bound = shape.iter().try_fold(1usize, |n, d| n.checked_mul((*d).max(1))).filter(|n| *n <= limit);
    match bound {
        Some(_) => Ok(shape.iter().product()),
        None => Err(format!("shape {shape:?} has more than {limit} elements")),
    }
}

/// An empty vector with room for `len` elements.
///
/// # Errors
/// The allocator has no room.
pub(super) fn room<T>(len: usize) -> Result<Vec<T>, String> {
    let mut data = Vec::new();
    match data.try_reserve_exact(len) {
        Ok(()) => Ok(data),
        Err(_) => Err(format!("no memory for {len} elements of {} bytes", size_of::<T>())),
    }
}
