//! Twin of `shaders/reduce_int.wgsl`.

use super::reduce::each;
use crate::graph::{int_word, word_int};

/// Reduction of integers over any axes.
pub fn reduce_int(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let start = params[8] as i32;
    let from = &inputs[0][params[0] as usize..];
    let x = |i: usize| word_int(from[i]);
    let mut ints = vec![0; params[2] as usize];
    let add = i32::wrapping_add;
    match params[7] {
        2 => each(params, &mut ints, start, |so_far, i| so_far.max(x(i)), i32::max),
        3 => each(params, &mut ints, start, |so_far, i| so_far.min(x(i)), i32::min),
        4 => each(params, &mut ints, start, |so_far, i| so_far.wrapping_mul(x(i)), i32::wrapping_mul),
        5 => each(params, &mut ints, start, |so_far, i| add(so_far, x(i).wrapping_abs()), add),
        7 => each(params, &mut ints, start, |so_far, i| add(so_far, x(i).wrapping_mul(x(i))), add),
        _ => each(params, &mut ints, start, |so_far, i| add(so_far, x(i)), add),
    }
    let divisor = if params[7] == 0 { (params[3] as i32).max(1) } else { 1 };
    let output = &mut output[params[1] as usize..];
    output.iter_mut().zip(ints).for_each(|(out, v)| *out = int_word(v / divisor));
}
