// One step of an LSTM, element by element. The gates before their activations, [batch, 4 * hidden] in the
// order input, output, forget, cell, hold the products with the step's input and the last output, and the
// biases. With `what` 0: out = f(forget) * c + f(input) * g(cell), the new cell state, c the last one;
// with `coupled` 1, f(forget) is 1 - f(input). With `what` 1: out = f(output) * h(c), c the new cell state.
// A peephole adds c, weighted, to its gate.
//
// Bindings: 0 parameters, 1 gates, 2 c [batch, hidden], 3 peephole [3 * hidden]: input, output, forget (or
// absent), 4 out [batch, hidden]. May run in place of c: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    gates_base: u32,
    c_base: u32,
    peephole_base: u32,
    out_base: u32,
    count: u32,
    hidden: u32,
    what: u32,
    coupled: u32,
    has_peephole: u32,
    clip: f32,
    f_kind: u32,
    f_a: f32,
    f_b: f32,
    g_kind: u32,
    g_a: f32,
    g_b: f32,
    h_kind: u32,
    h_a: f32,
    h_b: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> gates: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read> peephole: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

fn limit(v: f32, low: f32, high: f32) -> f32 {
    let raised = select(v, low, v < low);
    return select(raised, high, raised > high);
}

fn clipped(v: f32) -> f32 {
    return select(v, limit(v, -p.clip, p.clip), p.clip > 0.0);
}

// The exponent is never positive, so nothing overflows.
fn sigmoid(v: f32) -> f32 {
    let e = exp(-abs(v));
    let r = 1.0 / (1.0 + e);
    return select(r, e * r, v < 0.0);
}

// The built-in overflows for large arguments on some drivers; 1 - exp(..) loses digits near 0, hence the
// series.
fn hyperbolic_tangent(v: f32) -> f32 {
    let w = abs(v);
    if w < 0.25 {
        let s = v * v;
        return v * (1.0 + s * (-0.33333333 + s * (0.13333333 + s * (-0.053968254 + s * 0.021869488))));
    }
    let e = exp(-2.0 * w);
    let r = (1.0 - e) / (1.0 + e);
    return select(r, -r, v < 0.0);
}

fn activate(w: f32, kind: u32, a: f32, b: f32) -> f32 {
    switch kind {
        case 0u: { return sigmoid(w); }
        case 1u: { return hyperbolic_tangent(w); }
        case 2u: { return select(w, 0.0, w < 0.0); } // relu
        case 3u: { return a * w + b; } // affine
        case 4u: { return select(w, a * w, w < 0.0); } // leaky relu
        case 5u: { return select(0.0, w, w > a); } // thresholded relu
        case 6u: { return a * hyperbolic_tangent(b * w); } // scaled tanh
        case 7u: { return limit(a * w + b, 0.0, 1.0); } // hard sigmoid
        case 8u: { return select(w, a * (exp(min(w, 0.0)) - 1.0), w < 0.0); } // elu
        case 9u: { return w / (1.0 + abs(w)); } // softsign
        default: { return max(w, 0.0) + log(1.0 + exp(-abs(w))); } // softplus
    }
}

// The activation of a gate, which is clipped to -clip..clip before where clip is over 0.
fn gate(v: f32, kind: u32, a: f32, b: f32) -> f32 {
    return activate(clipped(v), kind, a, b);
}

// Gate `which` of an element, with its peephole `hole` times the cell state.
fn opened(row: u32, k: u32, which: u32, hole: u32, state: f32) -> f32 {
    var v = gates[p.gates_base + (row * 4u + which) * p.hidden + k];
    if p.has_peephole != 0u {
        v += peephole[p.peephole_base + hole * p.hidden + k] * state;
    }
    return gate(v, p.f_kind, p.f_a, p.f_b);
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
    let row = i / p.hidden;
    let k = i % p.hidden;
    let state = c[p.c_base + i];
    if p.what != 0u {
        out[p.out_base + i] = opened(row, k, 1u, 1u, state) * activate(state, p.h_kind, p.h_a, p.h_b);
        return;
    }
    let input = opened(row, k, 0u, 0u, state);
    var kept = 1.0 - input;
    if p.coupled == 0u {
        kept = opened(row, k, 2u, 2u, state);
    }
    let fresh = gate(gates[p.gates_base + (row * 4u + 3u) * p.hidden + k], p.g_kind, p.g_a, p.g_b);
    out[p.out_base + i] = kept * state + input * fresh;
}
