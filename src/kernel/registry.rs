//! The list of kernels: name, shader text, bindings, twin and tolerance of each.

mod nn;

use super::cpu;
use nn::{
    CONV_TRANSPOSE, CONV3D, GATE, GRU_CELL, HARDMAX, LSTM_CELL, MAX_POOL_INDICES, NORMALIZE, REDUCE,
    REDUCE_INT, RESAMPLE,
};

/// Computes a dispatch on the CPU: parameter block, one slice an input (exactly the operand's range; four
/// zeros where absent), and the output's range. `output` holds the range's former contents on entry, as the
/// device's binding does.
pub type Twin = fn(params: &[u32], inputs: &[&[f32]], output: &mut [f32]);

/// How far the device may differ from the twin: `|difference| <= absolute + relative * max |expected|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Part that scales with the largest expected magnitude of the tensor.
    pub relative: f32,
    /// Constant part.
    pub absolute: f32,
}

impl Tolerance {
    /// The device must give the twin's bits.
    pub const EXACT: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };

    pub(super) const fn relative(relative: f32) -> Tolerance {
        Tolerance { relative, absolute: 0.0 }
    }
}

/// One kernel.
#[derive(Debug)]
pub struct Kernel {
    /// Its id.
    pub id: KernelId,
    /// Name of its shader file without `.wgsl`.
    pub name: &'static str,
    /// Its WGSL, valid as it stands; inputs are declared `read`.
    pub wgsl: &'static str,
    /// Names of its inputs in binding order (bindings 1, 2, ..); the output's binding follows.
    pub inputs: &'static [&'static str],
    /// The same computation on the CPU.
    pub twin: Twin,
    /// Allowed difference between the two.
    pub tolerance: Tolerance,
}

/// Names a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KernelId {
    /// `shaders/conv2d.wgsl`: direct convolution, any groups.
    Conv2d,
    /// `shaders/conv2d_tiled.wgsl`: convolution as a matrix product by tiles.
    Conv2dTiled,
    /// `shaders/conv2d_depthwise.wgsl`: one input channel for each group.
    Conv2dDepthwise,
    /// `shaders/matmul.wgsl`: batched matrix product by tiles.
    Matmul,
    /// `shaders/matvec.wgsl`: up to 4 rows times a matrix.
    Matvec,
    /// `shaders/pool2d.wgsl`: largest element or mean of a window.
    Pool2d,
    /// `shaders/copy.wgsl`: strided copy.
    Copy,
    /// `shaders/unary.wgsl`: element-wise function of one tensor.
    Unary,
    /// `shaders/binary.wgsl`: element-wise function of two tensors with broadcasting.
    Binary,
    /// `shaders/batch_norm.wgsl`: batch normalisation with given statistics.
    BatchNorm,
    /// `shaders/reduce.wgsl`: mean, sum, largest and the like over any axes.
    Reduce,
    /// `shaders/reduce_int.wgsl`: the same of integers.
    ReduceInt,
    /// `shaders/softmax.wgsl`: softmax over adjacent axes.
    Softmax,
    /// `shaders/lrn.wgsl`: local response normalisation across channels.
    Lrn,
    /// `shaders/pad.wgsl`: constant, mirrored and edge padding.
    Pad,
    /// `shaders/conv_transpose.wgsl`: transposed convolution over up to 3 dimensions.
    ConvTranspose,
    /// `shaders/resample.wgsl`: interpolation along two axes by tables.
    Resample,
    /// `shaders/trigonometry.wgsl`: circular and hyperbolic functions of one tensor.
    Trigonometry,
    /// `shaders/unary_int.wgsl`: element-wise function of one tensor of integers.
    UnaryInt,
    /// `shaders/binary_int.wgsl`: element-wise function of two tensors of integers.
    BinaryInt,
    /// `shaders/compare.wgsl`: comparison of two tensors of floats.
    Compare,
    /// `shaders/select.wgsl`: choice between two tensors.
    Select,
    /// `shaders/convert.wgsl`: conversions between element types.
    Convert,
    /// `shaders/gather.wgsl`: slices at places that indices name.
    Gather,
    /// `shaders/gather_elements.wgsl`: one element for each index.
    GatherElements,
    /// `shaders/scatter_nd.wgsl`: slices written to places that indices name.
    ScatterNd,
    /// `shaders/scatter_elements.wgsl`: one element written for each index.
    ScatterElements,
    /// `shaders/top_k.wgsl`: the largest elements of each row.
    TopK,
    /// `shaders/arg_max.wgsl`: where the largest element of each row stands.
    ArgMax,
    /// `shaders/cum_sum.wgsl`: running sums.
    CumSum,
    /// `shaders/one_hot.wgsl`: marks indices.
    OneHot,
    /// `shaders/trilu.wgsl`: triangles of matrices.
    Trilu,
    /// `shaders/reverse_sequence.wgsl`: reverses sequences.
    ReverseSequence,
    /// `shaders/normalize.wgsl`: normalisation of runs of elements.
    Normalize,
    /// `shaders/hardmax.wgsl`: 1 for the first of the largest elements.
    Hardmax,
    /// `shaders/conv3d.wgsl`: direct convolution over three dimensions.
    Conv3d,
    /// `shaders/max_pool_indices.wgsl`: where the largest element of a window lies.
    MaxPoolIndices,
    /// `shaders/gate.wgsl`: the activation of a gate of a recurrent cell.
    Gate,
    /// `shaders/lstm_cell.wgsl`: one step of an LSTM, element by element.
    LstmCell,
    /// `shaders/gru_cell.wgsl`: one step of a GRU, element by element.
    GruCell,
}

impl KernelId {
    /// Every kernel.
    pub const ALL: &'static [KernelId] = &[
        KernelId::Conv2d,
        KernelId::Conv2dTiled,
        KernelId::Conv2dDepthwise,
        KernelId::Matmul,
        KernelId::Matvec,
        KernelId::Pool2d,
        KernelId::Copy,
        KernelId::Unary,
        KernelId::Binary,
        KernelId::BatchNorm,
        KernelId::Reduce,
        KernelId::ReduceInt,
        KernelId::Softmax,
        KernelId::Lrn,
        KernelId::Pad,
        KernelId::ConvTranspose,
        KernelId::Resample,
        KernelId::Trigonometry,
        KernelId::UnaryInt,
        KernelId::BinaryInt,
        KernelId::Compare,
        KernelId::Select,
        KernelId::Convert,
        KernelId::Gather,
        KernelId::GatherElements,
        KernelId::ScatterNd,
        KernelId::ScatterElements,
        KernelId::TopK,
        KernelId::ArgMax,
        KernelId::CumSum,
        KernelId::OneHot,
        KernelId::Trilu,
        KernelId::ReverseSequence,
        KernelId::Normalize,
        KernelId::Hardmax,
        KernelId::Conv3d,
        KernelId::MaxPoolIndices,
        KernelId::Gate,
        KernelId::LstmCell,
        KernelId::GruCell,
    ];

    /// The kernel behind the id.
    pub fn kernel(self) -> &'static Kernel {
        match self {
            KernelId::Conv2d => &CONV2D,
            KernelId::Conv2dTiled => &CONV2D_TILED,
            KernelId::Conv2dDepthwise => &CONV2D_DEPTHWISE,
            KernelId::Matmul => &MATMUL,
            KernelId::Matvec => &MATVEC,
            KernelId::Pool2d => &POOL2D,
            KernelId::Copy => &COPY,
            KernelId::Unary => &UNARY,
            KernelId::Binary => &BINARY,
            KernelId::BatchNorm => &BATCH_NORM,
            KernelId::Reduce => &REDUCE,
            KernelId::ReduceInt => &REDUCE_INT,
            KernelId::Softmax => &SOFTMAX,
            KernelId::Lrn => &LRN,
            KernelId::Pad => &PAD,
            KernelId::ConvTranspose => &CONV_TRANSPOSE,
            KernelId::Resample => &RESAMPLE,
            KernelId::Trigonometry => &TRIGONOMETRY,
            KernelId::UnaryInt => &UNARY_INT,
            KernelId::BinaryInt => &BINARY_INT,
            KernelId::Compare => &COMPARE,
            KernelId::Select => &SELECT,
            KernelId::Convert => &CONVERT,
            KernelId::Gather => &GATHER,
            KernelId::GatherElements => &GATHER_ELEMENTS,
            KernelId::ScatterNd => &SCATTER_ND,
            KernelId::ScatterElements => &SCATTER_ELEMENTS,
            KernelId::TopK => &TOP_K,
            KernelId::ArgMax => &ARG_MAX,
            KernelId::CumSum => &CUM_SUM,
            KernelId::OneHot => &ONE_HOT,
            KernelId::Trilu => &TRILU,
            KernelId::ReverseSequence => &REVERSE_SEQUENCE,
            KernelId::Normalize => &NORMALIZE,
            KernelId::Hardmax => &HARDMAX,
            KernelId::Conv3d => &CONV3D,
            KernelId::MaxPoolIndices => &MAX_POOL_INDICES,
            KernelId::Gate => &GATE,
            KernelId::LstmCell => &LSTM_CELL,
            KernelId::GruCell => &GRU_CELL,
        }
    }
}

/// Sums of products: the twin adds in the shader's order, so only the rounding of fused multiply-adds
/// differs.
const SUM_OF_PRODUCTS: Tolerance = Tolerance { relative: 2e-5, absolute: 1e-6 };

static CONV2D: Kernel = Kernel {
    id: KernelId::Conv2d,
    name: "conv2d",
    wgsl: include_str!("../../shaders/conv2d.wgsl"),
    inputs: &["x", "w", "bias", "addend"],
    twin: cpu::conv2d::run,
    tolerance: SUM_OF_PRODUCTS,
};

static CONV2D_TILED: Kernel = Kernel {
    id: KernelId::Conv2dTiled,
    name: "conv2d_tiled",
    wgsl: include_str!("../../shaders/conv2d_tiled.wgsl"),
    inputs: &["x", "w", "bias", "addend"],
    twin: cpu::conv2d_tiled::run,
    tolerance: SUM_OF_PRODUCTS,
};

static CONV2D_DEPTHWISE: Kernel = Kernel {
    id: KernelId::Conv2dDepthwise,
    name: "conv2d_depthwise",
    wgsl: include_str!("../../shaders/conv2d_depthwise.wgsl"),
    inputs: &["x", "w", "bias", "addend"],
    twin: cpu::conv2d_depthwise::run,
    tolerance: SUM_OF_PRODUCTS,
};

static MATMUL: Kernel = Kernel {
    id: KernelId::Matmul,
    name: "matmul",
    wgsl: include_str!("../../shaders/matmul.wgsl"),
    inputs: &["a", "b", "c", "addend"],
    twin: cpu::matmul::run,
    tolerance: SUM_OF_PRODUCTS,
};

static MATVEC: Kernel = Kernel {
    id: KernelId::Matvec,
    name: "matvec",
    wgsl: include_str!("../../shaders/matvec.wgsl"),
    inputs: &["a", "b", "c", "addend"],
    twin: cpu::matvec::run,
    tolerance: SUM_OF_PRODUCTS,
};

static POOL2D: Kernel = Kernel {
    id: KernelId::Pool2d,
    name: "pool2d",
    wgsl: include_str!("../../shaders/pool2d.wgsl"),
    inputs: &["x"],
    twin: cpu::pool2d::run,
    tolerance: Tolerance { relative: 1e-6, absolute: 1e-7 },
};

static COPY: Kernel = Kernel {
    id: KernelId::Copy,
    name: "copy",
    wgsl: include_str!("../../shaders/copy.wgsl"),
    inputs: &["x"],
    twin: cpu::copy::copy,
    tolerance: Tolerance::EXACT,
};

// exp of large arguments is the worst: WGSL grants 3 + 2 |x| units in the last place.
static UNARY: Kernel = Kernel {
    id: KernelId::Unary,
    name: "unary",
    wgsl: include_str!("../../shaders/unary.wgsl"),
    inputs: &["x"],
    twin: cpu::unary::unary,
    tolerance: Tolerance::relative(2e-5),
};

// pow through logarithms is the worst.
static BINARY: Kernel = Kernel {
    id: KernelId::Binary,
    name: "binary",
    wgsl: include_str!("../../shaders/binary.wgsl"),
    inputs: &["a", "b"],
    twin: cpu::binary::binary,
    tolerance: Tolerance::relative(2e-5),
};

static BATCH_NORM: Kernel = Kernel {
    id: KernelId::BatchNorm,
    name: "batch_norm",
    wgsl: include_str!("../../shaders/batch_norm.wgsl"),
    inputs: &["x", "scale", "bias", "mean", "variance"],
    twin: cpu::batch_norm::batch_norm,
    tolerance: Tolerance { relative: 2e-6, absolute: 1e-6 },
};

static SOFTMAX: Kernel = Kernel {
    id: KernelId::Softmax,
    name: "softmax",
    wgsl: include_str!("../../shaders/softmax.wgsl"),
    inputs: &["x"],
    twin: cpu::softmax::softmax,
    tolerance: Tolerance::relative(1e-5),
};

static LRN: Kernel = Kernel {
    id: KernelId::Lrn,
    name: "lrn",
    wgsl: include_str!("../../shaders/lrn.wgsl"),
    inputs: &["x"],
    twin: cpu::lrn::lrn,
    tolerance: Tolerance::relative(1e-5),
};

static PAD: Kernel = Kernel {
    id: KernelId::Pad,
    name: "pad",
    wgsl: include_str!("../../shaders/pad.wgsl"),
    inputs: &["x"],
    twin: cpu::pad::pad,
    tolerance: Tolerance::EXACT,
};

// log near 1, which several of them end with, is the worst.
static TRIGONOMETRY: Kernel = Kernel {
    id: KernelId::Trigonometry,
    name: "trigonometry",
    wgsl: include_str!("../../shaders/trigonometry.wgsl"),
    inputs: &["x"],
    twin: cpu::trigonometry::trigonometry,
    tolerance: Tolerance::relative(2e-5),
};

static UNARY_INT: Kernel = Kernel {
    id: KernelId::UnaryInt,
    name: "unary_int",
    wgsl: include_str!("../../shaders/unary_int.wgsl"),
    inputs: &["x"],
    twin: cpu::unary_int::unary_int,
    tolerance: Tolerance::EXACT,
};

static BINARY_INT: Kernel = Kernel {
    id: KernelId::BinaryInt,
    name: "binary_int",
    wgsl: include_str!("../../shaders/binary_int.wgsl"),
    inputs: &["a", "b"],
    twin: cpu::binary_int::binary_int,
    tolerance: Tolerance::EXACT,
};

static COMPARE: Kernel = Kernel {
    id: KernelId::Compare,
    name: "compare",
    wgsl: include_str!("../../shaders/compare.wgsl"),
    inputs: &["a", "b"],
    twin: cpu::compare::compare,
    tolerance: Tolerance::EXACT,
};

static SELECT: Kernel = Kernel {
    id: KernelId::Select,
    name: "select",
    wgsl: include_str!("../../shaders/select.wgsl"),
    inputs: &["c", "a", "b"],
    twin: cpu::select::select,
    tolerance: Tolerance::EXACT,
};

static CONVERT: Kernel = Kernel {
    id: KernelId::Convert,
    name: "convert",
    wgsl: include_str!("../../shaders/convert.wgsl"),
    inputs: &["x"],
    twin: cpu::convert::convert,
    tolerance: Tolerance::EXACT,
};

static GATHER: Kernel = Kernel {
    id: KernelId::Gather,
    name: "gather",
    wgsl: include_str!("../../shaders/gather.wgsl"),
    inputs: &["x", "indices"],
    twin: cpu::gather::gather,
    tolerance: Tolerance::EXACT,
};

static GATHER_ELEMENTS: Kernel = Kernel {
    id: KernelId::GatherElements,
    name: "gather_elements",
    wgsl: include_str!("../../shaders/gather_elements.wgsl"),
    inputs: &["x", "indices"],
    twin: cpu::gather_elements::gather_elements,
    tolerance: Tolerance::EXACT,
};

static SCATTER_ND: Kernel = Kernel {
    id: KernelId::ScatterNd,
    name: "scatter_nd",
    wgsl: include_str!("../../shaders/scatter_nd.wgsl"),
    inputs: &["indices", "updates"],
    twin: cpu::scatter_nd::scatter_nd,
    tolerance: Tolerance::EXACT,
};

static SCATTER_ELEMENTS: Kernel = Kernel {
    id: KernelId::ScatterElements,
    name: "scatter_elements",
    wgsl: include_str!("../../shaders/scatter_elements.wgsl"),
    inputs: &["indices", "updates"],
    twin: cpu::scatter_elements::scatter_elements,
    tolerance: Tolerance::EXACT,
};

static TOP_K: Kernel = Kernel {
    id: KernelId::TopK,
    name: "top_k",
    wgsl: include_str!("../../shaders/top_k.wgsl"),
    inputs: &["x"],
    twin: cpu::top_k::top_k,
    tolerance: Tolerance::EXACT,
};

static ARG_MAX: Kernel = Kernel {
    id: KernelId::ArgMax,
    name: "arg_max",
    wgsl: include_str!("../../shaders/arg_max.wgsl"),
    inputs: &["x"],
    twin: cpu::arg_max::arg_max,
    tolerance: Tolerance::EXACT,
};

static CUM_SUM: Kernel = Kernel {
    id: KernelId::CumSum,
    name: "cum_sum",
    wgsl: include_str!("../../shaders/cum_sum.wgsl"),
    inputs: &["x"],
    twin: cpu::cum_sum::cum_sum,
    tolerance: Tolerance::EXACT,
};

static ONE_HOT: Kernel = Kernel {
    id: KernelId::OneHot,
    name: "one_hot",
    wgsl: include_str!("../../shaders/one_hot.wgsl"),
    inputs: &["indices", "values"],
    twin: cpu::one_hot::one_hot,
    tolerance: Tolerance::EXACT,
};

static TRILU: Kernel = Kernel {
    id: KernelId::Trilu,
    name: "trilu",
    wgsl: include_str!("../../shaders/trilu.wgsl"),
    inputs: &["x"],
    twin: cpu::trilu::trilu,
    tolerance: Tolerance::EXACT,
};

static REVERSE_SEQUENCE: Kernel = Kernel {
    id: KernelId::ReverseSequence,
    name: "reverse_sequence",
    wgsl: include_str!("../../shaders/reverse_sequence.wgsl"),
    inputs: &["x", "lengths"],
    twin: cpu::reverse_sequence::reverse_sequence,
    tolerance: Tolerance::EXACT,
};
