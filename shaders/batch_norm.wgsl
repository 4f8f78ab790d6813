// Batch normalisation with given statistics, x [N, C, inner]:
// out = (x - mean[c]) * (scale[c] / sqrt(variance[c] + epsilon)) + bias[c].
//
// Bindings: 0 parameters, 1 x, 2 scale, 3 bias, 4 mean, 5 variance, 6 out. May run in place over x.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    scale_base: u32,
    bias_base: u32,
    mean_base: u32,
    variance_base: u32,
    out_base: u32,
    count: u32,
    channels: u32,
    inner: u32,
    epsilon: f32,
    first_channel: u32, // the channel of x[0]
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> scale: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> mean: array<f32>;
@group(0) @binding(5) var<storage, read> variance: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

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
    let c = p.first_channel + (i / p.inner) % p.channels;
    let factor = scale[p.scale_base + c] / sqrt(variance[p.variance_base + c] + p.epsilon);
    let centred = x[p.x_base + i] - mean[p.mean_base + c];
    out[p.out_base + i] = centred * factor + bias[p.bias_base + c];
}
