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

/// The walk of the binary kernels: `f` on every pair of elements under broadcasting. The block has the rank
/// in word 5, the first elements of both operands in words 6 and 7, and from `dims_at` on the extents and
/// both operands' strides, 8 words each.
pub(super) fn for_each_pair(
    params: &[u32],
    dims_at: usize,
    inputs: &[&[f32]],
    output: &mut [f32],
    f: impl Fn(f32, f32) -> f32,
) {
    let rank = params[5] as usize;
    let dims = &params[dims_at..dims_at + rank];
    let (a_strides, b_strides) = (&params[dims_at + 8..][..rank], &params[dims_at + 16..][..rank]);
    let (a_step, b_step) = (a_strides[rank - 1], b_strides[rank - 1]);
    let (a, b) = (inputs[0], inputs[1]);
    let len = dims[rank - 1] as usize;
    let mut place = 0;
    for_each_row(dims, [a_strides, b_strides], [params[6], params[7]], |[left, right]| {
        let row = &mut output[place..place + len];
        place += len;
        let (l, r) = (left as usize, right as usize);
        match (a_step, b_step) {
            (1, 1) => {
                for ((out, v), w) in row.iter_mut().zip(&a[l..l + len]).zip(&b[r..r + len]) {
                    *out = f(*v, *w);
                }
            }
            (1, 0) => row.iter_mut().zip(&a[l..l + len]).for_each(|(out, v)| *out = f(*v, b[r])),
            (0, 1) => row.iter_mut().zip(&b[r..r + len]).for_each(|(out, w)| *out = f(a[l], *w)),
            _ => {
                let pairs = strided(a, left, a_step, len).zip(strided(b, right, b_step, len));
                row.iter_mut().zip(pairs).for_each(|(out, (v, w))| *out = f(v, w));
            }
        }
    });
}
