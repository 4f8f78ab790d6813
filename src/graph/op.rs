//! Operators as they are executed: attributes resolved, shapes known, one meaning each.
//!
//! An importer resolves defaults, opset differences, auto_pad and ceil_mode; what is left here is enough to
//! compute the output from the input shapes and the output shape.

use super::{BinaryOp, Gate, GruPart, LstmPart, UnaryOp};

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
    /// The p-th root of the sum of the magnitudes to the power p; padding is 0.
    Lp {
        /// The exponent, 1 or more.
        p: u32,
    },
}

/// What a reduction computes of the elements that it takes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReduceKind {
    /// Their sum; 0 of none.
    Sum,
    /// The largest; the lowest number of the type where there is none.
    Max,
    /// The smallest; the highest number of the type where there is none.
    Min,
    /// Their product; 1 of none.
    Prod,
    /// The sum of their magnitudes.
    L1,
    /// The square root of the sum of their squares.
    L2,
    /// The sum of their squares.
    SumSquare,
    /// The logarithm of their sum.
    LogSum,
    /// The logarithm of the sum of their exponentials.
    LogSumExp,
    /// Their mean, of integers rounded towards zero. [`Op::ReduceMean`] is the one of floats.
    Mean,
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
    /// Go on at the other end.
    Wrap,
}

/// What an update does to the element that it meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// Takes its place.
    Replace,
    /// Is added.
    Add,
    /// Multiplies it.
    Mul,
    /// The lesser stays.
    Min,
    /// The larger stays.
    Max,
}

/// An executable operator.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// Inputs `x [N, C, H, W]`, `w [M, C / groups, kH, kW]`, optionally `bias [M]` (or their 1-D forms), and
    /// after a bias optionally an addend of the output's shape, added before the activation.
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
    /// extended), optionally a bias of N elements, and after it optionally an addend of the output's shape.
    MatMul {
        /// As of [`Op::Conv`].
        activation: Option<UnaryOp>,
    },
    /// Inputs `a`, `b`, optionally `c` (broadcast to `[M, N]`), and after it optionally an addend of the
    /// output's shape: `alpha * A * B + beta * C + addend`.
    Gemm {
        /// Factor of the product.
        alpha: f32,
        /// Factor of `c`.
        beta: f32,
        /// Whether `a` is stored `[K, M]`.
        trans_a: bool,
        /// Whether `b` is stored `[N, K]`.
        trans_b: bool,
        /// As of [`Op::Conv`].
        activation: Option<UnaryOp>,
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
    /// Input `x`, repeated along each dimension until the output is full; extents of the output are
    /// multiples of those of the input.
    Tile,
    /// Inputs `condition` (integers), `a`, `b` with broadcasting: `a` where the condition is not 0, else `b`.
    Select,
    /// Input `x`, converted to the element type of the output. Floats lose their fraction; an integer out
    /// of the range of its new type wraps.
    Cast,
    /// Inputs `x`, `indices`: slices of `x` along one axis. An index counts from the end where it is
    /// negative, here and below; one outside is brought to the nearest element.
    Gather {
        /// Axis in `0..rank`.
        axis: usize,
    },
    /// Inputs `x`, `indices` of the output's shape: the element of `x` at the output's coordinate, with the
    /// index along the axis.
    GatherElements {
        /// Axis in `0..rank`.
        axis: usize,
    },
    /// Inputs `x`, `indices [.., depth]`: slices of `x` at places of `depth` indices each.
    GatherNd {
        /// Leading dimensions that `x` and the indices share.
        batch_dims: usize,
    },
    /// Inputs `x`, `indices`, `updates`: `x` with each update at its coordinate, with the index along the
    /// axis. Updates of one element act in their order.
    ScatterElements {
        /// Axis in `0..rank`.
        axis: usize,
        /// What an update does to an element.
        reduction: Reduction,
    },
    /// Inputs `x`, `indices [.., depth]`, `updates`: `x` with slices updated at places of `depth` indices
    /// each. Updates of one place act in their order.
    ScatterNd {
        /// What an update does to an element.
        reduction: Reduction,
    },
    /// Input `x`: the largest or least elements along an axis in order (of equal ones the first comes
    /// first), or where they stand. As many as the output holds.
    TopK {
        /// Axis in `0..rank`.
        axis: usize,
        /// The largest rather than the least.
        largest: bool,
        /// Where they stand rather than the elements.
        indices: bool,
    },
    /// Input `x`: where the largest or least element along an axis stands. The output holds the other
    /// dimensions, with or without a one in place of the axis.
    ArgExtreme {
        /// Axis in `0..rank`.
        axis: usize,
        /// The largest rather than the least.
        largest: bool,
        /// Of equal elements the last rather than the first.
        last: bool,
    },
    /// Input `x`: running sums along an axis.
    CumSum {
        /// Axis in `0..rank`.
        axis: usize,
        /// Without the element itself.
        exclusive: bool,
        /// From the end.
        reverse: bool,
    },
    /// Inputs `indices`, `values` (off, on): the output has one dimension more, at the axis, along which
    /// only the index is on; an index outside leaves all off.
    OneHot {
        /// Axis in `0..` rank of the output.
        axis: usize,
    },
    /// Input `x [.., rows, columns]`: one triangle of each matrix, zeros elsewhere.
    Trilu {
        /// The upper triangle rather than the lower.
        upper: bool,
        /// Column minus row of the edge, which is kept.
        diagonal: i32,
    },
    /// Inputs `x`, `lengths [batches]`: the first `length` steps of each sequence reversed.
    ReverseSequence {
        /// Dimension of the sequences.
        batch_axis: usize,
        /// Dimension of their steps; another one.
        time_axis: usize,
    },
    /// Input `x`, float32 or int32 (of which L2, LogSum and LogSumExp take none); output as of
    /// [`Op::ReduceMean`].
    Reduce {
        /// What is computed.
        kind: ReduceKind,
        /// Axes reduced, ascending, each in `0..rank`.
        axes: Vec<usize>,
    },
    /// Inputs `x`, optionally `scale`, optionally `bias`, as long as each other: over every run of `len`
    /// elements, row-major, `(x - mean) / sqrt(variance + epsilon) * scale + bias`. Element i takes the
    /// statistics of its run, and `scale` and `bias` at `i / repeat`, modulo their length.
    Normalize {
        /// Elements of a run.
        len: usize,
        /// Elements that follow each other under one element of `scale` and `bias`.
        repeat: usize,
        /// Added to the variance.
        epsilon: f32,
        /// Whether the mean is taken off; if not, it counts as 0, and the variance is the mean square.
        centred: bool,
    },
    /// Input `x`; the logarithm of [`Op::Softmax`].
    LogSoftmax {
        /// First axis that is normalised.
        first_axis: usize,
        /// One past the last axis that is normalised.
        last_axis: usize,
    },
    /// Input `x`; 1 for the first of the largest elements over the dimensions taken together, 0 for the
    /// others.
    Hardmax {
        /// First axis taken together.
        first_axis: usize,
        /// One past the last of them.
        last_axis: usize,
    },
    /// Input `x [N, C, ..]` of 1 to 3 spatial dimensions: where in `x` the largest element of each window
    /// lies, the first of equals, as an index of the flattened `x`. The output is int32.
    MaxPoolIndices {
        /// The window.
        window: Window3,
        /// Whether the spatial part of the index counts the first spatial dimension fastest.
        column_major: bool,
    },
    /// Input `x`: the activation of a gate.
    Gate {
        /// The activation.
        gate: Gate,
        /// What `x` is clipped to on either side before; 0 for nothing.
        clip: f32,
    },
    /// One step of an LSTM, element by element: inputs `gates [N, 4 H]` (input, output, forget, cell; the
    /// products and biases added up), `c [N, H]`, optionally `peephole [3 H]` (input, output, forget).
    LstmCell {
        /// What is computed.
        part: LstmPart,
        /// Activations of the gates, of the cell's gate, of the cell state.
        gates: [Gate; 3],
        /// What gates are clipped to on either side before their activation; 0 for nothing.
        clip: f32,
    },
    /// One step of a GRU, element by element; inputs as [`GruPart`] says.
    GruCell {
        /// What is computed.
        part: GruPart,
        /// Activations of the gates, of the candidate.
        gates: [Gate; 2],
        /// What gates are clipped to on either side before their activation; 0 for nothing.
        clip: f32,
    },
    /// As [`Op::Conv`], over three dimensions.
    Conv3d {
        /// Strides, padding, dilation; `kernel` equals the weight's last dimensions.
        window: Window3,
        /// Channel groups.
        groups: usize,
    },
}

impl ReduceKind {
    /// Name for reports and errors.
    pub fn name(self) -> &'static str {
        match self {
            ReduceKind::Sum => "ReduceSum",
            ReduceKind::Max => "ReduceMax",
            ReduceKind::Min => "ReduceMin",
            ReduceKind::Prod => "ReduceProd",
            ReduceKind::L1 => "ReduceL1",
            ReduceKind::L2 => "ReduceL2",
            ReduceKind::SumSquare => "ReduceSumSquare",
            ReduceKind::LogSum => "ReduceLogSum",
            ReduceKind::LogSumExp => "ReduceLogSumExp",
            ReduceKind::Mean => "ReduceMean",
        }
    }
}

impl Op {
    /// Name for reports and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Conv { .. } => "Conv",
            Op::BatchNormalization { .. } => "BatchNormalization",
            Op::Unary(op) => op.name(),
            Op::Binary(op) => op.name(),
            Op::Pool { kind: PoolKind::Max, .. } => "MaxPool",
            Op::Pool { kind: PoolKind::Average { .. }, .. } => "AveragePool",
            Op::Pool { kind: PoolKind::Lp { .. }, .. } => "LpPool",
            Op::ReduceMean { .. } => "ReduceMean",
            Op::MatMul { .. } => "MatMul",
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
            Op::Tile => "Tile",
            Op::Select => "Where",
            Op::Cast => "Cast",
            Op::Gather { .. } => "Gather",
            Op::GatherElements { .. } => "GatherElements",
            Op::GatherNd { .. } => "GatherND",
            Op::ScatterElements { .. } => "ScatterElements",
            Op::ScatterNd { .. } => "ScatterND",
            Op::TopK { .. } => "TopK",
            Op::ArgExtreme { largest: true, .. } => "ArgMax",
            Op::ArgExtreme { largest: false, .. } => "ArgMin",
            Op::CumSum { .. } => "CumSum",
            Op::OneHot { .. } => "OneHot",
            Op::Trilu { .. } => "Trilu",
            Op::ReverseSequence { .. } => "ReverseSequence",
            Op::Reduce { kind, .. } => kind.name(),
            Op::Normalize { .. } => "Normalize",
            Op::LogSoftmax { .. } => "LogSoftmax",
            Op::Hardmax { .. } => "Hardmax",
            Op::MaxPoolIndices { .. } => "MaxPoolIndices",
            Op::Conv3d { .. } => "Conv3d",
            Op::Gate { .. } => "Gate",
            Op::LstmCell { part: LstmPart::Cell { .. }, .. } => "LstmCell",
            Op::LstmCell { part: LstmPart::Output, .. } => "LstmOutput",
            Op::GruCell { part: GruPart::Reset, .. } => "GruReset",
            Op::GruCell { .. } => "GruOutput",
        }
    }
}
