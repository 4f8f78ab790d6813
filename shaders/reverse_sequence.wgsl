// Reverses the first `length` steps of each sequence, length given by sequence; the rest stays. Words of
// any type.
//
// Bindings: 0 parameters, 1 x, 2 lengths (integers), 3 out.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    lengths_base: u32,
    out_base: u32,
    count: u32,
    batches: u32,
    batch_stride: u32,
    steps: u32,
    step_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> lengths: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

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
    let batch = (i / p.batch_stride) % p.batches;
    let step = (i / p.step_stride) % p.steps;
    let length = min(lengths[p.lengths_base + batch], p.steps);
    let source = select(step, length - 1u - step, step < length);
    out[p.out_base + i] = x[p.x_base + i - step * p.step_stride + source * p.step_stride];
}
