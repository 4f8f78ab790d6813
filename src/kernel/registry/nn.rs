//! Rows of the kernels of neural-network layers beyond convolution and plain normalisation.

use super::{Kernel, KernelId, SUM_OF_PRODUCTS};
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
