// Writes one element for each index: out[c with index(c) along one axis] = combine(.., updates[c]) for
// every coordinate c of the updates. Updates that may meet differ along the axis alone; one invocation
// walks it in order, so that of two updates of one element the later counts. The output holds the data
// already. Words of any type.
//
// Bindings: 0 parameters, 1 indices, 2 updates, 3 out.
// Dispatch: 1-D over the `count` coordinates beside the axis, 256 a workgroup, folded into x and y.

struct Params {
    indices_base: u32,
    updates_base: u32,
    out_base: u32,
    count: u32,
    op: u32,
    rank: u32, // 1..=8, of the dimensions beside the axis
    length: u32, // of the axis in the updates
    step: u32, // between neighbours along the axis in the updates
    extent: u32, // of the axis in out
    axis_stride: u32, // of the axis in out
    dims: array<vec4<u32>, 2>, // of the updates beside the axis
    update_strides: array<vec4<u32>, 2>,
    out_strides: array<vec4<u32>, 2>,
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
    var rest = i;
    var update = 0u;
    var start = p.out_base;
    for (var n = p.rank; n > 0u; n -= 1u) {
        let d = n - 1u;
        let size = p.dims[d / 4u][d % 4u];
        let c = rest % size;
        rest /= size;
        update += c * p.update_strides[d / 4u][d % 4u];
        start += c * p.out_strides[d / 4u][d % 4u];
    }
    for (var j = 0u; j < p.length; j += 1u) {
        let goal = start + place(indices[p.indices_base + update], p.extent) * p.axis_stride;
        out[goal] = combine(out[goal], updates[p.updates_base + update]);
        update += p.step;
    }
}
