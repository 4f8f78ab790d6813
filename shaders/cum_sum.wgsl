// Running sums along the middle of [outer, axis, inner], one row an invocation. Words of floats or integers.
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an invocation reads an element before it writes it.
// Dispatch: 1-D over `count` rows, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32, // outer * inner
    axis: u32,
    inner: u32,
    floats: u32, // 1 floats, 0 integers
    exclusive: u32, // 1: without the element itself
    reverse: u32, // 1: from the end
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

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
    let row = (i / p.inner) * p.axis * p.inner + i % p.inner;
    var sum = 0u;
    for (var j = 0u; j < p.axis; j += 1u) {
        let at = row + select(j, p.axis - 1u - j, p.reverse == 1u) * p.inner;
        let word = x[p.x_base + at];
        let former = sum;
        if p.floats == 1u {
            sum = bitcast<u32>(bitcast<f32>(sum) + bitcast<f32>(word));
        } else {
            sum += word;
        }
        out[p.out_base + at] = select(sum, former, p.exclusive == 1u);
    }
}
