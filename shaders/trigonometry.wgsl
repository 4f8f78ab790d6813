// Circular and hyperbolic functions of one tensor: out[i] = f(x[i]); `op` chooses f. WGSL leaves its own ones
// too much room, so they are polynomials over reduced arguments here, the same on every driver.
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    op: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

const HALF_PI: f32 = 1.5707964;

// Sine of v + quarter * pi / 2: v is brought into -pi/4..pi/4, the constant pi/2 in three parts.
fn sine(v: f32, quarter: i32) -> f32 {
    let k = round(v * 0.63661977);
    let r = ((v - k * 1.5703125) - k * 4.837513e-4) - k * 7.54979e-8;
    let s = r * r;
    let q = (i32(k) + quarter) & 3;
    let odd = 1.0 - 0.5 * s + s * s * (4.1666646e-2 + s * (-1.3887316e-3 + s * 2.4433157e-5));
    let even = r + r * s * (-1.6666655e-1 + s * (8.332161e-3 + s * -1.951529e-4));
    let magnitude = select(even, odd, (q & 1) == 1);
    return select(magnitude, -magnitude, q >= 2);
}

fn arc_sine(v: f32) -> f32 {
    let w = abs(v);
    let far = w > 0.5;
    let z = select(w * w, 0.5 * (1.0 - w), far);
    let t = select(w, sqrt(z), far);
    let tail = 4.54700259e-2 + z * (2.41813110e-2 + z * 4.21631990e-2);
    let r = t + t * z * (1.66667524e-1 + z * (7.49530026e-2 + z * tail));
    let angle = select(r, HALF_PI - 2.0 * r, far);
    return select(angle, -angle, v < 0.0);
}

fn arc_cosine(v: f32) -> f32 {
    if abs(v) <= 0.5 {
        return HALF_PI - arc_sine(v);
    }
    let r = 2.0 * arc_sine(sqrt(0.5 * (1.0 - abs(v))));
    return select(r, 3.1415927 - r, v < 0.0);
}

fn arc_tangent(v: f32) -> f32 {
    let w = abs(v);
    var start = 0.0;
    var t = w;
    if w > 2.4142135 {
        start = HALF_PI;
        t = -1.0 / w;
    } else if w > 0.41421356 {
        start = 0.7853982;
        t = (w - 1.0) / (w + 1.0);
    }
    let z = t * t;
    let tail = 1.9977711e-1 + z * (-1.3877686e-1 + z * 8.053744e-2);
    let r = start + (t + t * z * (-3.3332949e-1 + z * tail));
    return select(r, -r, v < 0.0);
}

fn hyperbolic_sine(v: f32) -> f32 {
    let w = abs(v);
    if w < 1.0 {
        let z = v * v;
        return v + v * z * (1.6666716e-1 + z * (8.330284e-3 + z * 2.0372191e-4));
    }
    let e = exp(w);
    let r = 0.5 * e - 0.5 / e;
    return select(r, -r, v < 0.0);
}

fn area_sine(v: f32) -> f32 {
    let w = abs(v);
    if w < 0.5 {
        let z = v * v;
        return v + v * z * (-1.6666288e-1 + z * (7.4847586e-2 + z * (-4.269934e-2 + z * 2.0122003e-2)));
    }
    // Past this the square would leave the range, and 1 is lost beside it.
    var r = log(w) + 0.6931472;
    if w < 1e9 {
        r = log(w + sqrt(w * w + 1.0));
    }
    return select(r, -r, v < 0.0);
}

fn area_cosine(v: f32) -> f32 {
    let z = v - 1.0;
    if z < 0.5 {
        let tail = -1.1784742e-1 + z * (2.6454905e-2 + z * (-7.5272887e-3 + z * 1.7596881e-3));
        return sqrt(z) * (1.4142135 + z * tail);
    }
    if v > 1e9 {
        return log(v) + 0.6931472;
    }
    return log(v + sqrt(z * (v + 1.0)));
}

fn area_tangent(v: f32) -> f32 {
    if abs(v) < 0.5 {
        let z = v * v;
        let tail = 1.9978216e-1 + z * (1.4669143e-1 + z * (8.24370301e-2 + z * 1.8174008e-1));
        return v + v * z * (3.333373e-1 + z * tail);
    }
    return 0.5 * log((1.0 + v) / (1.0 - v));
}

fn apply(v: f32) -> f32 {
    switch p.op {
        case 0u: { return sine(v, 0); }
        case 1u: { return sine(v, 1); }
        case 2u: { return sine(v, 0) / sine(v, 1); }
        case 3u: { return arc_sine(v); }
        case 4u: { return arc_cosine(v); }
        case 5u: { return arc_tangent(v); }
        case 6u: { return hyperbolic_sine(v); }
        case 7u: { return 0.5 * exp(abs(v)) + 0.5 * exp(-abs(v)); }
        case 8u: { return area_sine(v); }
        case 9u: { return area_cosine(v); }
        default: { return area_tangent(v); }
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
