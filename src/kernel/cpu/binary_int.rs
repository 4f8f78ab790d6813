//! Twin of `shaders/binary_int.wgsl`.

use super::rows::for_each_pair;
use super::words::{int, narrow, word};

/// Element-wise function of two tensors of integers with broadcasting.
pub fn binary_int(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (op, wrap) = (params[4], params[8]);
    for_each_pair(params, 12, inputs, output, |v, w| word(narrow(apply(op, int(v), int(w)), wrap)));
}

fn apply(op: u32, v: i32, w: i32) -> i32 {
    match op {
        0 => v.wrapping_add(w),
        1 => v.wrapping_sub(w),
        2 => v.wrapping_mul(w),
        // What no quotient holds is the dividend.
        3 if w == 0 => v,
        3 => v.wrapping_div(w),
        4 => power(v, w),
        5 => {
            if v < 0 {
                v.wrapping_mul(w)
            } else {
                v
            }
        }
        6 => v.min(w),
        7 => v.max(w),
        8 => remainder(v, w),
        9 => {
            let r = remainder(v, w);
            if r != 0 && (r < 0) != (w < 0) { r.wrapping_add(w) } else { r }
        }
        10 => v & w,
        11 => v | w,
        12 => v ^ w,
        13 if (0..32).contains(&w) => v << w,
        14 if (0..32).contains(&w) => v >> w,
        13 | 14 => 0,
        15 => i32::from(v == w),
        16 => i32::from(v < w),
        17 => i32::from(v > w),
        18 => i32::from(v <= w),
        _ => i32::from(v >= w),
    }
}

fn remainder(v: i32, w: i32) -> i32 {
    if w == 0 { 0 } else { v.wrapping_rem(w) }
}

/// Squares and multiplies; of negative exponents only 1 and -1 have an integer power.
fn power(v: i32, e: i32) -> i32 {
    if e < 0 {
        return match v {
            -1 if e & 1 == 1 => -1,
            1 | -1 => 1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut n) = (1i32, v, e);
    while n > 0 {
        if n & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        n >>= 1;
    }
    result
}
