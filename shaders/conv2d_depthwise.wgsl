// Depthwise 2-D convolution, one input channel a group: y = act(bias + addend + sum over tap of w * x).
// Bindings: x [N, C, H, W], w [M, 1, kH, kW] with M a multiple of C, bias [M] and addend [N, M, OH, OW] (or
// absent), y [N, M, OH, OW].
// Dispatch: 64 invocations a workgroup, workgroups folded into x and y. One invocation computes up to 4
// neighbouring pixels of one output row, so that each weight it loads is used 4 times.
struct Params {
    x_base: u32,
    w_base: u32,
    bias_base: u32,
    addend_base: u32,
    y_base: u32,
    batch: u32,
    in_channels: u32,
    in_h: u32,
    in_w: u32,
    out_channels: u32,
    out_h: u32,
    out_w: u32,
    groups: u32,
    kernel_h: u32,
    kernel_w: u32,
    stride_h: u32,
    stride_w: u32,
    pad_top: u32,
    pad_left: u32,
    dilation_h: u32,
    dilation_w: u32,
    // This dispatch computes `channels` output channels from `first_channel` on; w holds only their rows.
    first_channel: u32,
    channels: u32,
    has_bias: u32,
    act: u32,
    act_a: f32,
    act_b: f32,
    has_addend: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> addend: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

fn activate(v: f32) -> f32 {
    switch p.act {
        case 1u: { return max(v, 0.0); }
        case 2u: { return min(max(v, p.act_a), p.act_b); }
        case 3u: { return select(v, p.act_a * v, v < 0.0); }
        default: { return v; }
    }
}

// Adds the bias of channel `oc` of this dispatch and the addend, applies the activation, stores at a pixel of
// image `n`. The addend is read where y is written, and no sooner, so y may take its bytes.
fn store(n: u32, oc: u32, pixel: u32, sum: f32) {
    let channel = p.first_channel + oc;
    var v = sum;
    if (p.has_bias != 0u) { v += bias[p.bias_base + channel]; }
    let at = (n * p.out_channels + channel) * p.out_h * p.out_w + pixel;
    if (p.has_addend != 0u) { v += addend[p.addend_base + at]; }
    y[p.y_base + at] = activate(v);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let quads = (p.out_w + 3u) / 4u;
    let item = (wid.y * grid.x + wid.x) * 64u + lane;
    if (item >= p.batch * p.channels * p.out_h * quads) { return; }
    let ox = item % quads * 4u;
    let oy = item / quads % p.out_h;
    let oc = item / quads / p.out_h % p.channels;
    let n = item / quads / p.out_h / p.channels;

    // Negative positions wrap around and fail the same comparison as those past the end.
    let top = oy * p.stride_h - p.pad_top;
    let left = ox * p.stride_w - p.pad_left;
    let channel = oc / (p.channels / p.groups);
    let plane = p.x_base + (n * p.in_channels + channel) * p.in_h * p.in_w;
    var k = p.w_base + oc * p.kernel_h * p.kernel_w;
    var sum = vec4<f32>(0.0);
    for (var ky = 0u; ky < p.kernel_h; ky++) {
        let iy = top + ky * p.dilation_h;
        if (iy >= p.in_h) {
            k += p.kernel_w;
            continue;
        }
        let row = plane + iy * p.in_w;
        for (var kx = 0u; kx < p.kernel_w; kx++) {
            let ix = left + kx * p.dilation_w;
            let ix1 = ix + p.stride_w;
            let ix2 = ix1 + p.stride_w;
            let ix3 = ix2 + p.stride_w;
            var taps = vec4<f32>(0.0);
            if (ix < p.in_w) { taps.x = x[row + ix]; }
            if (ix1 < p.in_w) { taps.y = x[row + ix1]; }
            if (ix2 < p.in_w) { taps.z = x[row + ix2]; }
            if (ix3 < p.in_w) { taps.w = x[row + ix3]; }
            sum += w[k] * taps;
            k++;
        }
    }
    for (var i = 0u; i < 4u; i++) {
        if (ox + i < p.out_w) { store(n, oc, oy * p.out_w + ox + i, sum[i]); }
    }
}
