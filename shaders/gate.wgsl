// The activation of a gate of a recurrent cell: out[i] = f(x[i]).
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    clip: f32,
    kind: u32,
    a: f32,
    b: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

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
    out[p.out_base + i] = gate(x[p.x_base + i], p.kind, p.a, p.b);
}
