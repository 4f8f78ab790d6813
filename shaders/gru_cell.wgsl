// One step of a GRU, element by element; gates in the order update, reset, candidate, before their
// activations, biases included. `what` 0: the last output behind its reset gate, out = f(reset) * h, with
// reset in x [batch, 2 * hidden]. `what` 1: out = (1 - z) * g(y) + z * h with z = f(update), update in x
// [batch, 2 * hidden] and the candidate in y [batch, hidden]. `what` 2: the same with the products of the
// step's input in x and of the last output in y, [batch, 3 * hidden] each, and the reset gate applied to the
// latter's candidate.
//
// Bindings: 0 parameters, 1 x, 2 y (absent where `what` is 0), 3 h [batch, hidden], 4 out [batch, hidden].
// May run in place of h: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    y_base: u32,
    h_base: u32,
    out_base: u32,
    count: u32,
    hidden: u32,
    what: u32,
    clip: f32,
    f_kind: u32,
    f_a: f32,
    f_b: f32,
    g_kind: u32,
    g_a: f32,
    g_b: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> h: array<f32>;
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

// An activation `kind` of a gate, after clipping to -clip..clip where clip is over 0.
fn gate(v: f32, kind: u32, a: f32, b: f32) -> f32 {
    let w = clipped(v);
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
    let last = h[p.h_base + i];
    if p.what == 0u {
        let reset = x[p.x_base + (row * 2u + 1u) * p.hidden + k];
        out[p.out_base + i] = gate(reset, p.f_kind, p.f_a, p.f_b) * last;
        return;
    }
    var update = 0.0;
    var candidate = 0.0;
    if p.what == 1u {
        update = x[p.x_base + row * 2u * p.hidden + k];
        candidate = y[p.y_base + i];
    } else {
        let at_x = p.x_base + row * 3u * p.hidden + k;
        let at_y = p.y_base + row * 3u * p.hidden + k;
        update = x[at_x] + y[at_y];
        let reset = gate(x[at_x + p.hidden] + y[at_y + p.hidden], p.f_kind, p.f_a, p.f_b);
        candidate = x[at_x + 2u * p.hidden] + reset * y[at_y + 2u * p.hidden];
    }
    let z = gate(update, p.f_kind, p.f_a, p.f_b);
    out[p.out_base + i] = (1.0 - z) * gate(candidate, p.g_kind, p.g_a, p.g_b) + z * last;
}
