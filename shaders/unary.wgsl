// Element-wise function of one tensor: out[i] = f(x[i]); `op` chooses f, `a` and `b` are its constants.
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    op: u32,
    a: f32,
    b: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

// Comparisons instead of min, max and clamp: these leave NaN and the sign of zero to the driver.
fn limit(v: f32, low: f32, high: f32) -> f32 {
    let raised = select(v, low, v < low);
    return select(raised, high, raised > high);
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

fn apply(v: f32) -> f32 {
    switch p.op {
        case 0u: { return select(v, 0.0, v < 0.0); } // relu
        case 1u: { return select(v, p.a * v, v < 0.0); } // leaky relu
        case 2u: { return limit(v, p.a, p.b); } // clip
        case 3u: { return sigmoid(v); }
        case 4u: { return hyperbolic_tangent(v); }
        case 5u: { return limit(p.a * v + p.b, 0.0, 1.0); } // hard sigmoid
        case 6u: { return v * limit(v * 0.16666667 + 0.5, 0.0, 1.0); } // hard swish
        case 7u: { return sqrt(v); }
        case 8u: { return exp(v); }
        case 9u: { return -v; }
        default: { return 1.0 / v; } // reciprocal
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
    out[p.out_base + i] = apply(x[p.x_base + i]);
}
