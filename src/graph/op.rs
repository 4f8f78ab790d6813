//! Operators as they are executed: attributes resolved, shapes known, one meaning each.
//!
//! An importer resolves defaults, opset differences, auto_pad and ceil_mode; what is left here is enough to
//! compute the output from the input shapes and the output shape.

/// Strides, padding and dilation of a 2-D window; 1-D tensors `[N, C, L]` are treated as `[N, C, 1, L]` with
/// `[1, s]`, `[0, left, 0, right]`, `[1, d]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Kernel height and width.
    pub kernel: [usize; 2],
    /// Steps between windows, down and across.
    pub strides: [usize; 2],
    /// Padding: top, left, bottom, right.
    pub pads: [usize; 4],
    /// Distance between taps, down and across.
    pub dilations: [usize; 2],
}

/// Strides, padding and dilation of a window over three dimensions; tensors with fewer have ones in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window3 {
    /// Kernel depth, height and width.
    pub kernel: [usize; 3],
    /// Steps between windows.
    pub strides: [usize; 3],
    /// Padding before each dimension, then after each.
    pub pads: [usize; 6],
    /// Distance between taps.
    pub dilations: [usize; 3],
}

/// Element-wise functions of one tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnaryOp {
    /// `max(x, 0)`.
    Relu,
    /// `x` where `x >= 0`, else `alpha * x`.
    LeakyRelu {
        /// Slope of the negative side.
        alpha: f32,
    },
    /// `min(max(x, min), max)`.
    Clip {
        /// Lower bound (`f32::MIN` where open).
        min: f32,
        /// Upper bound (`f32::MAX` where open).
        max: f32,
    },
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `clamp(alpha * x + beta, 0, 1)`.
    HardSigmoid {
        /// Slope.
        alpha: f32,
        /// Value at 0.
        beta: f32,
    },
    /// `x * clamp(x / 6 + 0.5, 0, 1)`.
    HardSwish,
    /// Square root.
    Sqrt,
    /// Exponential.
    Exp,
    /// `-x`.
    Neg,
    /// `1 / x`.
    Reciprocal,
}

/// Element-wise functions of two tensors with ONNX (multidirectional) broadcasting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`.
    Div,
    /// `a` to the power `b`.
    Pow,
    /// `a` where `a >= 0`, else `a * b` (b is the slope).
    Prelu,
}

/// What a pooling window computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolKind {
    /// Largest element; padding never wins.
    Max,
    /// Mean; padding counts as zeros in the divisor if asked (cells past the padded input never count).
    Average {
        /// Whether padding cells count in the divisor.
        count_include_pad: bool,
    },
}

/// What `Pad` writes outside the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PadMode {
    /// One value: the word of an element, so that of an integer tensor its bits count.
    Constant(f32),
    /// Mirror without repeating the edge.
    Reflect,
    /// Repeat the edge.
    Edge,
}

/// An executable operator.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// Inputs `x [N, C, H, W]`, `w [M, C / groups, kH, kW]`, optionally `bias [M]` (or their 1-D forms).
    Conv {
        /// Strides, padding, dilation; `kernel` equals the weight's last dimensions.
        window: Window,
        /// Channel groups.
        groups: usize,
        /// Applied to each output element before it is stored; the importers leave it open.
        activation: Option<UnaryOp>,
    },
    /// Inputs `x [N, C, ..]`, `scale [C]`, `bias [C]`, `mean [C]`, `variance [C]`.
    BatchNormalization {
        /// Added to the variance.
        epsilon: f32,
    },
    /// Input `x`.
    Unary(UnaryOp),
    /// Inputs `a`, `b`.
    Binary(BinaryOp),
    /// Input `x [N, C, H, W]` (or `[N, C, L]`). The output shape tells the number of windows (ceil_mode
    /// resolved).
    Pool {
        /// Max or average.
        kind: PoolKind,
        /// The window.
        window: Window,
    },
    /// Input `x`; mean over `axes` (GlobalAveragePool too). The output holds the kept dimensions in order,
    /// with or without ones in place of the reduced.
    ReduceMean {
        /// Axes reduced, ascending, each in `0..rank`.
        axes: Vec<usize>,
    },
    /// Inputs `a [.., M, K]`, `b [.., K, N]`, numpy semantics (batch dimensions broadcast; 1-D operands
    /// extended).
    MatMul,
    /// Inputs `a`, `b`, optionally `c` (broadcast to `[M, N]`): `alpha * A * B + beta * C`.
    Gemm {
        /// Factor of the product.
        alpha: f32,
        /// Factor of `c`.
        beta: f32,
        /// Whether `a` is stored `[K, M]`.
        trans_a: bool,
        /// Whether `b` is stored `[N, K]`.
        trans_b: bool,
    },
    /// Inputs: two or more, or one.
    Concat {
        /// Axis in `0..rank`.
        axis: usize,
    },
    /// Input `x`: the same elements in the same order under another shape (Reshape, Flatten, Squeeze,
    /// Identity, ..).
    Copy,
    /// Input `x`.
    Transpose {
        /// Output dimension i is input dimension `perm[i]`.
        perm: Vec<usize>,
    },
    /// Input `x`; softmax over the dimensions `first_axis..last_axis` taken together.
    Softmax {
        /// First axis that is normalised.
        first_axis: usize,
        /// One past the last axis that is normalised.
        last_axis: usize,
    },
    /// Input `x [N, C, ..]`; local response normalisation across channels.
    Lrn {
        /// Channels in the window.
        size: usize,
        /// Scale.
        alpha: f32,
        /// Exponent.
        beta: f32,
        /// Added to the sum.
        bias: f32,
    },
    /// Input `x`.
    Pad {
        /// What is written outside.
        mode: PadMode,
        /// Elements added before each dimension; negative removes.
        before: Vec<i64>,
    },
    /// Input `x`; output element i of dimension d is input `starts[d] + i * steps[d]`.
    Slice {
        /// First index of each dimension.
        starts: Vec<i64>,
        /// Step of each dimension, not zero, may be negative.
        steps: Vec<i64>,
    },
    /// One or more inputs with broadcasting: their sum, added left to right.
    Sum,
    /// Input `x`: broadcast to the output's shape.
    Expand,
    /// Inputs `x [N, C, ..]`, `w [C, M / groups, ..]`, optionally `bias [M]`, of 1 to 3 spatial dimensions.
    /// Input element i meets tap k in output element `i * stride + k * dilation - pad`, where there is one;
    /// the output's shape says how far it reaches.
    ConvTranspose {
        /// Strides, padding before each dimension, dilation; `kernel` equals the weight's last dimensions.
        window: Window3,
        /// Channel groups.
        groups: usize,
    },
    /// Inputs `x`, and for each of the two axes a table `[output size, 2 * taps]` of pairs (index, weight):
    /// an output element is the sum of the elements under the pairs of both its indices, weighted by the
    /// product of both weights. A pair of weight 0 reads nothing. The second axis may equal the first, then
    /// its table is `[1, 2]` and unused. A negative index in the first pair marks a position outside `x`.
    Resample {
        /// The two axes, ascending, or the same one twice.
        axes: [usize; 2],
        /// Pairs for each position of either axis.
        taps: [usize; 2],
        /// The output where a position lies outside.
        outside: f32,
    },
}

impl Op {
    /// Name for reports and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Conv { .. } => "Conv",
            Op::BatchNormalization { .. } => "BatchNormalization",
            Op::Unary(u) => match u {
                UnaryOp::Relu => "Relu",
                UnaryOp::LeakyRelu { .. } => "LeakyRelu",
                UnaryOp::Clip { .. } => "Clip",
                UnaryOp::Sigmoid => "Sigmoid",
                UnaryOp::Tanh => "Tanh",
                UnaryOp::HardSigmoid { .. } => "HardSigmoid",
                UnaryOp::HardSwish => "HardSwish",
                UnaryOp::Sqrt => "Sqrt",
                UnaryOp::Exp => "Exp",
                UnaryOp::Neg => "Neg",
                UnaryOp::Reciprocal => "Reciprocal",
            },
            Op::Binary(b) => match b {
                BinaryOp::Add => "Add",
                BinaryOp::Sub => "Sub",
                BinaryOp::Mul => "Mul",
                BinaryOp::Div => "Div",
                BinaryOp::Pow => "Pow",
                BinaryOp::Prelu => "PRelu",
            },
            Op::Pool { kind: PoolKind::Max, .. } => "MaxPool",
            Op::Pool { kind: PoolKind::Average { .. }, .. } => "AveragePool",
            Op::ReduceMean { .. } => "ReduceMean",
            Op::MatMul => "MatMul",
            Op::Gemm { .. } => "Gemm",
            Op::Concat { .. } => "Concat",
            Op::Copy => "Copy",
            Op::Transpose { .. } => "Transpose",
            Op::Softmax { .. } => "Softmax",
            Op::Lrn { .. } => "LRN",
            Op::Pad { .. } => "Pad",
            Op::Slice { .. } => "Slice",
            Op::Sum => "Sum",
            Op::Expand => "Expand",
            Op::ConvTranspose { .. } => "ConvTranspose",
            Op::Resample { .. } => "Resample",
        }
    }
}
