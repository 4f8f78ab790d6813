//! Twin of `shaders/unary.wgsl`.

#![allow(clippy::excessive_precision, clippy::approx_constant, reason = "the numbers of the shader")]

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
        10 => map(x, output, |v| 1.0 / v),
        11 => map(x, output, f32::abs),
        12 => map(x, output, f32::floor),
        13 => map(x, output, f32::ceil),
        14 => map(x, output, f32::round_ties_even),
        15 => map(x, output, sign_of),
        16 => map(x, output, f32::ln),
        17 => map(x, output, error_function),
        18 => map(x, output, softplus),
        19 => map(x, output, |v| v / (1.0 + v.abs())),
        20 => map(x, output, |v| if v < 0.0 { a * exp_less_one(v) } else { v }),
        21 => map(x, output, |v| b * if v <= 0.0 { a * exp_less_one(v) } else { v }),
        22 => map(x, output, |v| if v < 0.0 { a * exp_less_one(v / a) } else { v }),
        23 => map(x, output, |v| if v > a { v } else { 0.0 }),
        24 => map(x, output, mish),
        25 => map(x, output, |v| 0.5 * v * (1.0 + error_function(v * 0.707_106_77))),
        26 => map(x, output, |v| {
            0.5 * v * (1.0 + hyperbolic_tangent(0.797_884_6 * (v + 0.044_715 * v * v * v)))
        }),
        _ => map(x, output, |v| shrink(v, a, b)),
    }
}

/// exp(v) - 1, by its series near 0.
fn exp_less_one(v: f32) -> f32 {
    if v.abs() < 0.25 {
        return v * (1.0 + v * 0.5 * (1.0 + v * 0.333_333_34 * (1.0 + v * 0.25 * (1.0 + v * 0.2))));
    }
    v.exp() - 1.0
}

fn softplus(v: f32) -> f32 {
    let e = (-v.abs()).exp();
    let tail = if e < 1e-4 { e * (1.0 - 0.5 * e) } else { (1.0 + e).ln() };
    (if v > 0.0 { v } else { 0.0 }) + tail
}

/// Taylor's series near 0, else one less the complement.
fn error_function(v: f32) -> f32 {
    let (w, s) = (v.abs(), v * v);
    if w < 0.5 {
        let tail = 5.223_977_6e-3 + s * (-8.548_327e-4 + s * 1.205_533_3e-4);
        return v
            * (1.128_379_2 + s * (-3.761_264e-1 + s * (1.128_379_2e-1 + s * (-2.686_617_1e-2 + s * tail))));
    }
    let t = 1.0 / (1.0 + 0.5 * w);
    let high =
        0.278_868_07 + t * (-1.135_203_98 + t * (1.488_515_87 + t * (-0.822_152_23 + t * 0.170_872_77)));
    let low = 0.374_091_96 + t * (0.096_784_18 + t * (-0.186_288_06 + t * high));
    let r = 1.0 - t * (-s - 1.265_512_23 + t * (1.000_023_68 + t * low)).exp();
    if v < 0.0 { -r } else { r }
}

fn mish(v: f32) -> f32 {
    if v > 20.0 {
        return v;
    }
    let e = v.exp();
    let n = e * (e + 2.0);
    v * (n / (n + 2.0))
}

/// Keeps what is not a number, and the sign of zero.
fn sign_of(v: f32) -> f32 {
    match v {
        v if v > 0.0 => 1.0,
        v if v < 0.0 => -1.0,
        v => v,
    }
}

fn shrink(v: f32, lambda: f32, bias: f32) -> f32 {
    match v {
        v if v < -lambda => v + bias,
        v if v > lambda => v - bias,
        _ => 0.0,
    }
}

fn map(x: &[f32], output: &mut [f32], f: impl Fn(f32) -> f32) {
    for (out, v) in output.iter_mut().zip(x) {
        *out = f(*v);
    }
}

/// Comparisons as in the shader, where min and max would leave NaN and the sign of zero to the driver.
pub(super) fn limit(v: f32, low: f32, high: f32) -> f32 {
    let raised = if v < low { low } else { v };
    if raised > high { high } else { raised }
}

pub(super) fn sigmoid(v: f32) -> f32 {
    let e = (-v.abs()).exp();
    let r = 1.0 / (1.0 + e);
    if v < 0.0 { e * r } else { r }
}

pub(super) fn hyperbolic_tangent(v: f32) -> f32 {
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
