//! The list of kernels: name, shader text, bindings, twin and tolerance of each.

mod nn;

use super::cpu;
use nn::{CONV_TRANSPOSE, RESAMPLE};

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

    const fn relative(relative: f32) -> Tolerance {
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
    /// `shaders/reduce_mean.wgsl`: mean over any axes.
    ReduceMean,
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
        KernelId::ReduceMean,
        KernelId::Softmax,
        KernelId::Lrn,
        KernelId::Pad,
        KernelId::ConvTranspose,
        KernelId::Resample,
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
            KernelId::ReduceMean => &REDUCE_MEAN,
            KernelId::Softmax => &SOFTMAX,
            KernelId::Lrn => &LRN,
            KernelId::Pad => &PAD,
            KernelId::ConvTranspose => &CONV_TRANSPOSE,
            KernelId::Resample => &RESAMPLE,
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
    inputs: &["x", "w", "bias"],
    twin: cpu::conv2d::run,
    tolerance: SUM_OF_PRODUCTS,
};

static CONV2D_TILED: Kernel = Kernel {
    id: KernelId::Conv2dTiled,
    name: "conv2d_tiled",
    wgsl: include_str!("../../shaders/conv2d_tiled.wgsl"),
    inputs: &["x", "w", "bias"],
    twin: cpu::conv2d_tiled::run,
    tolerance: SUM_OF_PRODUCTS,
};

static CONV2D_DEPTHWISE: Kernel = Kernel {
    id: KernelId::Conv2dDepthwise,
    name: "conv2d_depthwise",
    wgsl: include_str!("../../shaders/conv2d_depthwise.wgsl"),
    inputs: &["x", "w", "bias"],
    twin: cpu::conv2d_depthwise::run,
    tolerance: SUM_OF_PRODUCTS,
};

static MATMUL: Kernel = Kernel {
    id: KernelId::Matmul,
    name: "matmul",
    wgsl: include_str!("../../shaders/matmul.wgsl"),
    inputs: &["a", "b", "c"],
    twin: cpu::matmul::run,
    tolerance: SUM_OF_PRODUCTS,
};

static MATVEC: Kernel = Kernel {
    id: KernelId::Matvec,
    name: "matvec",
    wgsl: include_str!("../../shaders/matvec.wgsl"),
    inputs: &["a", "b", "c"],
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

// The same additions in the same order; only the final division may round differently.
static REDUCE_MEAN: Kernel = Kernel {
    id: KernelId::ReduceMean,
    name: "reduce_mean",
    wgsl: include_str!("../../shaders/reduce_mean.wgsl"),
    inputs: &["x"],
    twin: cpu::reduce_mean::reduce_mean,
    tolerance: Tolerance::relative(1e-6),
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
