//! Twin of `shaders/max_pool_indices.wgsl`.

use crate::graph::int_word;

/// Where the largest element of each window lies.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let word = |i: usize| params[i] as usize;
    let triple = |i: usize| [word(i), word(i + 1), word(i + 2)];
    let (planes, input, out, kernel) = (word(2), triple(3), triple(6), triple(9));
    let (stride, pad, dilation, step) = (triple(12), triple(15), triple(18), triple(21));
    let x = &inputs[0][word(0)..];
    let (plane_len, places) = (input.iter().product::<usize>(), out.iter().product::<usize>());
    let taps: usize = kernel.iter().product();
    let three = |i: usize, dims: [usize; 3]| [i / dims[2] / dims[1], i / dims[2] % dims[1], i % dims[2]];
    for (item, y) in output[word(1)..][..planes * places].iter_mut().enumerate() {
        let (first, at) = (item / places * plane_len, three(item % places, out));
        let mut best: Option<(f32, usize)> = None;
        for tap in (0..taps).map(|tap| three(tap, kernel)) {
            let source = |d: usize| {
                let i = (at[d] * stride[d] + tap[d] * dilation[d]).checked_sub(pad[d]);
                i.filter(|i| *i < input[d])
            };
            let (Some(z), Some(v), Some(u)) = (source(0), source(1), source(2)) else { continue };
            let value = x[first + (z * input[1] + v) * input[2] + u];
            if best.is_none_or(|(largest, _)| value > largest) {
                best = Some((value, first + z * step[0] + v * step[1] + u * step[2]));
            }
        }
        *y = int_word(best.map_or(first, |(_, index)| index) as i32);
    }
}
