// Marks indices: out[o, d, n] = values[1] where index[o, n] is d (counted from the end where it is
// negative), else values[0]. Words of any type; the indices are of integers.
//
// Bindings: 0 parameters, 1 indices, 2 values (off, on), 3 out.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    indices_base: u32,
    values_base: u32,
    out_base: u32,
    count: u32,
    depth: u32,
    inner: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

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
    let n = i % p.inner;
    let d = (i / p.inner) % p.depth;
    let o = i / p.inner / p.depth;
    let index = indices[p.indices_base + o * p.inner + n];
    // A negative index wraps to itself plus the depth; what is outside on either side meets no d.
    let hit = index == d || index + p.depth == d;
    out[p.out_base + i] = values[p.values_base + select(0u, 1u, hit)];
}
