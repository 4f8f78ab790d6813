// Chooses between two tensors with broadcasting: out[i] = a[..] where c[..] is not 0, else b[..]. A broadcast
// dimension has stride 0. Words of any type; c is of integers.
//
// Bindings: 0 parameters, 1 c, 2 a, 3 b, 4 out. May run in place over an input of the output's shape: an
// invocation reads its elements before it writes one.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    c_base: u32,
    a_base: u32,
    b_base: u32,
    out_base: u32,
    count: u32,
    rank: u32, // 1..=8
    c_start: u32,
    a_start: u32,
    b_start: u32,
    dims: array<vec4<u32>, 2>,
    c_strides: array<vec4<u32>, 2>,
    a_strides: array<vec4<u32>, 2>,
    b_strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> c: array<u32>;
@group(0) @binding(2) var<storage, read> a: array<u32>;
@group(0) @binding(3) var<storage, read> b: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<u32>;

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
    var condition = p.c_base + p.c_start;
    var left = p.a_base + p.a_start;
    var right = p.b_base + p.b_start;
    for (var n = p.rank; n > 0u; n -= 1u) {
        let d = n - 1u;
        let size = p.dims[d / 4u][d % 4u];
        let at = rest % size;
        rest /= size;
        condition += at * p.c_strides[d / 4u][d % 4u];
        left += at * p.a_strides[d / 4u][d % 4u];
        right += at * p.b_strides[d / 4u][d % 4u];
    }
    out[p.out_base + i] = select(b[right], a[left], c[condition] != 0u);
}
