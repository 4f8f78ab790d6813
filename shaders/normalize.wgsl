// Normalisation of runs of `len` elements: (x - mean) / sqrt(variance + epsilon), times scale and plus bias
// where these are; element i takes them at i / repeat, modulo `channels`. With `centred` 0 the mean counts as
// 0. `lanes` invocations (a power of two, 1..=256) share one run: lane l takes elements l, l + lanes, ..; a
// tree joins the lanes.
//
// Bindings: 0 parameters, 1 x, 2 scale (or absent), 3 bias (or absent), 4 out. May run in place: an element
// is written last, by its own invocation.
// Dispatch: 256 / lanes runs a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    scale_base: u32,
    bias_base: u32,
    out_base: u32,
    runs: u32,
    len: u32,
    lanes: u32,
    channels: u32,
    repeat: u32,
    epsilon: f32,
    centred: u32,
    has_scale: u32,
    has_bias: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> scale: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

var<workgroup> partial: array<f32, 256>;

// The sum of what every lane of a run brings.
fn add_up(local: u32, v: f32) -> f32 {
    let lane = local % p.lanes;
    partial[local] = v;
    workgroupBarrier();
    for (var half = p.lanes / 2u; half > 0u; half /= 2u) {
        if lane < half {
            partial[local] += partial[local + half];
        }
        workgroupBarrier();
    }
    let sum = partial[local - lane];
    workgroupBarrier();
    return sum;
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let lane = local % p.lanes;
    let run = (group.y * groups.x + group.x) * (256u / p.lanes) + local / p.lanes;
    // An idle run has no element, so that every invocation meets every barrier.
    let len = select(0u, p.len, run < p.runs);
    let start = run * p.len;
    var mean = 0.0;
    if p.centred != 0u {
        var sum = 0.0;
        for (var k = lane; k < len; k += p.lanes) {
            sum += x[p.x_base + start + k];
        }
        mean = add_up(local, sum) / f32(p.len);
    }
    var squares = 0.0;
    for (var k = lane; k < len; k += p.lanes) {
        let v = x[p.x_base + start + k] - mean;
        squares += v * v;
    }
    let deviation = sqrt(add_up(local, squares) / f32(p.len) + p.epsilon);
    for (var k = lane; k < len; k += p.lanes) {
        let i = start + k;
        let channel = i / p.repeat % p.channels;
        var v = (x[p.x_base + i] - mean) / deviation;
        if p.has_scale != 0u {
            v *= scale[p.scale_base + channel];
        }
        if p.has_bias != 0u {
            v += bias[p.bias_base + channel];
        }
        out[p.out_base + i] = v;
    }
}
