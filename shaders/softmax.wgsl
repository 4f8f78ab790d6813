// Softmax over the middle of [outer, axis, inner]: exp(x - max) / sum of exp(x - max), or with `log` its
// logarithm, x - max - log(sum). `lanes` invocations (a power of two, 1..=256) share one row: lane l takes
// elements l, l + lanes, ..; a tree joins the lanes.
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an element is only touched by its own invocation
// once the maximum is known.
// Dispatch: 256 / lanes rows a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    rows: u32, // outer * inner
    axis: u32,
    inner: u32,
    lanes: u32,
    log: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

var<workgroup> partial: array<f32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let lane = local % p.lanes;
    let first_lane = local - lane;
    let row = (group.y * groups.x + group.x) * (256u / p.lanes) + local / p.lanes;
    // An idle row has no element, so that every invocation meets every barrier.
    let axis = select(0u, p.axis, row < p.rows);
    let start = (row / p.inner) * p.axis * p.inner + row % p.inner;

    // Not the lowest float: printed in its shortest form it is out of range for a browser's parser.
    var largest = -3.4028233e38;
    for (var k = lane; k < axis; k += p.lanes) {
        let v = x[p.x_base + start + k * p.inner];
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
    largest = partial[first_lane];
    workgroupBarrier();

    var sum = 0.0;
    for (var k = lane; k < axis; k += p.lanes) {
        let e = exp(x[p.x_base + start + k * p.inner] - largest);
        if p.log == 0u {
            out[p.out_base + start + k * p.inner] = e;
        }
        sum += e;
    }
    partial[local] = sum;
    workgroupBarrier();
    for (var half = p.lanes / 2u; half > 0u; half /= 2u) {
        if lane < half {
            partial[local] += partial[local + half];
        }
        workgroupBarrier();
    }
    sum = partial[first_lane];
    let log_sum = log(sum);
    for (var k = lane; k < axis; k += p.lanes) {
        let place = p.out_base + start + k * p.inner;
        if p.log == 0u {
            out[place] /= sum;
        } else {
            out[place] = x[p.x_base + start + k * p.inner] - largest - log_sum;
        }
    }
}
