// Conversions between element types, and tests of floats: out[i] = f(x[i]) on words; `op` chooses f. `wrap`
// is the range of the type of an integer output, or which infinities are meant (1 positive, 2 negative).
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    op: u32,
    wrap: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

// Brings an integer into the range of a narrower type, by wrapping.
fn narrow(v: i32) -> i32 {
    switch p.wrap {
        case 1u: { return (v << 24u) >> 24u; } // int8
        case 2u: { return v & 255; } // uint8
        case 3u: { return (v << 16u) >> 16u; } // int16
        case 4u: { return v & 65535; } // uint16
        case 5u: { return select(0, 1, v != 0); } // bool
        default: { return v; }
    }
}

// Toward zero; what int32 does not hold becomes its nearest end, not a number becomes 0.
fn truncated(v: f32) -> i32 {
    if v >= 2147483648.0 {
        return 2147483647;
    }
    if v <= -2147483648.0 {
        return -2147483647 - 1;
    }
    return select(i32(v), 0, v != v);
}

// The nearest float16, halfway cases to even: 10 bits of fraction are kept, fewer below 2^-14.
fn to_half(word: u32) -> u32 {
    let sign = word & 0x80000000u;
    let size = word & 0x7fffffffu;
    if size > 0x7f800000u {
        return word;
    }
    if size >= 0x477ff000u {
        return sign | 0x7f800000u;
    }
    if size < 0x38800000u {
        return sign | bitcast<u32>(round(bitcast<f32>(size) * 16777216.0) / 16777216.0);
    }
    return sign | ((size + 0xfffu + ((size >> 13u) & 1u)) & 0xffffe000u);
}

// The nearest bfloat16, halfway cases to even.
fn to_brain(word: u32) -> u32 {
    if (word & 0x7fffffffu) > 0x7f800000u {
        return word;
    }
    return (word + 0x7fffu + ((word >> 16u) & 1u)) & 0xffff0000u;
}

fn is_infinite(word: u32) -> bool {
    return (word == 0x7f800000u && (p.wrap & 1u) != 0u) || (word == 0xff800000u && (p.wrap & 2u) != 0u);
}

fn apply(word: u32) -> u32 {
    switch p.op {
        case 0u: { return bitcast<u32>(narrow(truncated(bitcast<f32>(word)))); } // float to integer
        case 1u: { return bitcast<u32>(f32(bitcast<i32>(word))); } // integer to float
        case 2u: { return select(0u, 1u, (word & 0x7fffffffu) != 0u); } // float to bool
        case 3u: { return bitcast<u32>(narrow(bitcast<i32>(word))); } // integer to integer
        case 4u: { return to_half(word); }
        case 5u: { return to_brain(word); }
        case 6u: { return select(0u, 1u, (word & 0x7fffffffu) > 0x7f800000u); } // is not a number
        default: { return select(0u, 1u, is_infinite(word)); }
    }
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = (group.y * groups.x + group.x) * 256u + local;
    if i >= p.count {
        return;
    }
    out[p.out_base + i] = apply(x[p.x_base + i]);
}
