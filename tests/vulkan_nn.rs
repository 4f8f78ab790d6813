//! Kernels of neural-network layers on a Vulkan device (lavapipe is enough), against the twins.
#![cfg(feature = "gpu")]

mod support;

use support::cases::LIMITS;
use support::kernel_gpu::Gpu;
use support::nn_cases;
use support::twin::Case;

use sublet::kernel::KernelId;

fn check(cases: &[Case], kernel: KernelId) {
    let mut gpu = Gpu::open();
    for case in cases {
        assert!(gpu.compare(case, LIMITS).iter().all(|k| *k == kernel), "{:?}", case.op());
    }
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn transposed_convolutions_match_their_twin() {
    check(&nn_cases::transposed_convolutions(), KernelId::ConvTranspose);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn interpolations_match_their_twin() {
    check(&nn_cases::interpolations(), KernelId::Resample);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn reductions_match_their_twins() {
    check(&nn_cases::reductions(), KernelId::Reduce);
    check(&nn_cases::int_reductions(), KernelId::ReduceInt);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn normalisations_match_their_twins() {
    check(&nn_cases::normalisations(), KernelId::Normalize);
    check(&nn_cases::log_softmaxes(), KernelId::Softmax);
    check(&nn_cases::hardmaxes(), KernelId::Hardmax);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn windows_over_three_dimensions_match_their_twins() {
    check(&nn_cases::solid_convolutions(), KernelId::Conv3d);
    check(&nn_cases::pool_indices(), KernelId::MaxPoolIndices);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn recurrent_cells_match_their_twins() {
    check(&nn_cases::gates(), KernelId::Gate);
    check(&nn_cases::lstm_cells(), KernelId::LstmCell);
    check(&nn_cases::gru_cells(), KernelId::GruCell);
}
