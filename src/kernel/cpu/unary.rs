//! Twin of `shaders/unary.wgsl`.

use super::float;

/// Element-wise function of one tensor.
pub fn unary(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (a, b) = (float(params, 4), float(params, 5));
    let x = inputs[0];
    match params[3] {
        0 => map(x, output, |v| if v < 0.0 { 0.0 } else { v }),
        1 => map(x, output, |v| if v < 0.0 { a * v } else { v }),
        2 => map(x, output, |v| limit(v, a, b)),
        3 => map(x, output, sigmoid),
        4 => map(x, output, hyperbolic_tangent),
        5 => map(x, output, |v| limit(a * v + b, 0.0, 1.0)),
        6 => map(x, output, |v| v * limit(v * 0.166_666_67 + 0.5, 0.0, 1.0)),
        7 => map(x, output, f32::sqrt),
        8 => map(x, output, f32::exp),
        9 => map(x, output, |v| -v),
        _ => map(x, output, |v| 1.0 / v),
    }
}

fn map(x: &[f32], output: &mut [f32], f: impl Fn(f32) -> f32) {
    for (out, v) in output.iter_mut().zip(x) {
        *out = f(*v);
    }
}

/// Comparisons as in the shader, where min and max would leave NaN and the sign of zero to the driver.
fn limit(v: f32, low: f32, high: f32) -> f32 {
    let raised = if v < low { low } else { v };
    if raised > high { high } else { raised }
}

fn sigmoid(v: f32) -> f32 {
    let e = (-v.abs()).exp();
    let r = 1.0 / (1.0 + e);
    if v < 0.0 { e * r } else { r }
}

fn hyperbolic_tangent(v: f32) -> f32 {
    let w = v.abs();
    if w < 0.25 {
        let s = v * v;
        return v
            * (1.0 + s * (-0.333_333_33 + s * (0.133_333_33 + s * (-0.053_968_254 + s * 0.021_869_488))));
    }
    let e = (-2.0 * w).exp();
    let r = (1.0 - e) / (1.0 + e);
    if v < 0.0 { -r } else { r }
}
