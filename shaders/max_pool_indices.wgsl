// Where in x the largest element of each window over up to 3 dimensions lies: the index of the flattened x,
// as an integer; the first of equals. Words, since the input is float and the output is not.
// Bindings: x [planes, D, H, W], y [planes, OD, OH, OW].
// Dispatch: 64 invocations a workgroup, one output each, workgroups folded into x and y.
struct Params {
    x_base: u32,
    y_base: u32,
    planes: u32,
    in_d: u32,
    in_h: u32,
    in_w: u32,
    out_d: u32,
    out_h: u32,
    out_w: u32,
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
    // What a step along each dimension adds to the index.
    step_d: u32,
    step_h: u32,
    step_w: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let item = (wid.y * grid.x + wid.x) * 64u + lane;
    if (item >= p.planes * p.out_d * p.out_h * p.out_w) { return; }
    let ox = item % p.out_w;
    let oy = item / p.out_w % p.out_h;
    let oz = item / p.out_w / p.out_h % p.out_d;
    let plane_len = p.in_d * p.in_h * p.in_w;
    let first = item / p.out_w / p.out_h / p.out_d * plane_len;
    var found = false;
    var largest = 0.0;
    var best = first;
    for (var kz = 0u; kz < p.kernel_d; kz++) {
        // Negative positions wrap around and fail the same comparison as those past the end.
        let iz = oz * p.stride_d + kz * p.dilation_d - p.pad_d;
        if (iz >= p.in_d) { continue; }
        for (var ky = 0u; ky < p.kernel_h; ky++) {
            let iy = oy * p.stride_h + ky * p.dilation_h - p.pad_h;
            if (iy >= p.in_h) { continue; }
            for (var kx = 0u; kx < p.kernel_w; kx++) {
                let ix = ox * p.stride_w + kx * p.dilation_w - p.pad_w;
                if (ix >= p.in_w) { continue; }
                let v = bitcast<f32>(x[p.x_base + first + (iz * p.in_h + iy) * p.in_w + ix]);
                if (!found || v > largest) {
                    found = true;
                    largest = v;
                    best = first + iz * p.step_d + iy * p.step_h + ix * p.step_w;
                }
            }
        }
    }
    y[p.y_base + item] = best;
}
