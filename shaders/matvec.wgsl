// Up to 4 rows times a matrix: y = act(alpha * a * b + beta * c + addend (+ y)), operands by strides, batches
// broadcast.
// Bindings: a, b, c (broadcast to [M, N]) and addend [batch, M, N] (or absent), y [batch, M, N], M <= 4.
// Dispatch: columns folded into x and y, z = batch. `split` of a workgroup's 64 invocations share their
// columns, each sums every split-th k, and the parts are added in order. An invocation computes 4 sums: 4
// columns of a single row (a workgroup covers 256 / split columns), or one column of up to 4 rows (64 / split
// columns). k_fast says which way neighbouring invocations read neighbouring elements of b: along k, or along
// n.
struct Params {
    a_base: u32,
    b_base: u32,
    c_base: u32,
    addend_base: u32,
    y_base: u32,
    m: u32,
    n: u32,
    k: u32,
    // Strides in elements.
    a_m: u32,
    a_k: u32,
    b_k: u32,
    b_n: u32,
    c_m: u32,
    c_n: u32,
    y_m: u32,
    // Where this dispatch's part of each operand starts.
    a_start: u32,
    b_start: u32,
    c_start: u32,
    addend_start: u32,
    y_start: u32,
    batch_0: u32,
    batch_1: u32,
    batch_2: u32,
    a_batch_0: u32,
    a_batch_1: u32,
    a_batch_2: u32,
    b_batch_0: u32,
    b_batch_1: u32,
    b_batch_2: u32,
    alpha: f32,
    beta: f32,
    has_c: u32,
    // Adds to what the output holds: a later part of a sum over k.
    accumulate: u32,
    has_addend: u32,
    // Activation: 0 none, 1 relu, 2 clip to [act_a, act_b], 3 leaky relu with slope act_a.
    act: u32,
    act_a: f32,
    act_b: f32,
    // Read by matvec only.
    split: u32,
    k_fast: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read> c: array<f32>;
@group(0) @binding(4) var<storage, read> addend: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

// Position of matrix `i` in a batch, for strides along the batch dimensions.
fn batch_start(i: u32, stride_0: u32, stride_1: u32, stride_2: u32) -> u32 {
    let i_2 = i % p.batch_2;
    let i_1 = i / p.batch_2 % p.batch_1;
    let i_0 = i / p.batch_2 / p.batch_1;
    return i_0 * stride_0 + i_1 * stride_1 + i_2 * stride_2;
}

fn activate(v: f32) -> f32 {
    switch p.act {
        case 1u: { return max(v, 0.0); }
        case 2u: { return min(max(v, p.act_a), p.act_b); }
        case 3u: { return select(v, p.act_a * v, v < 0.0); }
        default: { return v; }
    }
}

// The addend is read where y is written, and no sooner, so y may take its bytes.
fn store(batch: u32, row: u32, column: u32, sum: f32) {
    if (row >= p.m || column >= p.n) { return; }
    let within = (batch * p.m + row) * p.y_m + column;
    let at = p.y_base + p.y_start + within;
    var v = p.alpha * sum;
    if (p.has_c != 0u) { v += p.beta * c[p.c_base + p.c_start + row * p.c_m + column * p.c_n]; }
    if (p.has_addend != 0u) { v += addend[p.addend_base + p.addend_start + within]; }
    if (p.accumulate != 0u) { v += y[at]; }
    y[at] = activate(v);
}

var<workgroup> parts: array<vec4<f32>, 64>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let columns = 64u / p.split;
    var own_column = lane % columns;
    var part = lane / columns;
    if (p.k_fast != 0u) {
        own_column = lane / p.split;
        part = lane % p.split;
    }
    let single = p.m == 1u;
    let column = (wid.y * grid.x + wid.x) * select(columns, columns * 4u, single) + own_column;
    let batch = wid.z;
    let a_first = p.a_base + p.a_start + batch_start(batch, p.a_batch_0, p.a_batch_1, p.a_batch_2);
    let b_first = p.b_base + p.b_start + batch_start(batch, p.b_batch_0, p.b_batch_1, p.b_batch_2);
    var sum = vec4<f32>(0.0);
    if (column < p.n && single) {
        // Columns past the last read the last again and are not stored.
        let b_0 = b_first + column * p.b_n;
        let b_1 = b_first + min(column + columns, p.n - 1u) * p.b_n;
        let b_2 = b_first + min(column + columns * 2u, p.n - 1u) * p.b_n;
        let b_3 = b_first + min(column + columns * 3u, p.n - 1u) * p.b_n;
        for (var k = part; k < p.k; k += p.split) {
            let at = k * p.b_k;
            sum += a[a_first + k * p.a_k] * vec4<f32>(b[b_0 + at], b[b_1 + at], b[b_2 + at], b[b_3 + at]);
        }
    } else if (column < p.n) {
        // Rows past the last likewise.
        let last = (p.m - 1u) * p.a_m;
        let row_1 = min(p.a_m, last);
        let row_2 = min(2u * p.a_m, last);
        let b_0 = b_first + column * p.b_n;
        for (var k = part; k < p.k; k += p.split) {
            let at = a_first + k * p.a_k;
            sum += vec4<f32>(a[at], a[at + row_1], a[at + row_2], a[at + last]) * b[b_0 + k * p.b_k];
        }
    }
    parts[lane] = sum;
    workgroupBarrier();
    if (part == 0u) {
        var total = vec4<f32>(0.0);
        for (var i = 0u; i < p.split; i++) {
            total += parts[select(i * columns + own_column, own_column * p.split + i, p.k_fast != 0u)];
        }
        for (var i = 0u; i < 4u; i++) {
            store(batch, select(i, 0u, single), column + select(0u, i * columns, single), total[i]);
        }
    }
}
