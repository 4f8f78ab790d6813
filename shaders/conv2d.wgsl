// Direct 2-D convolution with any groups: y = act(bias + addend + sum over channel and tap of w * x).
// Bindings: x [N, C, H, W], w [M, C / groups, kH, kW], bias [M] and addend [N, M, OH, OW] (or
// absent), y [N, M, OH, OW].
// Dispatch: 64 invocations a workgroup, workgroups folded into x and y. One invocation computes up to 4
// output channels of one group at one pixel, so that each x it loads is used 4 times.
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
    let pixels = p.out_h * p.out_w;
    let group_in = p.in_channels / p.groups;
    let group_out = p.channels / p.groups;
    let quads = (group_out + 3u) / 4u;
    let item = (wid.y * grid.x + wid.x) * 64u + lane;
    if (item >= p.batch * p.groups * quads * pixels) { return; }
    let pixel = item % pixels;
    let quad = item / pixels % quads;
    let group = item / pixels / quads % p.groups;
    let n = item / pixels / quads / p.groups;

    // Negative positions wrap around and fail the same comparison as those past the end.
    let top = pixel / p.out_w * p.stride_h - p.pad_top;
    let left = pixel % p.out_w * p.stride_w - p.pad_left;
    let depth = group_in * p.kernel_h * p.kernel_w;
    let plane_len = p.in_h * p.in_w;
    // Channels past the group's last are computed as the last and not stored.
    let last = group_out - 1u;
    let first = group * group_out;
    let row0 = p.w_base + (first + min(quad * 4u, last)) * depth;
    let row1 = p.w_base + (first + min(quad * 4u + 1u, last)) * depth;
    let row2 = p.w_base + (first + min(quad * 4u + 2u, last)) * depth;
    let row3 = p.w_base + (first + min(quad * 4u + 3u, last)) * depth;
    var plane = p.x_base + (n * p.in_channels + group * group_in) * plane_len;
    var k = 0u;
    // A long row of taps is a filter over a signal, whose products cancel; summed in chunks they lose less.
    let in_chunks = p.kernel_w > 8u;
    let chunk = select(p.kernel_w, 8u, in_chunks);
    var sum = vec4<f32>(0.0);
    var total = vec4<f32>(0.0);
    for (var ic = 0u; ic < group_in; ic++) {
        for (var ky = 0u; ky < p.kernel_h; ky++) {
            let iy = top + ky * p.dilation_h;
            if (iy >= p.in_h) {
                k += p.kernel_w;
                continue;
            }
            for (var left_kx = 0u; left_kx < p.kernel_w; left_kx += chunk) {
                for (var kx = left_kx; kx < min(left_kx + chunk, p.kernel_w); kx++) {
                    let ix = left + kx * p.dilation_w;
                    if (ix < p.in_w) {
                        let weights = vec4<f32>(w[row0 + k], w[row1 + k], w[row2 + k], w[row3 + k]);
                        sum += weights * x[plane + iy * p.in_w + ix];
                    }
                    k++;
                }
                if (in_chunks) {
                    total += sum;
                    sum = vec4<f32>(0.0);
                }
            }
        }
        plane += plane_len;
    }
    if (in_chunks) { sum = total; }
    for (var i = 0u; i < 4u; i++) {
        if (quad * 4u + i < group_out) { store(n, first + quad * 4u + i, pixel, sum[i]); }
    }
}
