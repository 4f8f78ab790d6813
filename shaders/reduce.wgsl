// Reduction over any axes: `kind` 0 mean, 1 sum, 2 largest, 3 smallest, 4 product, 5 sum of magnitudes,
// 6 root of the sum of squares, 7 sum of squares, 8 logarithm of the sum, 9 logarithm of the sum of
// exponentials. Output i is addressed by the kept dimensions, its elements by the reduced ones. `lanes`
// invocations (a power of two, 1..=256) share one output: lane l joins elements l, l + lanes, .. to `start`;
// then a tree joins the lanes. A mean of no element is 0 / 0.
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
    kind: u32,
    start: f32, // what joins with any element to that element
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

fn join(so_far: f32, v: f32) -> f32 {
    switch p.kind {
        case 2u: { return select(so_far, v, v > so_far); }
        case 3u: { return select(so_far, v, v < so_far); }
        case 4u: { return so_far * v; }
        default: { return so_far + v; }
    }
}

// What an element brings in; `shift` is taken off before an exponential.
fn term(v: f32, shift: f32) -> f32 {
    switch p.kind {
        case 5u: { return abs(v); }
        case 6u, 7u: { return v * v; }
        case 9u: { return exp(v - shift); }
        default: { return v; }
    }
}

// At 0 and below WGSL leaves the logarithm to the driver, and drivers differ; minus infinity and NaN are made
// of the value's own bits.
fn logarithm(v: f32) -> f32 {
    let bits = bitcast<u32>(v);
    let not_positive = select(bitcast<f32>(bits | 0xff800000u), bitcast<f32>(bits | 0x7fc00000u), v < 0.0);
    return select(not_positive, log(v), v > 0.0);
}

fn finish(v: f32, shift: f32) -> f32 {
    switch p.kind {
        case 0u: { return v / f32(p.reduced); }
        case 6u: { return sqrt(v); }
        case 8u: { return logarithm(v); }
        case 9u: { return logarithm(v) + shift; }
        default: { return v; }
    }
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
    // An idle output has no element, so that every invocation meets every barrier.
    let reduced = select(0u, p.reduced, inside);
    let first = p.x_base + kept_offset(i);
    var shift = 0.0;
    if p.kind == 9u {
        // Not the lowest float: printed in its shortest form it is out of range for a browser's parser.
        var largest = -3.4028233e38;
        for (var k = lane; k < reduced; k += p.lanes) {
            let v = x[first + reduced_offset(k)];
            largest = select(largest, v, v > largest);
        }
        partial[local] = largest;
        workgroupBarrier();
        for (var half = p.lanes / 2u; half > 0u; half /= 2u) {
            if lane < half {
                let v = partial[local + half];
                partial[local] = select(partial[local], v, v > partial[local]);
            }
            workgroupBarrier();
        }
        shift = partial[local - lane];
        // Infinite or none at all: nothing to take off.
        if abs(shift) > 3.4028232e38 {
            shift = 0.0;
        }
        workgroupBarrier();
    }
    var so_far = p.start;
    for (var k = lane; k < reduced; k += p.lanes) {
        so_far = join(so_far, term(x[first + reduced_offset(k)], shift));
    }
    partial[local] = so_far;
    workgroupBarrier();
    for (var half = p.lanes / 2u; half > 0u; half /= 2u) {
        if lane < half {
            partial[local] = join(partial[local], partial[local + half]);
        }
        workgroupBarrier();
    }
    if inside && lane == 0u {
        out[p.out_base + i] = finish(partial[local], shift);
    }
}
