//! Walks the rows of a strided iteration space.

/// Calls `visit` with the offsets at the start of every row (a run over the last dimension), in row-major
/// order. `strides[k]` are the strides of operand k, `starts[k]` its first offset; offsets are modulo 2^32.
/// Rank is 1 or more.
pub(super) fn for_each_row<const K: usize>(
    dims: &[u32],
    strides: [&[u32]; K],
    starts: [u32; K],
    mut visit: impl FnMut([u32; K]),
) {
    let outer = dims.len() - 1;
    if dims.contains(&0) {
        return;
    }
    let mut coords = [0u32; 8];
    let mut offsets = starts;
    loop {
        visit(offsets);
        let mut d = outer;
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            coords[d] += 1;
            if coords[d] < dims[d] {
                step(&mut offsets, strides, d, 1);
                break;
            }
            coords[d] = 0;
            step(&mut offsets, strides, d, 1u32.wrapping_sub(dims[d]));
        }
    }
}

fn step<const K: usize>(offsets: &mut [u32; K], strides: [&[u32]; K], d: usize, by: u32) {
    for (offset, strides) in offsets.iter_mut().zip(strides) {
        *offset = offset.wrapping_add(by.wrapping_mul(strides[d]));
    }
}

/// The `len` elements of `data` from `start` on, `stride` apart (modulo 2^32).
pub(super) fn strided(data: &[f32], start: u32, stride: u32, len: usize) -> impl Iterator<Item = f32> {
    let mut at = start;
    (0..len).map(move |_| {
        let v = data[at as usize];
        at = at.wrapping_add(stride);
        v
    })
}
