// Writes slices to places that a tensor of indices names, in the order of the updates, so that of two
// updates of one place the later counts: out[place(j), n] = combine(out[place(j), n], updates[j, n]). A
// place is `depth` indices, each along a dimension of out, which holds the data already. Words of any type.
//
// Bindings: 0 parameters, 1 indices, 2 updates, 3 out.
// Dispatch: 1-D over the `count` elements of a slice, each through all updates; 256 a workgroup, folded.

struct Params {
    indices_base: u32,
    updates_base: u32,
    out_base: u32,
    count: u32,
    op: u32,
    places: u32,
    depth: u32, // 1..=8
    extents: array<vec4<u32>, 2>, // of the dimensions that are indexed
    strides: array<vec4<u32>, 2>, // of those dimensions in out
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

// An index counted from the end where it is negative, held inside its extent: a wrong index reads a wrong
// element, never another tensor's.
fn place(index: u32, extent: u32) -> u32 {
    let i = bitcast<i32>(index);
    return u32(clamp(select(i, i + i32(extent), i < 0), 0, i32(extent) - 1));
}

// What is stored where an update meets an element: `op` 0 the update; floats: 1 sum, 2 product, 3 least, 4
// largest; integers the same from 5 on.
fn combine(former: u32, update: u32) -> u32 {
    let v = bitcast<f32>(former);
    let w = bitcast<f32>(update);
    let m = bitcast<i32>(former);
    let n = bitcast<i32>(update);
    switch p.op {
        case 0u: { return update; }
        case 1u: { return bitcast<u32>(v + w); }
        case 2u: { return bitcast<u32>(v * w); }
        case 3u: { return select(former, update, w < v); }
        case 4u: { return select(former, update, w > v); }
        case 5u: { return bitcast<u32>(m + n); }
        case 6u: { return bitcast<u32>(m * n); }
        case 7u: { return bitcast<u32>(min(m, n)); }
        default: { return bitcast<u32>(max(m, n)); }
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
    for (var j = 0u; j < p.places; j += 1u) {
        var goal = p.out_base + i;
        for (var k = 0u; k < p.depth; k += 1u) {
            let extent = p.extents[k / 4u][k % 4u];
            goal += place(indices[p.indices_base + j * p.depth + k], extent) * p.strides[k / 4u][k % 4u];
        }
        out[goal] = combine(out[goal], updates[p.updates_base + j * p.count + i]);
    }
}
