//! Convolution, matrix product and pooling: the twins, through the lowering, against loops written from the
//! ONNX text.

mod support;

use support::cases::{
    ACTIVATIONS, LIMITS, PLAIN, conv, conv_onto, gemm, gemm_onto, out_len, product, product_onto, window,
    windows,
};
use support::oracle;
use support::twin::{Case, run_twins};

use sublet::graph::{Op, PoolKind, UnaryOp};
use sublet::kernel::{KernelId, LowerError, LowerLimits, lower};

/// Compares a case with its expected values; the twins add in f32, the oracle in f64.
#[track_caller]
fn check(case: &Case, limits: LowerLimits, expected: &[f64]) -> Vec<KernelId> {
    let (got, kernels) = run_twins(case, limits);
    assert_eq!(got.len(), expected.len());
    let scale = expected.iter().fold(1.0f64, |m, e| m.max(e.abs()));
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let difference = (f64::from(*got) - expected).abs();
        assert!(difference <= 1e-5 * scale, "element {i}: {got} where {expected} is expected ({kernels:?})");
    }
    kernels
}

#[test]
fn direct_convolution_matches_the_definition() {
    for window in windows() {
        for (c, m, groups) in [(1, 1, 1), (3, 5, 1), (4, 6, 2), (6, 9, 3), (8, 12, 2)] {
            let case = conv([2, c, 9, 11], m, groups, window, m % 2 == 1, None);
            assert_eq!(check(&case, LIMITS, &oracle::conv(&case)), [KernelId::Conv2d], "{window:?} {c} {m}");
        }
    }
}

#[test]
fn tiled_convolution_matches_the_definition() {
    for window in windows() {
        for (c, m, groups) in [(1, 16, 1), (3, 18, 1), (20, 67, 1), (15, 16, 1), (6, 34, 2)] {
            let case = conv([2, c, 9, 11], m, groups, window, m % 2 == 0, Some(UnaryOp::Relu));
            assert_eq!(
                check(&case, LIMITS, &oracle::conv(&case)),
                [KernelId::Conv2dTiled],
                "{window:?} {c} {m}"
            );
        }
    }
}

#[test]
fn depthwise_convolution_matches_the_definition() {
    for window in windows() {
        for (c, m) in [(2, 2), (5, 5), (3, 6), (4, 12)] {
            let case =
                conv([2, c, 9, 11], m, c, window, m % 2 == 0, Some(UnaryOp::Clip { min: -0.5, max: 0.25 }));
            let kernels = check(&case, LIMITS, &oracle::conv(&case));
            assert_eq!(kernels, [KernelId::Conv2dDepthwise], "{window:?} {c} {m}");
        }
    }
}

#[test]
fn every_activation_is_applied_after_the_bias_and_the_addend() {
    let relu = Some(UnaryOp::Relu);
    let clip = Some(UnaryOp::Clip { min: -0.125, max: 0.5 });
    let leaky = Some(UnaryOp::LeakyRelu { alpha: 0.25 });
    for activation in [None, relu, clip, leaky] {
        for (c, m, groups) in [(3, 5, 1), (3, 20, 1), (4, 4, 4)] {
            let case = conv([1, c, 6, 6], m, groups, PLAIN, true, activation);
            check(&case, LIMITS, &oracle::conv(&case));
            let case = conv_onto([2, c, 6, 7], m, groups, PLAIN, activation);
            check(&case, LIMITS, &oracle::conv(&case));
        }
    }
    let case = conv([1, 3, 6, 6], 5, 1, PLAIN, true, Some(UnaryOp::Tanh));
    let error = lower(&case.graph, &case.graph.nodes[0], LIMITS).unwrap_err();
    let LowerError::Unsupported { what, .. } = error else { panic!("{error}") };
    assert!(what.contains("Tanh"), "{what}");
}

#[test]
fn empty_inputs_leave_the_bias_and_empty_outputs_need_no_dispatch() {
    for m in [5, 16] {
        for shape in [[1, 0, 6, 6], [1, 3, 0, 6]] {
            let case = conv(shape, m, 1, window([1, 3], [1, 1], [2, 1, 2, 1], [1, 1]), true, None);
            assert!(!oracle::conv(&case).is_empty());
            check(&case, LIMITS, &oracle::conv(&case));
        }
    }
    let case = conv([0, 3, 6, 6], 4, 1, PLAIN, true, None);
    assert_eq!(check(&case, LIMITS, &[]), []);
    assert_eq!(check(&product(&[3, 4], &[4, 0], &[3, 0]), LIMITS, &[]), []);
}

#[test]
fn one_dimensional_convolution_is_a_single_row() {
    for m in [4, 16] {
        let window = window([1, 3], [1, 2], [0, 1, 0, 2], [1, 2]);
        let mut case = Case::new(Op::Conv { window, groups: 1, activation: None });
        case.input(&[2, 3, 40]).constant(&[m, 3, 3]).constant(&[m]);
        let case = case.output(&[2, m, out_len(40, &window, 1)]);
        check(&case, LIMITS, &oracle::conv(&case));
    }
}

/// Filters over a signal go to the kernel that sums in chunks: its error is a fraction of what one running
/// sum makes.
#[test]
fn long_filters_are_summed_in_chunks() {
    for (kernel, stride, pads) in [(64, 3, [0, 5, 0, 2]), (100, 1, [0; 4]), (256, 16, [0, 0, 0, 40])] {
        let case = conv([1, 1, 1, 400], 36, 1, window([1, kernel], [1, stride], pads, [1, 1]), true, None);
        assert_eq!(check(&case, LIMITS, &oracle::conv(&case)), [KernelId::Conv2d]);
    }
    let window = window([1, 1000], [1, 1], [0; 4], [1, 1]);
    let values: Vec<f32> = (0..1100).map(|i| (i * 7919 % 1000) as f32 / 1000.0).collect();
    let weights: Vec<f32> = (0..4000).map(|i| ((i * i * 31 + i * 17) % 997) as f32 / 997.0 - 0.4).collect();
    let mut case = Case::new(Op::Conv { window, groups: 1, activation: None });
    case.constant_of(&[1, 1, 1, 1100], values.clone()).constant_of(&[4, 1, 1, 1000], weights.clone());
    let case = case.output(&[1, 4, 1, 101]);
    let due = oracle::conv(&case);
    let (found, _) = run_twins(&case, LIMITS);
    let error = |of: &dyn Fn(usize) -> f32| {
        due.iter().enumerate().map(|(i, due)| (f64::from(of(i)) - due).powi(2)).sum::<f64>().sqrt()
    };
    let running = |i: usize| {
        let (row, at) = (i / 101, i % 101);
        let products = weights[row * 1000..][..1000].iter().zip(&values[at..]);
        products.fold(0.0f32, |sum, (w, x)| sum + w * x)
    };
    let (ours, plain) = (error(&|i| found[i]), error(&running));
    assert!(ours < plain / 2.0, "{ours} where one running sum is {plain} off");
}

#[test]
fn convolution_large_enough_for_threads_matches_the_definition() {
    let case = conv([1, 32, 30, 31], 70, 1, PLAIN, true, None);
    assert_eq!(check(&case, LIMITS, &oracle::conv(&case)), [KernelId::Conv2dTiled]);
    let case = conv([1, 70, 61, 60], 140, 70, window([5, 5], [1, 1], [2; 4], [1, 1]), true, None);
    assert_eq!(check(&case, LIMITS, &oracle::conv(&case)), [KernelId::Conv2dDepthwise]);
}

#[test]
fn weights_over_the_binding_limit_are_bound_in_aligned_segments() {
    for (c, m, max_binding_bytes) in [(5, 67, 11_600), (16, 20, 4096), (3, 100, 7000)] {
        let limits = LowerLimits { max_binding_bytes, ..LIMITS };
        let case = conv([2, c, 2, 4], m, 1, PLAIN, true, Some(UnaryOp::Relu));
        let kernels = check(&case, limits, &oracle::conv(&case));
        assert!(kernels.len() > 1, "{c} {m}: {} dispatch", kernels.len());
    }
    let limits = LowerLimits { max_binding_bytes: 4096, ..LIMITS };
    let case = conv([1, 200, 4, 4], 16, 1, PLAIN, true, None);
    let error = lower(&case.graph, &case.graph.nodes[0], limits).unwrap_err().to_string();
    assert!(error.contains("57600 bytes") && error.contains("4096"), "{error}");
    let case = conv([1, 16, 4, 4], 16, 2, PLAIN, true, None);
    let error = lower(&case.graph, &case.graph.nodes[0], limits).unwrap_err().to_string();
    assert!(error.contains("2 groups"), "{error}");
}

#[test]
fn pooling_matches_the_definition() {
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
            (window([2, 2], [2, 2], [0; 4], [1, 1]), [0, 0]),
            (window([3, 3], [2, 2], [0; 4], [1, 1]), [1, 1]),
            (window([3, 3], [2, 2], [1, 1, 1, 1], [1, 1]), [0, 1]),
            (window([3, 2], [1, 3], [2, 0, 1, 1], [1, 1]), [0, 1]),
            (window([2, 3], [2, 2], [1, 2, 0, 1], [2, 2]), [1, 0]),
            (window([9, 10], [1, 1], [0; 4], [1, 1]), [0, 0]),
        ] {
            let out = [out_len(9, &pool, 0) + extra[0], out_len(10, &pool, 1) + extra[1]];
            let mut case = Case::new(Op::Pool { kind, window: pool });
            case.input(&[2, 3, 9, 10]);
            let case = case.output(&[2, 3, out[0], out[1]]);
            check(&case, LIMITS, &oracle::pool(&case));
        }
    }
    let window = window([1, 4], [1, 3], [0, 1, 0, 1], [1, 1]);
    let mut case = Case::new(Op::Pool { kind: PoolKind::Max, window });
    case.input(&[2, 3, 20]);
    let case = case.output(&[2, 3, out_len(20, &window, 1)]);
    check(&case, LIMITS, &oracle::pool(&case));
}

#[test]
fn matrix_product_follows_numpy() {
    for (a, b, y) in [
        (&[5, 7][..], &[7, 3][..], &[5, 3][..]),
        (&[1, 70], &[70, 9], &[1, 9]),
        (&[7], &[7, 3], &[3]),
        (&[5, 7], &[7], &[5]),
        (&[7], &[7], &[]),
        (&[130, 140], &[140, 129], &[130, 129]),
        (&[2, 5, 7], &[7, 3], &[2, 5, 3]),
        (&[2, 5, 7], &[2, 7, 3], &[2, 5, 3]),
        (&[5, 7], &[4, 7, 3], &[4, 5, 3]),
        (&[2, 1, 5, 7], &[3, 7, 4], &[2, 3, 5, 4]),
        (&[2, 3, 2, 9], &[2, 3, 9, 65], &[2, 3, 2, 65]),
        (&[2, 1, 4, 6, 7], &[3, 1, 7, 5], &[2, 3, 4, 6, 5]),
        (&[7], &[2, 7, 3], &[2, 3]),
        (&[2, 5, 7], &[7], &[2, 5]),
        (&[3, 0], &[0, 6], &[3, 6]),
    ] {
        let case = product(a, b, y);
        check(&case, LIMITS, &oracle::matmul(&case));
    }
}

#[test]
fn large_products_split_over_threads_match() {
    check(
        &product(&[101, 300], &[300, 77], &[101, 77]),
        LIMITS,
        &oracle::matmul(&product(&[101, 300], &[300, 77], &[101, 77])),
    );
    let case = gemm([3, 1100, 700], [1.0, 1.0], [false, true], &[700]);
    assert_eq!(check(&case, LIMITS, &oracle::gemm(&case)), [KernelId::Matvec]);
    let case = gemm([2, 1100, 700], [1.0, 1.0], [false, false], &[700]);
    assert_eq!(check(&case, LIMITS, &oracle::gemm(&case)), [KernelId::Matvec]);
}

#[test]
fn mismatched_shapes_are_refused() {
    for (a, b, y) in [
        (&[5, 7][..], &[6, 3][..], &[5, 3][..]),
        (&[2, 5, 7], &[3, 7, 3], &[3, 5, 3]),
        (&[], &[7, 3], &[3]),
        (&[5, 7], &[7, 3], &[5, 4]),
    ] {
        let case = product(a, b, y);
        assert!(lower(&case.graph, &case.graph.nodes[0], LIMITS).is_err(), "{a:?} {b:?} {y:?}");
    }
    let mut case = Case::new(Op::Conv { window: PLAIN, groups: 2, activation: None });
    case.input(&[1, 3, 5, 5]).constant(&[4, 1, 3, 3]);
    let case = case.output(&[1, 4, 5, 5]);
    assert!(lower(&case.graph, &case.graph.nodes[0], LIMITS).is_err());
}

#[test]
fn gemm_matches_the_definition() {
    for size in [[1, 33, 70], [4, 20, 6], [5, 19, 66], [70, 130, 1], [3, 40, 1]] {
        let [m, _, n] = size;
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            for c in [&[][..], &[n], &[1, n], &[m, 1], &[m, n]] {
                let case = gemm(size, [0.5, -1.5], transposed, c);
                let kernel = if m <= 4 { KernelId::Matvec } else { KernelId::Matmul };
                assert_eq!(
                    check(&case, LIMITS, &oracle::gemm(&case)),
                    [kernel],
                    "{size:?} {transposed:?} {c:?}"
                );
            }
        }
    }
    let mut case =
        Case::new(Op::Gemm { alpha: 2.0, beta: 1.0, trans_a: false, trans_b: true, activation: None });
    case.input(&[6, 8]).constant(&[9, 8]);
    let case = case.output(&[6, 9]);
    check(&case, LIMITS, &oracle::gemm(&case));
}

/// Bias, addend and activation, in one dispatch and in segments of every kind.
#[test]
fn products_add_and_activate_before_they_store() {
    for activation in ACTIVATIONS {
        for (a, b, y, kernel) in [
            (&[5, 7][..], &[7, 3][..], &[5, 3][..], KernelId::Matmul),
            (&[7], &[7, 3], &[3], KernelId::Matvec),
            (&[2, 1, 5, 7], &[3, 7, 4], &[2, 3, 5, 4], KernelId::Matmul),
            (&[2, 3, 2, 9], &[2, 3, 9, 65], &[2, 3, 2, 65], KernelId::Matvec),
        ] {
            let case = product_onto(a, b, y, activation);
            assert_eq!(check(&case, LIMITS, &oracle::matmul(&case)), [kernel], "{a:?} {b:?} {activation:?}");
        }
        let sizes = [([1, 33, 70], 9000), ([6, 100, 24], 9000), ([5, 130, 63], 17_000), ([70, 13, 9], 2048)];
        for (size, max_binding_bytes) in sizes {
            let [m, _, n] = size;
            for transposed in [[false, false], [false, true], [true, false], [true, true]] {
                for c in [&[n][..], &[m, 1], &[m, n]] {
                    let case = gemm_onto(size, transposed, c, activation);
                    let due = oracle::gemm(&case);
                    assert_eq!(check(&case, LIMITS, &due).len(), 1, "{size:?} {transposed:?} {c:?}");
                    if lower(&case.graph, &case.graph.nodes[0], LowerLimits { max_binding_bytes, ..LIMITS })
                        .is_ok()
                    {
                        let limits = LowerLimits { max_binding_bytes, ..LIMITS };
                        assert!(check(&case, limits, &due).len() > 1, "{size:?} {transposed:?} {c:?}");
                    } else {
                        assert_eq!(size, [70, 13, 9], "{transposed:?} {c:?}: the smaller ones are cut");
                    }
                }
            }
        }
    }
}

#[test]
fn constants_over_the_binding_limit_are_bound_in_aligned_segments() {
    let sizes = [([1, 33, 70], 9000), ([6, 100, 24], 9000), ([3, 40, 250], 33_000), ([5, 130, 63], 17_000)];
    for (size, max_binding_bytes) in sizes {
        let limits = LowerLimits { max_binding_bytes, ..LIMITS };
        let [m, _, n] = size;
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            for c in [&[n][..], &[m, 1], &[m, n]] {
                let case = gemm(size, [0.5, 2.0], transposed, c);
                let kernels = check(&case, limits, &oracle::gemm(&case));
                assert!(kernels.len() > 1, "{size:?} {transposed:?}: one dispatch");
            }
        }
    }
    let limits = LowerLimits { max_binding_bytes: 9000, ..LIMITS };
    for (a, b, trans_a) in [([100, 24], [24, 8], false), ([100, 30], [100, 8], true)] {
        let mut case =
            Case::new(Op::Gemm { alpha: 0.5, beta: 2.0, trans_a, trans_b: false, activation: None });
        let m = if trans_a { a[1] } else { a[0] };
        case.constant(&a).constant(&b).constant(&[m, 1]);
        let case = case.output(&[m, 8]);
        let kernels = check(&case, limits, &oracle::gemm(&case));
        assert!(kernels.len() > 1, "{a:?}: one dispatch");
    }
    let limits = LowerLimits { max_binding_bytes: 4096, ..LIMITS };
    let case = gemm([40, 4, 40], [1.0, 1.0], [false, false], &[40, 40]);
    assert!(check(&case, limits, &oracle::gemm(&case)).len() > 1, "c and the output are cut by rows");
    // Rows and columns of the product ask for all of b, ranges of k for all of c.
    let case = gemm([2, 4, 1100], [1.0, 1.0], [false, false], &[2, 1100]);
    let error = lower(&case.graph, &case.graph.nodes[0], LowerLimits { max_binding_bytes: 8192, ..LIMITS });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("17600 bytes") && error.contains("8192"), "{error}");
}
