// The k largest (or least) elements of each row, in order, or where they stand: the middle of [outer, axis,
// inner]. Each element counts those that come before it; of equal ones the first comes first. Words of any
// type.
//
// Bindings: 0 parameters, 1 x, 2 out ([outer, k, inner]; only the addressed elements are written).
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32, // elements of x
    axis: u32,
    inner: u32,
    k: u32,
    floats: u32, // 1 floats, 0 integers
    largest: u32, // 1 the largest, 0 the least
    places: u32, // 1 writes where they stand, 0 the elements
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
    let n = i % p.inner;
    let at = (i / p.inner) % p.axis;
    let o = i / p.inner / p.axis;
    let row = p.x_base + o * p.axis * p.inner + n;
    let word = x[row + at * p.inner];
    let own = key(word);
    var rank = 0u;
    for (var j = 0u; j < p.axis; j += 1u) {
        let other = key(x[row + j * p.inner]);
        let before = select(own > other, other > own, p.largest == 1u);
        rank += select(0u, 1u, before || (other == own && j < at));
    }
    if rank < p.k {
        out[p.out_base + (o * p.k + rank) * p.inner + n] = select(word, at, p.places == 1u);
    }
}
