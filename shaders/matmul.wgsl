// Batched matrix product: y = act(alpha * a * b + beta * c + addend (+ y)), operands by strides, batches
// broadcast.
// Bindings: a, b, c (broadcast to [M, N]) and addend [batch, M, N] (or absent), y [batch, M, N].
// Dispatch: x = tiles of 64 columns, y = tiles of 64 rows, z = batch. A workgroup of 64 invocations computes
// a tile, an invocation 8 x 8 of it.
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

// 16 steps of k: a by quads of rows, b by columns.
var<workgroup> a_tile: array<vec4<f32>, 256>;
var<workgroup> b_tile: array<f32, 1024>;

// Element of `a`, 0 outside.
fn a_at(start: u32, row: u32, k: u32) -> f32 {
    if (row >= p.m || k >= p.k) { return 0.0; }
    return a[start + row * p.a_m + k * p.a_k];
}

fn store_column(batch: u32, row: u32, column: u32, lo: vec4<f32>, hi: vec4<f32>) {
    for (var i = 0u; i < 4u; i++) {
        store(batch, row + i, column, lo[i]);
        store(batch, row + 4u + i, column, hi[i]);
    }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let tile_column = wid.x * 64u;
    let tile_row = wid.y * 64u;
    let batch = wid.z;
    let a_first = p.a_base + p.a_start + batch_start(batch, p.a_batch_0, p.a_batch_1, p.a_batch_2);
    let b_first = p.b_base + p.b_start + batch_start(batch, p.b_batch_0, p.b_batch_1, p.b_batch_2);
    let own_k = lane % 16u;

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
    for (var k = 0u; k < p.k; k += 16u) {
        for (var i = 0u; i < 4u; i++) {
            let quad = lane / 16u + i * 4u;
            let row = tile_row + quad * 4u;
            a_tile[own_k * 16u + quad] = vec4<f32>(
                a_at(a_first, row, k + own_k),
                a_at(a_first, row + 1u, k + own_k),
                a_at(a_first, row + 2u, k + own_k),
                a_at(a_first, row + 3u, k + own_k),
            );
        }
        // Neighbouring invocations read neighbouring elements of b, whichever way it is stored.
        for (var i = 0u; i < 16u; i++) {
            var kk = i;
            var column = lane;
            if (p.b_n != 1u) {
                kk = own_k;
                column = lane / 16u + i * 4u;
            }
            var v = 0.0;
            if (k + kk < p.k && tile_column + column < p.n) {
                v = b[b_first + (k + kk) * p.b_k + (tile_column + column) * p.b_n];
            }
            b_tile[kk * 64u + column] = v;
        }
        workgroupBarrier();
        for (var kk = 0u; kk < 16u; kk++) {
            let lo = a_tile[kk * 16u + ty * 2u];
            let hi = a_tile[kk * 16u + ty * 2u + 1u];
            let r0 = b_tile[kk * 64u + tx + 0u];
            let r1 = b_tile[kk * 64u + tx + 8u];
            let r2 = b_tile[kk * 64u + tx + 16u];
            let r3 = b_tile[kk * 64u + tx + 24u];
            let r4 = b_tile[kk * 64u + tx + 32u];
            let r5 = b_tile[kk * 64u + tx + 40u];
            let r6 = b_tile[kk * 64u + tx + 48u];
            let r7 = b_tile[kk * 64u + tx + 56u];
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

    let row = tile_row + ty * 8u;
    store_column(batch, row, tile_column + tx + 0u, lo0, hi0);
    store_column(batch, row, tile_column + tx + 8u, lo1, hi1);
    store_column(batch, row, tile_column + tx + 16u, lo2, hi2);
    store_column(batch, row, tile_column + tx + 24u, lo3, hi3);
    store_column(batch, row, tile_column + tx + 32u, lo4, hi4);
    store_column(batch, row, tile_column + tx + 40u, lo5, hi5);
    store_column(batch, row, tile_column + tx + 48u, lo6, hi6);
    store_column(batch, row, tile_column + tx + 56u, lo7, hi7);
}
