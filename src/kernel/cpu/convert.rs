//! Twin of `shaders/convert.wgsl`.

use super::words::{int, narrow, word};

/// Conversions between element types, and tests of floats.
pub fn convert(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let wrap = params[4];
    let f = |x: f32| match params[3] {
        // Toward zero; what int32 does not hold becomes its nearest end, not a number becomes 0.
        0 => word(narrow(x as i32, wrap)),
        1 => int(x) as f32,
        2 => word(i32::from(x != 0.0)),
        3 => word(narrow(int(x), wrap)),
        4 => f32::from_bits(to_half(x.to_bits())),
        5 => f32::from_bits(to_brain(x.to_bits())),
        6 => word(i32::from(x.is_nan())),
        _ => word(i32::from(
            (x == f32::INFINITY && wrap & 1 != 0) || (x == f32::NEG_INFINITY && wrap & 2 != 0),
        )),
    };
    for (out, x) in output.iter_mut().zip(inputs[0]) {
        *out = f(*x);
    }
}

/// The nearest float16, halfway cases to even.
fn to_half(word: u32) -> u32 {
    let (sign, size) = (word & 0x8000_0000, word & 0x7fff_ffff);
    match size {
        size if size > 0x7f80_0000 => word,
        size if size >= 0x477f_f000 => sign | 0x7f80_0000,
        size if size < 0x3880_0000 => {
            sign | ((f32::from_bits(size) * 16_777_216.0).round_ties_even() / 16_777_216.0).to_bits()
        }
        size => sign | ((size + 0xfff + (size >> 13 & 1)) & 0xffff_e000),
    }
}

/// The nearest bfloat16, halfway cases to even.
fn to_brain(word: u32) -> u32 {
    if word & 0x7fff_ffff > 0x7f80_0000 {
        return word;
    }
    (word + 0x7fff + (word >> 16 & 1)) & 0xffff_0000
}
