//! Rows of the kernels of neural-network layers beyond convolution and plain normalisation.

use super::{Kernel, KernelId, SUM_OF_PRODUCTS, Tolerance};
use crate::kernel::cpu;

pub(super) static CONV_TRANSPOSE: Kernel = Kernel {
    id: KernelId::ConvTranspose,
    name: "conv_transpose",
    wgsl: include_str!("../../../shaders/conv_transpose.wgsl"),
    inputs: &["x", "w", "bias"],
    twin: cpu::conv_transpose::run,
    tolerance: SUM_OF_PRODUCTS,
};

pub(super) static RESAMPLE: Kernel = Kernel {
    id: KernelId::Resample,
    name: "resample",
    wgsl: include_str!("../../../shaders/resample.wgsl"),
    inputs: &["x", "a", "b"],
    twin: cpu::resample::resample,
    tolerance: SUM_OF_PRODUCTS,
};

// The same operations in the same order; roots, logarithms and exponentials round as the driver likes.
pub(super) static REDUCE: Kernel = Kernel {
    id: KernelId::Reduce,
    name: "reduce",
    wgsl: include_str!("../../../shaders/reduce.wgsl"),
    inputs: &["x"],
    twin: cpu::reduce::reduce,
    tolerance: Tolerance { relative: 2e-6, absolute: 1e-6 },
};

pub(super) static REDUCE_INT: Kernel = Kernel {
    id: KernelId::ReduceInt,
    name: "reduce_int",
    wgsl: include_str!("../../../shaders/reduce_int.wgsl"),
    inputs: &["x"],
    twin: cpu::reduce_int::reduce_int,
    tolerance: Tolerance::EXACT,
};

pub(super) static NORMALIZE: Kernel = Kernel {
    id: KernelId::Normalize,
    name: "normalize",
    wgsl: include_str!("../../../shaders/normalize.wgsl"),
    inputs: &["x", "scale", "bias"],
    twin: cpu::normalize::normalize,
    tolerance: Tolerance { relative: 1e-5, absolute: 1e-6 },
};

pub(super) static HARDMAX: Kernel = Kernel {
    id: KernelId::Hardmax,
    name: "hardmax",
    wgsl: include_str!("../../../shaders/hardmax.wgsl"),
    inputs: &["x"],
    twin: cpu::hardmax::hardmax,
    tolerance: Tolerance::EXACT,
};

pub(super) static CONV3D: Kernel = Kernel {
    id: KernelId::Conv3d,
    name: "conv3d",
    wgsl: include_str!("../../../shaders/conv3d.wgsl"),
    inputs: &["x", "w", "bias"],
    twin: cpu::conv3d::run,
    tolerance: SUM_OF_PRODUCTS,
};

pub(super) static MAX_POOL_INDICES: Kernel = Kernel {
    id: KernelId::MaxPoolIndices,
    name: "max_pool_indices",
    wgsl: include_str!("../../../shaders/max_pool_indices.wgsl"),
    inputs: &["x"],
    twin: cpu::max_pool_indices::run,
    tolerance: Tolerance::EXACT,
};

/// Activations by exponentials and logarithms, which WGSL grants a few units in the last place.
const EXPONENTIALS: Tolerance = Tolerance { relative: 1e-5, absolute: 1e-6 };

pub(super) static GATE: Kernel = Kernel {
    id: KernelId::Gate,
    name: "gate",
    wgsl: include_str!("../../../shaders/gate.wgsl"),
    inputs: &["x"],
    twin: cpu::gate::gate,
    tolerance: EXPONENTIALS,
};

pub(super) static LSTM_CELL: Kernel = Kernel {
    id: KernelId::LstmCell,
    name: "lstm_cell",
    wgsl: include_str!("../../../shaders/lstm_cell.wgsl"),
    inputs: &["gates", "c", "peephole"],
    twin: cpu::lstm_cell::lstm_cell,
    tolerance: EXPONENTIALS,
};

pub(super) static GRU_CELL: Kernel = Kernel {
    id: KernelId::GruCell,
    name: "gru_cell",
    wgsl: include_str!("../../../shaders/gru_cell.wgsl"),
    inputs: &["x", "y", "h"],
    twin: cpu::gru_cell::gru_cell,
    tolerance: EXPONENTIALS,
};
