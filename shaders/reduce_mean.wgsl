// Mean over any axes. Output i is addressed by the kept dimensions, its elements by the reduced ones.
// `lanes` invocations (a power of two, 1..=256) share one output: lane l adds elements l, l + lanes, ..;
// then a tree adds the lanes. A mean of no element is 0 / 0.
//
// Bindings: 0 parameters, 1 x, 2 out.
// Dispatch: 256 / lanes outputs a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32, // outputs
    reduced: u32, // elements of each
    lanes: u32,
    kept_rank: u32, // 1..=8
    reduced_rank: u32, // 1..=8
    kept_dims: array<vec4<u32>, 2>,
    kept_strides: array<vec4<u32>, 2>,
    reduced_dims: array<vec4<u32>, 2>,
    reduced_strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

var<workgroup> partial: array<f32, 256>;

fn kept_offset(i: u32) -> u32 {
    var rest = i;
    var offset = 0u;
    for (var d = p.kept_rank - 1u; d > 0u; d -= 1u) {
        let size = p.kept_dims[d / 4u][d % 4u];
        offset += (rest % size) * p.kept_strides[d / 4u][d % 4u];
        rest /= size;
    }
    return offset + rest * p.kept_strides[0][0];
}

fn reduced_offset(k: u32) -> u32 {
    var rest = k;
    var offset = 0u;
    for (var d = p.reduced_rank - 1u; d > 0u; d -= 1u) {
        let size = p.reduced_dims[d / 4u][d % 4u];
        offset += (rest % size) * p.reduced_strides[d / 4u][d % 4u];
        rest /= size;
    }
    return offset + rest * p.reduced_strides[0][0];
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let lane = local % p.lanes;
    let i = (group.y * groups.x + group.x) * (256u / p.lanes) + local / p.lanes;
    let inside = i < p.count;
    var sum = 0.0;
    if inside {
        let start = p.x_base + kept_offset(i);
        for (var k = lane; k < p.reduced; k += p.lanes) {
            sum += x[start + reduced_offset(k)];
        }
    }
    partial[local] = sum;
    workgroupBarrier();
    for (var half = p.lanes / 2u; half > 0u; half /= 2u) {
        if lane < half {
            partial[local] += partial[local + half];
        }
        workgroupBarrier();
    }
    if inside && lane == 0u {
        out[p.out_base + i] = partial[local] / f32(p.reduced);
    }
}
