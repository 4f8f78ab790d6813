//! Twin of `shaders/trigonometry.wgsl`.

#![allow(clippy::excessive_precision, clippy::approx_constant, reason = "the numbers of the shader")]

const HALF_PI: f32 = 1.5707964;

/// Circular and hyperbolic functions of one tensor.
pub fn trigonometry(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let f: fn(f32) -> f32 = match params[3] {
        0 => |v| sine(v, 0),
        1 => |v| sine(v, 1),
        2 => |v| sine(v, 0) / sine(v, 1),
        3 => arc_sine,
        4 => arc_cosine,
        5 => arc_tangent,
        6 => hyperbolic_sine,
        7 => |v| 0.5 * v.abs().exp() + 0.5 * (-v.abs()).exp(),
        8 => area_sine,
        9 => area_cosine,
        _ => area_tangent,
    };
    for (out, v) in output.iter_mut().zip(inputs[0]) {
        *out = f(*v);
    }
}

/// Sine of v + quarter * pi / 2.
fn sine(v: f32, quarter: i32) -> f32 {
    let k = (v * 0.63661977).round_ties_even();
    let r = ((v - k * 1.5703125) - k * 4.837513e-4) - k * 7.54979e-8;
    let s = r * r;
    let q = (k as i32).wrapping_add(quarter) & 3;
    let odd = 1.0 - 0.5 * s + s * s * (4.1666646e-2 + s * (-1.3887316e-3 + s * 2.4433157e-5));
    let even = r + r * s * (-1.6666655e-1 + s * (8.332161e-3 + s * -1.951529e-4));
    let magnitude = if q & 1 == 1 { odd } else { even };
    if q >= 2 { -magnitude } else { magnitude }
}

fn arc_sine(v: f32) -> f32 {
    let w = v.abs();
    let far = w > 0.5;
    let z = if far { 0.5 * (1.0 - w) } else { w * w };
    let t = if far { z.sqrt() } else { w };
    let tail = 4.54700259e-2 + z * (2.41813110e-2 + z * 4.21631990e-2);
    let r = t + t * z * (1.66667524e-1 + z * (7.49530026e-2 + z * tail));
    let angle = if far { HALF_PI - 2.0 * r } else { r };
    if v < 0.0 { -angle } else { angle }
}

fn arc_cosine(v: f32) -> f32 {
    if v.abs() <= 0.5 {
        return HALF_PI - arc_sine(v);
    }
    let r = 2.0 * arc_sine((0.5 * (1.0 - v.abs())).sqrt());
    if v < 0.0 { 3.1415927 - r } else { r }
}

fn arc_tangent(v: f32) -> f32 {
    let w = v.abs();
    let (start, t) = match w {
        w if w > 2.4142135 => (HALF_PI, -1.0 / w),
        w if w > 0.41421356 => (0.7853982, (w - 1.0) / (w + 1.0)),
        w => (0.0, w),
    };
    let z = t * t;
    let r =
        start + (t + t * z * (-3.3332949e-1 + z * (1.9977711e-1 + z * (-1.3877686e-1 + z * 8.053744e-2))));
    if v < 0.0 { -r } else { r }
}

fn hyperbolic_sine(v: f32) -> f32 {
    let w = v.abs();
    if w < 1.0 {
        let z = v * v;
        return v + v * z * (1.6666716e-1 + z * (8.330284e-3 + z * 2.0372191e-4));
    }
    let e = w.exp();
    let r = 0.5 * e - 0.5 / e;
    if v < 0.0 { -r } else { r }
}

fn area_sine(v: f32) -> f32 {
    let w = v.abs();
    if w < 0.5 {
        let z = v * v;
        return v + v * z * (-1.6666288e-1 + z * (7.4847586e-2 + z * (-4.269934e-2 + z * 2.0122003e-2)));
    }
    let r = if w < 1e9 { (w + (w * w + 1.0).sqrt()).ln() } else { w.ln() + 0.6931472 };
    if v < 0.0 { -r } else { r }
}

fn area_cosine(v: f32) -> f32 {
    let z = v - 1.0;
    if z < 0.5 {
        let tail = -1.1784742e-1 + z * (2.6454905e-2 + z * (-7.5272887e-3 + z * 1.7596881e-3));
        return z.sqrt() * (1.4142135 + z * tail);
    }
    if v > 1e9 {
        return v.ln() + 0.6931472;
    }
    (v + (z * (v + 1.0)).sqrt()).ln()
}

fn area_tangent(v: f32) -> f32 {
    if v.abs() < 0.5 {
        let z = v * v;
        let tail = 1.9978216e-1 + z * (1.4669143e-1 + z * (8.24370301e-2 + z * 1.8174008e-1));
        return v + v * z * (3.333373e-1 + z * tail);
    }
    0.5 * ((1.0 + v) / (1.0 - v)).ln()
}
