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

// exp(v) - 1, which loses digits near 0, hence the series.
fn exp_less_one(v: f32) -> f32 {
    if abs(v) < 0.25 {
        return v * (1.0 + v * 0.5 * (1.0 + v * 0.33333334 * (1.0 + v * 0.25 * (1.0 + v * 0.2))));
    }
    return exp(v) - 1.0;
}

// log(1 + exp(v)): the exponent is never positive, and what 1 + e would lose is kept.
fn softplus(v: f32) -> f32 {
    let e = exp(-abs(v));
    let tail = select(log(1.0 + e), e * (1.0 - 0.5 * e), e < 1e-4);
    return select(0.0, v, v > 0.0) + tail;
}

// Taylor's series near 0, else one less the complement (a rational fit, good to 1.2e-7).
fn error_function(v: f32) -> f32 {
    let w = abs(v);
    let s = v * v;
    if w < 0.5 {
        let tail = 5.2239776e-3 + s * (-8.5483270e-4 + s * 1.2055333e-4);
        return v * (1.1283792 + s * (-3.7612640e-1 + s * (1.1283792e-1 + s * (-2.6866171e-2 + s * tail))));
    }
    let t = 1.0 / (1.0 + 0.5 * w);
    let high = 0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277)));
    let low = 0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * high));
    let r = 1.0 - t * exp(-s - 1.26551223 + t * (1.00002368 + t * low));
    return select(r, -r, v < 0.0);
}

// v * tanh(softplus(v)), which is v where exp(v) would overflow.
fn mish(v: f32) -> f32 {
    if v > 20.0 {
        return v;
    }
    let e = exp(v);
    let n = e * (e + 2.0);
    return v * (n / (n + 2.0));
}

fn sign_of(v: f32) -> f32 {
    return select(select(v, -1.0, v < 0.0), 1.0, v > 0.0);
}

fn shrink(v: f32) -> f32 {
    return select(select(0.0, v - p.b, v > p.a), v + p.b, v < -p.a);
}

// At 0 and below WGSL leaves the logarithm to the driver, and drivers differ; minus infinity and NaN are made
// of the value's own bits.
fn logarithm(v: f32) -> f32 {
    let bits = bitcast<u32>(v);
    let not_positive = select(bitcast<f32>(bits | 0xff800000u), bitcast<f32>(bits | 0x7fc00000u), v < 0.0);
    return select(not_positive, log(v), v > 0.0);
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
        case 10u: { return 1.0 / v; }
        case 11u: { return abs(v); }
        case 12u: { return floor(v); }
        case 13u: { return ceil(v); }
        case 14u: { return round(v); }
        case 15u: { return sign_of(v); }
        case 16u: { return logarithm(v); }
        case 17u: { return error_function(v); }
        case 18u: { return softplus(v); }
        case 19u: { return v / (1.0 + abs(v)); } // softsign
        case 20u: { return select(v, p.a * exp_less_one(v), v < 0.0); } // elu
        case 21u: { return p.b * select(v, p.a * exp_less_one(v), v <= 0.0); } // selu
        case 22u: { return select(v, p.a * exp_less_one(v / p.a), v < 0.0); } // celu
        case 23u: { return select(0.0, v, v > p.a); } // thresholded relu
        case 24u: { return mish(v); }
        case 25u: { return 0.5 * v * (1.0 + error_function(v * 0.70710677)); } // gelu
        case 26u: { return 0.5 * v * (1.0 + hyperbolic_tangent(0.7978846 * (v + 0.044715 * v * v * v))); }
        default: { return shrink(v); }
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
