//! Made-up nodes for the kernels.

use super::twin::Case;
use sublet::graph::{Op, UnaryOp, Window};
use sublet::kernel::LowerLimits;

/// WebGPU's defaults.
pub const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };

/// Kernel, strides, pads, dilations.
pub fn window(kernel: [usize; 2], strides: [usize; 2], pads: [usize; 4], dilations: [usize; 2]) -> Window {
    Window { kernel, strides, pads, dilations }
}

/// Windows along an axis.
pub fn out_len(input: usize, window: &Window, axis: usize) -> usize {
    let reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    (input + window.pads[axis] + window.pads[axis + 2] - reach) / window.strides[axis] + 1
}

/// A convolution case: `x [n, c, h, w]`, `m` output channels.
pub fn conv(
    [n, c, h, w]: [usize; 4],
    m: usize,
    groups: usize,
    window: Window,
    bias: bool,
    activation: Option<UnaryOp>,
) -> Case {
    let mut case = Case::new(Op::Conv { window, groups, activation });
    case.input(&[n, c, h, w]).constant(&[m, c / groups, window.kernel[0], window.kernel[1]]);
    if bias {
        case.constant(&[m]);
    }
    case.output(&[n, m, out_len(h, &window, 0), out_len(w, &window, 1)])
}

/// The same with a bias and an addend.
pub fn conv_onto(
    [n, c, h, w]: [usize; 4],
    m: usize,
    groups: usize,
    window: Window,
    activation: Option<UnaryOp>,
) -> Case {
    let mut case = Case::new(Op::Conv { window, groups, activation });
    let out = [n, m, out_len(h, &window, 0), out_len(w, &window, 1)];
    case.input(&[n, c, h, w]).constant(&[m, c / groups, window.kernel[0], window.kernel[1]]);
    case.constant(&[m]).input(&out);
    case.output(&out)
}

/// 3 x 3, same size.
pub const PLAIN: Window = Window { kernel: [3, 3], strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1] };

/// Windows with every attribute uneven somewhere.
pub fn windows() -> Vec<Window> {
    vec![
        PLAIN,
        window([1, 1], [1, 1], [0; 4], [1, 1]),
        window([1, 1], [2, 2], [0; 4], [1, 1]),
        window([3, 3], [2, 2], [0, 1, 1, 0], [1, 1]),
        window([3, 2], [1, 3], [2, 0, 0, 3], [1, 2]),
        window([2, 3], [2, 1], [1, 2, 3, 4], [3, 2]),
        window([5, 5], [1, 2], [4, 4, 4, 4], [1, 1]),
        window([7, 1], [3, 1], [3, 0, 3, 0], [1, 1]),
        window([2, 11], [1, 1], [0, 5, 1, 4], [1, 1]),
    ]
}

/// A `MatMul` case.
pub fn product(a: &[usize], b: &[usize], y: &[usize]) -> Case {
    let mut case = Case::new(Op::MatMul { activation: None });
    case.input(a).constant(b);
    case.output(y)
}

/// A `Gemm` case `[m, k, n]`; `c` may be empty for a scalar.
pub fn gemm(
    [m, k, n]: [usize; 3],
    [alpha, beta]: [f32; 2],
    [trans_a, trans_b]: [bool; 2],
    c: &[usize],
) -> Case {
    let mut case = Case::new(Op::Gemm { alpha, beta, trans_a, trans_b, activation: None });
    case.input(&if trans_a { [k, m] } else { [m, k] });
    case.constant(&if trans_b { [n, k] } else { [k, n] }).constant(c);
    case.output(&[m, n])
}

/// A `MatMul` case with a bias, an addend and an activation.
pub fn product_onto(a: &[usize], b: &[usize], y: &[usize], activation: Option<UnaryOp>) -> Case {
    let mut case = Case::new(Op::MatMul { activation });
    case.input(a).constant(b).constant(&y[y.len() - 1..]).input(y);
    case.output(y)
}

/// A `Gemm` case `[m, k, n]` with `c`, an addend and an activation.
pub fn gemm_onto(
    [m, k, n]: [usize; 3],
    [trans_a, trans_b]: [bool; 2],
    c: &[usize],
    activation: Option<UnaryOp>,
) -> Case {
    let mut case = Case::new(Op::Gemm { alpha: 0.5, beta: -1.5, trans_a, trans_b, activation });
    case.input(&if trans_a { [k, m] } else { [m, k] });
    case.constant(&if trans_b { [n, k] } else { [k, n] }).constant(c).input(&[m, n]);
    case.output(&[m, n])
}

/// What a product may apply before it stores, and nothing.
pub const ACTIVATIONS: [Option<UnaryOp>; 4] = [
    None,
    Some(UnaryOp::Relu),
    Some(UnaryOp::Clip { min: -0.125, max: 0.5 }),
    Some(UnaryOp::LeakyRelu { alpha: 0.25 }),
];
