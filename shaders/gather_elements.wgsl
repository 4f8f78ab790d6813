// Reads one element for each index: out[c] = x[c with index(c) along one axis] for every coordinate c of
// the indices, whose other dimensions lie inside those of x. Words of any type.
//
// Bindings: 0 parameters, 1 x, 2 indices, 3 out (of the shape of the indices).
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    indices_base: u32,
    out_base: u32,
    count: u32,
    rank: u32, // 1..=8
    extent: u32, // of the axis in x
    axis_stride: u32, // of the axis in x
    dims: array<vec4<u32>, 2>, // of the indices
    x_strides: array<vec4<u32>, 2>, // 0 along the axis
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

// An index counted from the end where it is negative, held inside its extent: a wrong index reads a wrong
// element, never another tensor's.
fn place(index: u32, extent: u32) -> u32 {
    let i = bitcast<i32>(index);
    return u32(clamp(select(i, i + i32(extent), i < 0), 0, i32(extent) - 1));
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
    var source = p.x_base + place(indices[p.indices_base + i], p.extent) * p.axis_stride;
    for (var n = p.rank; n > 0u; n -= 1u) {
        let d = n - 1u;
        let size = p.dims[d / 4u][d % 4u];
        source += (rest % size) * p.x_strides[d / 4u][d % 4u];
        rest /= size;
    }
    out[p.out_base + i] = x[source];
}
