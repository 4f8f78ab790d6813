// 1 for the first of the largest elements along the middle of [outer, axis, inner], 0 for the others.
//
// Bindings: 0 parameters, 1 x, 2 out (not in place: a row is read after it is written).
// Dispatch: one row an invocation, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    rows: u32, // outer * inner
    axis: u32,
    inner: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = (group.y * groups.x + group.x) * 256u + local;
    if row >= p.rows {
        return;
    }
    let start = (row / p.inner) * p.axis * p.inner + row % p.inner;
    var best = 0u;
    var largest = x[p.x_base + start];
    for (var k = 1u; k < p.axis; k += 1u) {
        let v = x[p.x_base + start + k * p.inner];
        if v > largest {
            largest = v;
            best = k;
        }
    }
    for (var k = 0u; k < p.axis; k += 1u) {
        out[p.out_base + start + k * p.inner] = select(0.0, 1.0, k == best);
    }
}
