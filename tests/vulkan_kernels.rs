//! Convolution, matrix product and pooling on a Vulkan device (lavapipe is enough), against the twins.
#![cfg(feature = "gpu")]

mod support;

use support::cases::{
    ACTIVATIONS, LIMITS, PLAIN, conv, conv_onto, gemm, gemm_onto, out_len, product, product_onto, window,
    windows,
};
use support::kernel_gpu::Gpu;
use support::twin::Case;

use sublet::graph::{Op, PoolKind, UnaryOp};
use sublet::kernel::{KernelId, LowerLimits};

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn convolutions_match_their_twins() {
    let mut gpu = Gpu::open();
    for window in windows() {
        for (c, m, groups, kernel) in [
            (3, 5, 1, KernelId::Conv2d),
            (6, 9, 3, KernelId::Conv2d),
            (20, 67, 1, KernelId::Conv2dTiled),
            (3, 130, 1, KernelId::Conv2dTiled),
            (6, 34, 2, KernelId::Conv2dTiled),
            (5, 5, 5, KernelId::Conv2dDepthwise),
            (3, 6, 3, KernelId::Conv2dDepthwise),
        ] {
            let case = conv([2, c, 9, 11], m, groups, window, m % 2 == 0, None);
            assert_eq!(gpu.compare(&case, LIMITS), [kernel]);
        }
    }
    for activation in
        [UnaryOp::Relu, UnaryOp::Clip { min: -0.125, max: 0.5 }, UnaryOp::LeakyRelu { alpha: 0.25 }]
    {
        for (c, m, groups) in [(3, 5, 1), (3, 20, 1), (4, 4, 4)] {
            gpu.compare(&conv([1, c, 6, 6], m, groups, PLAIN, true, Some(activation)), LIMITS);
            gpu.compare(&conv_onto([2, c, 6, 7], m, groups, PLAIN, Some(activation)), LIMITS);
        }
    }
    let filters = window([1, 100], [1, 3], [0, 5, 0, 2], [1, 1]);
    assert_eq!(gpu.compare(&conv([1, 1, 1, 400], 37, 1, filters, true, None), LIMITS), [KernelId::Conv2d]);
    gpu.compare(
        &conv([2, 3, 4, 40], 7, 1, window([2, 13], [1, 1], [1, 6, 0, 6], [1, 2]), true, None),
        LIMITS,
    );
    gpu.compare(&conv([1, 64, 56, 56], 128, 1, PLAIN, true, Some(UnaryOp::Relu)), LIMITS);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn pooling_matches_its_twin() {
    let mut gpu = Gpu::open();
    let kinds = [
        PoolKind::Max,
        PoolKind::Average { count_include_pad: false },
        PoolKind::Average { count_include_pad: true },
        PoolKind::Lp { p: 1 },
        PoolKind::Lp { p: 2 },
        PoolKind::Lp { p: 3 },
    ];
    for kind in kinds {
        for (pool, extra) in [
            (window([2, 2], [2, 2], [0; 4], [1, 1]), 0),
            (window([3, 3], [2, 2], [0; 4], [1, 1]), 1),
            (window([2, 3], [2, 2], [1, 2, 0, 1], [2, 2]), 1),
        ] {
            let out = [out_len(9, &pool, 0) + extra, out_len(10, &pool, 1) + extra];
            let mut case = Case::new(Op::Pool { kind, window: pool });
            case.input(&[2, 3, 9, 10]);
            assert_eq!(gpu.compare(&case.output(&[2, 3, out[0], out[1]]), LIMITS), [KernelId::Pool2d]);
        }
    }
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn matrix_products_match_their_twins() {
    let mut gpu = Gpu::open();
    for (a, b, y) in [
        (&[5, 7][..], &[7, 3][..], &[5, 3][..]),
        (&[7], &[7, 3], &[3]),
        (&[130, 140], &[140, 129], &[130, 129]),
        (&[2, 1, 5, 7], &[3, 7, 4], &[2, 3, 5, 4]),
        (&[2, 3, 2, 9], &[2, 3, 9, 65], &[2, 3, 2, 65]),
        (&[2, 1, 4, 6, 7], &[3, 1, 7, 5], &[2, 3, 4, 6, 5]),
    ] {
        gpu.compare(&product(a, b, y), LIMITS);
    }
    for size in [[1, 33, 70], [2, 19, 6], [3, 40, 1], [4, 20, 6], [5, 19, 66], [70, 130, 1]] {
        let [m, _, n] = size;
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            for c in [&[][..], &[n], &[m, 1], &[m, n]] {
                gpu.compare(&gemm(size, [0.5, -1.5], transposed, c), LIMITS);
            }
        }
    }
}

/// Bias, addend and activation of products.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn products_that_add_and_activate_match_their_twins() {
    let mut gpu = Gpu::open();
    for activation in ACTIVATIONS {
        gpu.compare(&product_onto(&[7], &[7, 3], &[3], activation), LIMITS);
        gpu.compare(&product_onto(&[2, 1, 5, 7], &[3, 7, 4], &[2, 3, 5, 4], activation), LIMITS);
        gpu.compare(&product_onto(&[130, 140], &[140, 129], &[130, 129], activation), LIMITS);
        for (size, max_binding_bytes) in [([1, 33, 70], 9000), ([6, 100, 24], 9000), ([5, 130, 63], 17_000)] {
            for transposed in [[false, false], [false, true], [true, false], [true, true]] {
                let case = gemm_onto(size, transposed, &[size[2]], activation);
                assert_eq!(gpu.compare(&case, LIMITS).len(), 1);
                let limits = LowerLimits { max_binding_bytes, ..LIMITS };
                assert!(gpu.compare(&case, limits).len() > 1, "{size:?} {transposed:?}: one dispatch");
            }
        }
    }
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn segments_of_large_constants_match_their_twins() {
    let mut gpu = Gpu::open();
    for (size, max_binding_bytes) in [([1, 33, 70], 9000), ([6, 100, 24], 9000), ([5, 130, 63], 17_000)] {
        let limits = LowerLimits { max_binding_bytes, ..LIMITS };
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            let kernels = gpu.compare(&gemm(size, [0.5, 2.0], transposed, &[size[2]]), limits);
            assert!(kernels.len() > 1, "{size:?} {transposed:?}: one dispatch");
        }
    }
    let limits = LowerLimits { max_binding_bytes: 4096, ..LIMITS };
    let case = conv([2, 16, 4, 5], 20, 1, PLAIN, true, Some(UnaryOp::Relu));
    assert!(gpu.compare(&case, limits).len() > 1);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn workgroups_fold_where_one_dimension_is_short() {
    let mut gpu = Gpu::open();
    let limits = LowerLimits { max_workgroups: 8, ..LIMITS };
    for (c, m, groups) in [(3, 5, 1), (3, 20, 1), (5, 5, 5)] {
        gpu.compare(&conv([1, c, 30, 30], m, groups, PLAIN, true, None), limits);
    }
    gpu.compare(&gemm([1, 20, 100], [1.0, 1.0], [false, true], &[100]), limits);
}
