// Strided copy: out[out_start + sum c_d * out_strides_d] = x[x_start + sum c_d * x_strides_d] for every
// coordinate c of dims. Serves copy, transpose, slice, expand (stride 0) and one input of a concat. Strides
// are modulo 2^32, so a negative step is its two's complement. Words of any type, whose bits are kept.
//
// Bindings: 0 parameters, 1 x, 2 out (only the addressed elements are written).
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    rank: u32, // 1..=8
    x_start: u32,
    out_start: u32,
    dims: array<vec4<u32>, 2>,
    x_strides: array<vec4<u32>, 2>,
    out_strides: array<vec4<u32>, 2>,
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
    var rest = i;
    var source = p.x_base + p.x_start;
    var place = p.out_base + p.out_start;
    for (var d = p.rank - 1u; d > 0u; d -= 1u) {
        let size = p.dims[d / 4u][d % 4u];
        let c = rest % size;
        rest /= size;
        source += c * p.x_strides[d / 4u][d % 4u];
        place += c * p.out_strides[d / 4u][d % 4u];
    }
    source += rest * p.x_strides[0][0];
    place += rest * p.out_strides[0][0];
    out[place] = x[source];
}
