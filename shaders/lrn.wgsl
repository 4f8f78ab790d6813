// Local response normalisation across channels, x [N, C, inner]: out = x / (bias + scale * s)^beta, where s
// adds the squares of channels c - before ..= c + after that exist, in ascending order, and scale = alpha /
// size.
//
// Bindings: 0 parameters, 1 x, 2 out (not in place: neighbouring channels are read).
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    channels: u32,
    inner: u32,
    before: u32,
    after: u32,
    scale: f32,
    beta: f32,
    bias: f32,
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
    let i = (group.y * groups.x + group.x) * 256u + local;
    if i >= p.count {
        return;
    }
    let c = (i / p.inner) % p.channels;
    let below = min(c, p.before);
    let above = min(p.channels - 1u - c, p.after);
    var sum = 0.0;
    var k = p.x_base + i - below * p.inner;
    for (var n = 0u; n <= below + above; n += 1u) {
        sum += x[k] * x[k];
        k += p.inner;
    }
    out[p.out_base + i] = x[p.x_base + i] / pow(p.bias + p.scale * sum, p.beta);
}
