// Where the largest (or least) element of each row stands: the middle of [outer, axis, inner]. Words of any
// type; the output is of integers.
//
// Bindings: 0 parameters, 1 x, 2 out ([outer, inner]).
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    axis: u32,
    inner: u32,
    floats: u32, // 1 floats, 0 integers
    largest: u32, // 1 the largest, 0 the least
    last: u32, // of equal elements 1 the last, 0 the first
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

// An integer in the order of the elements: of floats with -0 equal to 0 and what is not a number at the ends.
fn key(word: u32) -> i32 {
    let v = bitcast<i32>(select(word, 0u, word == 0x80000000u && p.floats == 1u));
    return select(v, v ^ 0x7fffffff, v < 0 && p.floats == 1u);
}

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
    let row = p.x_base + (i / p.inner) * p.axis * p.inner + i % p.inner;
    var best = key(x[row]);
    var at = 0u;
    for (var j = 1u; j < p.axis; j += 1u) {
        let other = key(x[row + j * p.inner]);
        let better = select(best > other, other > best, p.largest == 1u);
        if better || (other == best && p.last == 1u) {
            best = other;
            at = j;
        }
    }
    out[p.out_base + i] = at;
}
