// Interpolation along two axes of [outer, A, between, B, inner], by tables of pairs (index, weight) for every
// output position of either axis: out = sum over both axes' pairs of weight * weight * x. A pair of weight 0
// reads nothing; a negative index in the first pair of a position marks it as outside of x.
// Bindings: x, a [out_a, taps_a, 2], b [out_b, taps_b, 2], out [outer, out_a, between, out_b, inner].
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    a_base: u32,
    b_base: u32,
    out_base: u32,
    count: u32,
    in_a: u32,
    in_b: u32,
    out_a: u32,
    out_b: u32,
    between: u32,
    inner: u32,
    taps_a: u32,
    taps_b: u32,
    outside: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> b: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

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
    let inner = i % p.inner;
    let ob = i / p.inner % p.out_b;
    let between = i / p.inner / p.out_b % p.between;
    let oa = i / p.inner / p.out_b / p.between % p.out_a;
    let outer = i / p.inner / p.out_b / p.between / p.out_a;
    let row = p.between * p.in_b * p.inner;
    let start = p.x_base + outer * p.in_a * row + between * p.in_b * p.inner + inner;
    let pairs_a = p.a_base + oa * p.taps_a * 2u;
    let pairs_b = p.b_base + ob * p.taps_b * 2u;
    var sum = 0.0;
    for (var ta = 0u; ta < p.taps_a; ta += 1u) {
        let weight_a = a[pairs_a + ta * 2u + 1u];
        if weight_a == 0.0 {
            continue;
        }
        let line = start + u32(a[pairs_a + ta * 2u]) * row;
        var part = 0.0;
        for (var tb = 0u; tb < p.taps_b; tb += 1u) {
            let weight_b = b[pairs_b + tb * 2u + 1u];
            if weight_b != 0.0 {
                part += weight_b * x[line + u32(b[pairs_b + tb * 2u]) * p.inner];
            }
        }
        sum += weight_a * part;
    }
    let outside = a[pairs_a] < 0.0 || b[pairs_b] < 0.0;
    out[p.out_base + i] = select(sum, p.outside, outside);
}
