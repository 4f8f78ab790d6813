// Direct 3-D convolution with any groups: y = bias + sum over channel and tap of w * x.
// Bindings: x [N, C, D, H, W], w [M, C / groups, kD, kH, kW], bias [M] (or absent), y [N, M, OD, OH, OW].
// Dispatch: 64 invocations a workgroup, workgroups folded into x and y. One invocation computes up to 4
// output channels of one group at one position, so that each x it loads is used 4 times.
struct Params {
    x_base: u32,
    w_base: u32,
    bias_base: u32,
    y_base: u32,
    batch: u32,
    in_channels: u32,
    in_d: u32,
    in_h: u32,
    in_w: u32,
    out_channels: u32,
    out_d: u32,
    out_h: u32,
    out_w: u32,
    groups: u32,
    kernel_d: u32,
    kernel_h: u32,
    kernel_w: u32,
    stride_d: u32,
    stride_h: u32,
    stride_w: u32,
    pad_d: u32,
    pad_h: u32,
    pad_w: u32,
    dilation_d: u32,
    dilation_h: u32,
    dilation_w: u32,
    has_bias: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let places = p.out_d * p.out_h * p.out_w;
    let group_in = p.in_channels / p.groups;
    let group_out = p.out_channels / p.groups;
    let quads = (group_out + 3u) / 4u;
    let item = (wid.y * grid.x + wid.x) * 64u + lane;
    if (item >= p.batch * p.groups * quads * places) { return; }
    let place = item % places;
    let quad = item / places % quads;
    let group = item / places / quads % p.groups;
    let n = item / places / quads / p.groups;

    // Negative positions wrap around and fail the same comparison as those past the end.
    let left = place % p.out_w * p.stride_w - p.pad_w;
    let top = place / p.out_w % p.out_h * p.stride_h - p.pad_h;
    let front = place / p.out_w / p.out_h * p.stride_d - p.pad_d;
    let taps = p.kernel_d * p.kernel_h * p.kernel_w;
    let depth = group_in * taps;
    let plane_len = p.in_d * p.in_h * p.in_w;
    // Channels past the group's last are computed as the last and not stored.
    let last = group_out - 1u;
    let first = group * group_out;
    let row0 = p.w_base + (first + min(quad * 4u, last)) * depth;
    let row1 = p.w_base + (first + min(quad * 4u + 1u, last)) * depth;
    let row2 = p.w_base + (first + min(quad * 4u + 2u, last)) * depth;
    let row3 = p.w_base + (first + min(quad * 4u + 3u, last)) * depth;
    let image = p.x_base + (n * p.in_channels + group * group_in) * plane_len;
    var sum = vec4<f32>(0.0);
    for (var kz = 0u; kz < p.kernel_d; kz++) {
        let iz = front + kz * p.dilation_d;
        if (iz >= p.in_d) { continue; }
        for (var ky = 0u; ky < p.kernel_h; ky++) {
            let iy = top + ky * p.dilation_h;
            if (iy >= p.in_h) { continue; }
            for (var kx = 0u; kx < p.kernel_w; kx++) {
                let ix = left + kx * p.dilation_w;
                if (ix >= p.in_w) { continue; }
                var k = (kz * p.kernel_h + ky) * p.kernel_w + kx;
                var at = image + (iz * p.in_h + iy) * p.in_w + ix;
                for (var ic = 0u; ic < group_in; ic++) {
                    sum += vec4<f32>(w[row0 + k], w[row1 + k], w[row2 + k], w[row3 + k]) * x[at];
                    k += taps;
                    at += plane_len;
                }
            }
        }
    }
    for (var i = 0u; i < 4u; i++) {
        if (quad * 4u + i < group_out) {
            let channel = first + quad * 4u + i;
            var v = sum[i];
            if (p.has_bias != 0u) { v += bias[p.bias_base + channel]; }
            y[p.y_base + (n * p.out_channels + channel) * places + place] = v;
        }
    }
}
