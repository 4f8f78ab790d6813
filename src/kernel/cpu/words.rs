//! Words of a tensor as floats and as integers, and what several twins of integers share.

/// The integer of a word.
pub(super) fn int(word: f32) -> i32 {
    word.to_bits() as i32
}

/// The word of an integer.
pub(super) fn word(int: i32) -> f32 {
    f32::from_bits(int as u32)
}

/// `narrow` of the shaders: brings an integer into the range of a narrower type, by wrapping.
pub(super) fn narrow(v: i32, wrap: u32) -> i32 {
    match wrap {
        1 => v << 24 >> 24,
        2 => v & 255,
        3 => v << 16 >> 16,
        4 => v & 65_535,
        5 => i32::from(v != 0),
        _ => v,
    }
}

/// `place` of the shaders: an index counted from the end where it is negative, held inside its extent.
pub(super) fn place(index: f32, extent: u32) -> u32 {
    let (i, extent) = (int(index), extent as i32);
    (if i < 0 { i.wrapping_add(extent) } else { i }).clamp(0, extent - 1) as u32
}

/// `key` of the shaders: an integer in the order of the elements.
pub(super) fn key(element: f32, floats: bool) -> i32 {
    let v = match element.to_bits() {
        0x8000_0000 if floats => 0,
        bits => bits as i32,
    };
    if floats && v < 0 { v ^ 0x7fff_ffff } else { v }
}

/// `combine` of the shaders: what is stored where an update meets an element.
pub(super) fn combine(op: u32, former: f32, update: f32) -> f32 {
    let (m, n) = (int(former), int(update));
    match op {
        0 => update,
        1 => former + update,
        2 => former * update,
        3 => {
            if update < former {
                update
            } else {
                former
            }
        }
        4 => {
            if update > former {
                update
            } else {
                former
            }
        }
        5 => word(m.wrapping_add(n)),
        6 => word(m.wrapping_mul(n)),
        7 => word(m.min(n)),
        _ => word(m.max(n)),
    }
}
