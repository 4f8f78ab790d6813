// Compares two tensors of floats with broadcasting: out[i] = 1 where it holds, else 0; `op` chooses the
// comparison, with the codes of binary_int. Elements are words, since the output is of integers.
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
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

fn holds(v: f32, w: f32) -> bool {
    switch p.op {
        case 15u: { return v == w; }
        case 16u: { return v < w; }
        case 17u: { return v > w; }
        case 18u: { return v <= w; }
        default: { return v >= w; }
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
    out[p.out_base + i] = select(0u, 1u, holds(bitcast<f32>(a[left]), bitcast<f32>(b[right])));
}
