//! Twin of `shaders/reduce.wgsl`.

use super::float;
use super::rows::for_each_row;

/// Reduction over any axes.
pub fn reduce(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let start = float(params, 8);
    let x = &inputs[0][params[0] as usize..];
    let output = &mut output[params[1] as usize..][..params[2] as usize];
    match params[7] {
        2 => each(params, output, start, |so_far, i| if x[i] > so_far { x[i] } else { so_far }, larger),
        3 => each(params, output, start, |so_far, i| if x[i] < so_far { x[i] } else { so_far }, smaller),
        4 => each(params, output, start, |so_far, i| so_far * x[i], |a, b| a * b),
        5 => each(params, output, start, |so_far, i| so_far + x[i].abs(), add),
        6 | 7 => each(params, output, start, |so_far, i| so_far + x[i] * x[i], add),
        9 => log_sum_exp(params, x, output),
        _ => each(params, output, start, |so_far, i| so_far + x[i], add),
    }
    match params[7] {
        0 => output.iter_mut().for_each(|v| *v /= params[3] as f32),
        6 => output.iter_mut().for_each(|v| *v = v.sqrt()),
        8 => output.iter_mut().for_each(|v| *v = v.ln()),
        _ => {}
    }
}

fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

fn smaller(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

fn add(a: f32, b: f32) -> f32 {
    a + b
}

fn log_sum_exp(params: &[u32], x: &[f32], output: &mut [f32]) {
    let mut shifts = output.to_vec();
    each(params, &mut shifts, -3.402_823_3e38, |so_far, i| larger(so_far, x[i]), larger);
    shifts.iter_mut().filter(|shift| shift.abs() > 3.402_823_2e38).for_each(|shift| *shift = 0.0);
    // Outputs come in order, each with all of its elements.
    let (taps, mut joined) = ((params[3] as usize).max(1), 0);
    let term = |so_far: f32, i: usize| {
        let shift = shifts[joined / taps];
        joined += 1;
        so_far + (x[i] - shift).exp()
    };
    each(params, output, 0.0, term, add);
    output.iter_mut().zip(&shifts).for_each(|(v, shift)| *v = v.ln() + shift);
}

/// Calls `join(so_far, index)` for the elements of every output, lane by lane, then `tree` for the lanes, in
/// the shader's order.
pub(super) fn each<T: Copy>(
    params: &[u32],
    output: &mut [T],
    start: T,
    mut join: impl FnMut(T, usize) -> T,
    tree: impl Fn(T, T) -> T,
) {
    let (reduced, lanes) = (params[3] as usize, params[4] as usize);
    let (kept_rank, reduced_rank) = (params[5] as usize, params[6] as usize);
    let kept = offsets(&params[12..12 + kept_rank], &params[20..20 + kept_rank]);
    let taps = offsets(&params[28..28 + reduced_rank], &params[36..36 + reduced_rank]);
    let contiguous = reduced_rank == 1 && params[36] == 1;
    let mut partial = vec![start; lanes];
    for (out, first) in output.iter_mut().zip(kept) {
        partial.fill(start);
        if contiguous {
            let first = first as usize;
            for k in (0..reduced).step_by(lanes) {
                for (lane, so_far) in partial[..lanes.min(reduced - k)].iter_mut().enumerate() {
                    *so_far = join(*so_far, first + k + lane);
                }
            }
        } else {
            for chunk in taps.chunks(lanes) {
                for (so_far, tap) in partial.iter_mut().zip(chunk) {
                    *so_far = join(*so_far, first.wrapping_add(*tap) as usize);
                }
            }
        }
        *out = tree_join(&mut partial, &tree);
    }
}

/// Every offset of a strided space, in row-major order.
fn offsets(dims: &[u32], strides: &[u32]) -> Vec<u32> {
    let (len, step) = (dims[dims.len() - 1], strides[strides.len() - 1]);
    let mut all = Vec::new();
    for_each_row(dims, [strides], [0], |[start]| {
        all.extend((0..len).map(|i| start.wrapping_add(i.wrapping_mul(step))));
    });
    all
}

/// Joins a power of two of lanes in the shader's order: the upper half onto the lower half, again and again.
fn tree_join<T: Copy>(partial: &mut [T], join: impl Fn(T, T) -> T) -> T {
    let mut half = partial.len() / 2;
    while half > 0 {
        let (low, high) = partial.split_at_mut(half);
        low.iter_mut().zip(high).for_each(|(so_far, v)| *so_far = join(*so_far, *v));
        half /= 2;
    }
    partial[0]
}

/// Adds a power of two of lanes in that order.
pub(super) fn tree_sum(partial: &mut [f32]) -> f32 {
    tree_join(partial, add)
}
