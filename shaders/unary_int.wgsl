// Element-wise function of one tensor of integers: out[i] = f(x[i]); `op` chooses f, `a` and `b` are its
// constants. `wrap` is the range of the element type.
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    op: u32,
    a: i32,
    b: i32,
    wrap: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<i32>;
@group(0) @binding(2) var<storage, read_write> out: array<i32>;

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

fn apply(v: i32) -> i32 {
    switch p.op {
        case 0u: { return -v; }
        case 1u: { return abs(v); }
        case 2u: { return sign(v); }
        case 3u: { return select(0, 1, v == 0); } // not
        case 4u: { return ~v; }
        case 5u: { return min(max(v, p.a), p.b); } // clip
        default: { return max(v, 0); } // relu
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
    out[p.out_base + i] = narrow(apply(x[p.x_base + i]));
}
