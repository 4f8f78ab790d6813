// 2-D convolution as a matrix product: weight rows [channels, depth] times gathered input patches [depth,
// pixels], depth = C / groups * kH * kW; y = act(bias + addend +
// product).
// Bindings: x [N, C, H, W], w [M, C / groups, kH, kW], bias [M] and addend [N, M, OH, OW] (or
// absent), y [N, M, OH, OW].
// Dispatch: a workgroup of 64 invocations computes a tile of 64 output channels of one group by 64 pixels
// (the images of the batch follow each other), an invocation 8 x 8 of it. Pixel tiles are folded into x and
// z; y counts the channel tiles of each group in turn.
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

// 16 steps of depth: weights by quads of channels, patches by pixels.
var<workgroup> w_tile: array<vec4<f32>, 256>;
var<workgroup> x_tile: array<f32, 1024>;

// Weight of channel `j` of the group at depth `k`, 0 outside.
fn weight(row: u32, j: u32, group_out: u32, k: u32, depth: u32) -> f32 {
    if (j >= group_out || k >= depth) { return 0.0; }
    return w[row + j * depth + k];
}

// Stores 8 channels from `j` of group `group` on, at pixel `at` counted through the batch.
fn store_column(group: u32, group_out: u32, j: u32, at: u32, lo: vec4<f32>, hi: vec4<f32>) {
    let pixels = p.out_h * p.out_w;
    if (at >= p.batch * pixels) { return; }
    let n = at / pixels;
    let pixel = at % pixels;
    for (var i = 0u; i < 4u; i++) {
        if (j + i < group_out) { store(n, group * group_out + j + i, pixel, lo[i]); }
        if (j + 4u + i < group_out) { store(n, group * group_out + j + 4u + i, pixel, hi[i]); }
    }
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
    let channel_tiles = (group_out + 63u) / 64u;
    let group = wid.y / channel_tiles;
    let tile_channel = wid.y % channel_tiles * 64u;
    let tile_pixel = (wid.z * grid.x + wid.x) * 64u;
    let taps = p.kernel_h * p.kernel_w;
    let depth = group_in * taps;
    let plane_len = p.in_h * p.in_w;

    // While loading, an invocation owns the patches of one pixel; negative positions wrap around and fail the
    // same comparison as those past the end.
    let own = tile_pixel + lane;
    let own_inside = own < p.batch * pixels;
    let own_pixel = own % pixels;
    let top = own_pixel / p.out_w * p.stride_h - p.pad_top;
    let left = own_pixel % p.out_w * p.stride_w - p.pad_left;
    var plane = p.x_base + (own / pixels * p.in_channels + group * group_in) * plane_len;
    var ky = 0u;
    var kx = 0u;
    // And 4 quads of weight rows at one depth.
    let own_depth = lane % 16u;
    let w_row = p.w_base + group * group_out * depth;

    let ty = lane / 8u;
    let tx = lane % 8u;
    var lo0 = vec4<f32>(0.0);
    var hi0 = vec4<f32>(0.0);
    var lo1 = vec4<f32>(0.0);
    var hi1 = vec4<f32>(0.0);
    var lo2 = vec4<f32>(0.0);
    var hi2 = vec4<f32>(0.0);
    var lo3 = vec4<f32>(0.0);
    var hi3 = vec4<f32>(0.0);
    var lo4 = vec4<f32>(0.0);
    var hi4 = vec4<f32>(0.0);
    var lo5 = vec4<f32>(0.0);
    var hi5 = vec4<f32>(0.0);
    var lo6 = vec4<f32>(0.0);
    var hi6 = vec4<f32>(0.0);
    var lo7 = vec4<f32>(0.0);
    var hi7 = vec4<f32>(0.0);
    for (var k = 0u; k < depth; k += 16u) {
        for (var i = 0u; i < 4u; i++) {
            let quad = lane / 16u + i * 4u;
            let j = tile_channel + quad * 4u;
            w_tile[own_depth * 16u + quad] = vec4<f32>(
                weight(w_row, j, group_out, k + own_depth, depth),
                weight(w_row, j + 1u, group_out, k + own_depth, depth),
                weight(w_row, j + 2u, group_out, k + own_depth, depth),
                weight(w_row, j + 3u, group_out, k + own_depth, depth),
            );
        }
        for (var i = 0u; i < 16u; i++) {
            let iy = top + ky * p.dilation_h;
            let ix = left + kx * p.dilation_w;
            var v = 0.0;
            if (own_inside && k + i < depth && iy < p.in_h && ix < p.in_w) {
                v = x[plane + iy * p.in_w + ix];
            }
            x_tile[i * 64u + lane] = v;
            kx++;
            if (kx == p.kernel_w) {
                kx = 0u;
                ky++;
                if (ky == p.kernel_h) {
                    ky = 0u;
                    plane += plane_len;
                }
            }
        }
        workgroupBarrier();
        for (var kk = 0u; kk < 16u; kk++) {
            let lo = w_tile[kk * 16u + ty * 2u];
            let hi = w_tile[kk * 16u + ty * 2u + 1u];
            let r0 = x_tile[kk * 64u + tx + 0u];
            let r1 = x_tile[kk * 64u + tx + 8u];
            let r2 = x_tile[kk * 64u + tx + 16u];
            let r3 = x_tile[kk * 64u + tx + 24u];
            let r4 = x_tile[kk * 64u + tx + 32u];
            let r5 = x_tile[kk * 64u + tx + 40u];
            let r6 = x_tile[kk * 64u + tx + 48u];
            let r7 = x_tile[kk * 64u + tx + 56u];
            lo0 += lo * r0;
            hi0 += hi * r0;
            lo1 += lo * r1;
            hi1 += hi * r1;
            lo2 += lo * r2;
            hi2 += hi * r2;
            lo3 += lo * r3;
            hi3 += hi * r3;
            lo4 += lo * r4;
            hi4 += hi * r4;
            lo5 += lo * r5;
            hi5 += hi * r5;
            lo6 += lo * r6;
            hi6 += hi * r6;
            lo7 += lo * r7;
            hi7 += hi * r7;
        }
        workgroupBarrier();
    }

    let j = tile_channel + ty * 8u;
    store_column(group, group_out, j, tile_pixel + tx + 0u, lo0, hi0);
    store_column(group, group_out, j, tile_pixel + tx + 8u, lo1, hi1);
    store_column(group, group_out, j, tile_pixel + tx + 16u, lo2, hi2);
    store_column(group, group_out, j, tile_pixel + tx + 24u, lo3, hi3);
    store_column(group, group_out, j, tile_pixel + tx + 32u, lo4, hi4);
    store_column(group, group_out, j, tile_pixel + tx + 40u, lo5, hi5);
    store_column(group, group_out, j, tile_pixel + tx + 48u, lo6, hi6);
    store_column(group, group_out, j, tile_pixel + tx + 56u, lo7, hi7);
}
