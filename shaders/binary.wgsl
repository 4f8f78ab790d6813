// Element-wise function of two tensors with broadcasting: out[i] = f(a[..], b[..]); `op` chooses f. A
// broadcast dimension has stride 0; equal shapes have rank 1 and stride 1, so that no index is divided.
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
    dims: array<vec4<u32>, 2>,
    a_strides: array<vec4<u32>, 2>,
    b_strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

// WGSL leaves pow of a negative base undefined, and drivers compute it through logarithms: small integers
// are multiplied out, 0 and negative bases follow the rules of IEEE pow by hand.
fn power(v: f32, e: f32) -> f32 {
    let whole = floor(e) == e;
    if whole && abs(e) <= 8.0 {
        var product = 1.0;
        for (var n = 0.0; n < abs(e); n += 1.0) {
            product *= v;
        }
        if e < 0.0 {
            return 1.0 / product;
        }
        return product;
    }
    if e == 0.5 {
        return sqrt(v);
    }
    if v == 0.0 {
        return select(1.0 / abs(v), 0.0, e > 0.0);
    }
    let magnitude = pow(abs(v), e);
    if v >= 0.0 {
        return magnitude;
    }
    if !whole {
        return sqrt(v); // not a number
    }
    let odd = floor(e * 0.5) != e * 0.5;
    return select(magnitude, -magnitude, odd);
}

fn apply(v: f32, w: f32) -> f32 {
    switch p.op {
        case 0u: { return v + w; }
        case 1u: { return v - w; }
        case 2u: { return v * w; }
        case 3u: { return v / w; }
        case 4u: { return power(v, w); }
        case 5u: { return select(v, v * w, v < 0.0); } // prelu
        case 6u: { return select(w, v, v < w || v != v); } // least
        case 7u: { return select(w, v, v > w || v != v); } // largest
        default: { return v - w * trunc(v / w); } // remainder
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
    out[p.out_base + i] = apply(a[left], b[right]);
}
