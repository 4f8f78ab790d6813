// Largest element, mean or norm of a 2-D window.
// Bindings: x [planes, H, W], y [planes, OH, OW].
// kind: 0 largest, 1 mean of the cells inside the input, 2 mean of the cells inside the padded input (padding
// is 0), 3 `power`-th root of the sum of the magnitudes to that power.
// Dispatch: 64 invocations a workgroup, one output each, workgroups folded into x and y.
struct Params {
    x_base: u32,
    y_base: u32,
    planes: u32,
    in_h: u32,
    in_w: u32,
    out_h: u32,
    out_w: u32,
    kernel_h: u32,
    kernel_w: u32,
    stride_h: u32,
    stride_w: u32,
    pad_top: u32,
    pad_left: u32,
    pad_bottom: u32,
    pad_right: u32,
    dilation_h: u32,
    dilation_w: u32,
    kind: u32,
    power: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

// The builtin is coarse, and needless for the two norms in use.
fn to_power(v: f32, power: f32) -> f32 {
    if (power == 1.0) { return v; }
    if (power == 2.0) { return v * v; }
    if (power == 0.5) { return sqrt(v); }
    return pow(v, power);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let item = (wid.y * grid.x + wid.x) * 64u + lane;
    if (item >= p.planes * p.out_h * p.out_w) { return; }
    let ox = item % p.out_w;
    let oy = item / p.out_w % p.out_h;
    let image = p.x_base + item / p.out_w / p.out_h * p.in_h * p.in_w;

    // Positions are counted from the padded input's corner.
    // Not the lowest float: printed in its shortest form it is out of range for a browser's parser.
    var largest = -3.4028233e38;
    var sum = 0.0;
    var count = 0u;
    for (var ky = 0u; ky < p.kernel_h; ky++) {
        let row = oy * p.stride_h + ky * p.dilation_h;
        for (var kx = 0u; kx < p.kernel_w; kx++) {
            let column = ox * p.stride_w + kx * p.dilation_w;
            let inside = row >= p.pad_top && row - p.pad_top < p.in_h
                && column >= p.pad_left && column - p.pad_left < p.in_w;
            if (inside) {
                let v = x[image + (row - p.pad_top) * p.in_w + column - p.pad_left];
                largest = max(largest, v);
                sum += select(v, to_power(abs(v), p.power), p.kind == 3u);
                count++;
            } else if (p.kind == 2u && row < p.pad_top + p.in_h + p.pad_bottom
                && column < p.pad_left + p.in_w + p.pad_right) {
                count++;
            }
        }
    }
    var result = sum / f32(max(count, 1u));
    if (p.kind == 0u) { result = largest; }
    if (p.kind == 3u) { result = to_power(sum, 1.0 / p.power); }
    y[p.y_base + item] = result;
}
