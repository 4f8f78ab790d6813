// Element-wise function of two tensors of integers with broadcasting: out[i] = f(a[..], b[..]); `op`
// chooses f. A broadcast dimension has stride 0. `wrap` is the range of the element type; comparisons give
// 0 and 1.
//
// Bindings: 0 parameters, 1 a, 2 b, 3 out. May run in place over an input of the output's shape: an
// invocation reads its elements before it writes one.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    a_base: u32,
    b_base: u32,
    out_base: u32,
    count: u32,
    op: u32,
    rank: u32, // 1..=8
    a_start: u32,
    b_start: u32,
    wrap: u32,
    dims: array<vec4<u32>, 2>,
    a_strides: array<vec4<u32>, 2>,
    b_strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<i32>;
@group(0) @binding(2) var<storage, read> b: array<i32>;
@group(0) @binding(3) var<storage, read_write> out: array<i32>;

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

// What no quotient holds is the dividend, as in WGSL: division by 0, the lowest integer by -1.
fn divide(v: i32, w: i32) -> i32 {
    if w == 0 || (w == -1 && v == -2147483647 - 1) {
        return v;
    }
    return v / w;
}

fn remainder(v: i32, w: i32) -> i32 {
    if w == 0 || w == -1 {
        return 0;
    }
    return v % w;
}

// The sign follows the divisor.
fn modulo(v: i32, w: i32) -> i32 {
    let r = remainder(v, w);
    return select(r, r + w, r != 0 && (r < 0) != (w < 0));
}

fn shift(v: i32, by: i32, left: bool) -> i32 {
    if by < 0 || by > 31 {
        return 0;
    }
    if left {
        return v << u32(by);
    }
    return v >> u32(by);
}

// Squares and multiplies; of negative exponents only 1 and -1 have an integer power.
fn power(v: i32, e: i32) -> i32 {
    if e < 0 {
        if v == -1 {
            return select(1, -1, (e & 1) == 1);
        }
        return select(0, 1, v == 1);
    }
    var result = 1;
    var square = v;
    for (var n = e; n > 0; n >>= 1u) {
        if (n & 1) == 1 {
            result *= square;
        }
        square *= square;
    }
    return result;
}

fn apply(v: i32, w: i32) -> i32 {
    switch p.op {
        case 0u: { return v + w; }
        case 1u: { return v - w; }
        case 2u: { return v * w; }
        case 3u: { return divide(v, w); }
        case 4u: { return power(v, w); }
        case 5u: { return select(v, v * w, v < 0); } // prelu
        case 6u: { return min(v, w); }
        case 7u: { return max(v, w); }
        case 8u: { return remainder(v, w); }
        case 9u: { return modulo(v, w); }
        case 10u: { return v & w; }
        case 11u: { return v | w; }
        case 12u: { return v ^ w; }
        case 13u: { return shift(v, w, true); }
        case 14u: { return shift(v, w, false); }
        case 15u: { return select(0, 1, v == w); }
        case 16u: { return select(0, 1, v < w); }
        case 17u: { return select(0, 1, v > w); }
        case 18u: { return select(0, 1, v <= w); }
        default: { return select(0, 1, v >= w); }
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
    var rest = i;
    var left = p.a_base + p.a_start;
    var right = p.b_base + p.b_start;
    for (var d = p.rank - 1u; d > 0u; d -= 1u) {
        let size = p.dims[d / 4u][d % 4u];
        let c = rest % size;
        rest /= size;
        left += c * p.a_strides[d / 4u][d % 4u];
        right += c * p.b_strides[d / 4u][d % 4u];
    }
    left += rest * p.a_strides[0][0];
    right += rest * p.b_strides[0][0];
    out[p.out_base + i] = narrow(apply(a[left], b[right]));
}
