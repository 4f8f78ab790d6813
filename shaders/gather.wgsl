// Reads slices at places that a tensor of indices names: out[o, j, n] = x[o, place(o, j), n]. A place is
// `depth` indices, each along a dimension of x. Serves Gather (one index along one axis, the same for every
// o) and GatherND. Words of any type.
//
// Bindings: 0 parameters, 1 x, 2 indices, 3 out.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    indices_base: u32,
    out_base: u32,
    count: u32,
    places: u32, // j: places for each o
    inner: u32, // n: elements of a slice
    depth: u32, // 1..=8
    outer_stride: u32, // of o in x
    outer_places: u32, // places between those of one o and the next: 0 or `places`
    first: u32, // what is bound of x starts there along its first indexed dimension,
    bound: u32, // and holds so many; other places are left to other dispatches
    x_start: u32, // elements that are bound before that
    extents: array<vec4<u32>, 2>, // of the dimensions that are indexed
    strides: array<vec4<u32>, 2>, // of those dimensions in x
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
    let n = i % p.inner;
    let j = (i / p.inner) % p.places;
    let o = i / p.inner / p.places;
    let first = p.indices_base + (o * p.outer_places + j) * p.depth;
    var source = p.x_base + p.x_start + o * p.outer_stride + n;
    let row = place(indices[first], p.extents[0][0]);
    if row < p.first || row - p.first >= p.bound {
        return;
    }
    source += (row - p.first) * p.strides[0][0];
    for (var k = 1u; k < p.depth; k += 1u) {
        let extent = p.extents[k / 4u][k % 4u];
        source += place(indices[first + k], extent) * p.strides[k / 4u][k % 4u];
    }
    out[p.out_base + i] = x[source];
}
