// Padding of every dimension; a removed margin is `x_start` and a smaller `extents`. Outside: mode 0 writes
// `value`, mode 1 mirrors without repeating the edge, mode 2 repeats the edge, mode 3 goes on at the other
// end. Words of any type.
//
// Bindings: 0 parameters, 1 x, 2 out.
// Dispatch: 1-D over `count` output elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    rank: u32, // 1..=8
    x_start: u32,
    mode: u32,
    value: u32,
    dims: array<vec4<u32>, 2>, // of the output
    extents: array<vec4<u32>, 2>, // of the part of x that is kept
    before: array<vec4<u32>, 2>, // elements added in front
    x_strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

// Index in 0..extent for an index `i` counted from the front of the padding, or `extent` where nothing is
// read.
fn resolve(i: u32, before: u32, extent: u32) -> u32 {
    if i >= before && i - before < extent {
        return i - before;
    }
    if p.mode == 0u {
        return extent;
    }
    if p.mode == 2u || extent == 1u {
        return select(0u, extent - 1u, i >= before);
    }
    if p.mode == 3u {
        return select((extent - (before - i) % extent) % extent, (i - before) % extent, i >= before);
    }
    // Distance past the nearer edge, folded into one period of the mirror image.
    let period = 2u * (extent - 1u);
    let distance = select(before - i, i - before, i >= before) % period;
    return min(distance, period - distance);
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
    var source = p.x_base + p.x_start;
    var inside = true;
    for (var n = p.rank; n > 0u; n -= 1u) {
        let d = n - 1u;
        let size = p.dims[d / 4u][d % 4u];
        let extent = p.extents[d / 4u][d % 4u];
        let c = resolve(rest % size, p.before[d / 4u][d % 4u], extent);
        rest /= size;
        inside = inside && c < extent;
        source += c * p.x_strides[d / 4u][d % 4u];
    }
    var v = p.value;
    if inside {
        v = x[source];
    }
    out[p.out_base + i] = v;
}
