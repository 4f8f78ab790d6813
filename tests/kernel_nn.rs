//! Kernels of neural-network layers: the twins, through the lowering, against the plainest loops.

mod support;

use support::cases::LIMITS;
use support::twin::{Case, run_twins};
use support::{nn_cases, nn_oracle};

use sublet::graph::{DType, Op, ReduceKind, Window3, word_int};
use sublet::kernel::{KernelId, lower};

/// Compares cases with the oracle; the twins compute in f32, the oracle in f64.
#[track_caller]
fn check(cases: &[Case], kernel: KernelId, relative: f64) {
    for case in cases {
        let expected = nn_oracle::eval(case);
        let (got, kernels) = run_twins(case, LIMITS);
        assert!(!kernels.is_empty() && kernels.iter().all(|k| *k == kernel), "{kernels:?}");
        assert_eq!(got.len(), expected.len());
        let scale = expected.iter().filter(|e| e.is_finite()).fold(1.0f64, |m, e| m.max(e.abs()));
        for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
            let (got, allowed) = (f64::from(*got), relative * scale);
            let same = got == *expected || (got.is_nan() && expected.is_nan());
            let near = (got - expected).abs() <= allowed;
            assert!(same || near, "{:?}: element {i}: {got}, expected {expected}", case.op());
        }
    }
}

#[track_caller]
fn refused(case: &Case, reason: &str) {
    let error = lower(&case.graph, &case.graph.nodes[0], LIMITS).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[test]
fn transposed_convolution_matches_the_definition() {
    check(&nn_cases::transposed_convolutions(), KernelId::ConvTranspose, 1e-5);
}

#[test]
fn interpolation_matches_its_tables() {
    check(&nn_cases::interpolations(), KernelId::Resample, 1e-6);
}

#[test]
fn reductions_match_their_definitions() {
    check(&nn_cases::reductions(), KernelId::Reduce, 2e-6);
}

/// Compares words as integers.
#[track_caller]
fn check_ints(case: &Case, expected: &[i32]) {
    let found: Vec<i32> = run_twins(case, LIMITS).0.into_iter().map(word_int).collect();
    assert_eq!(found, expected, "{:?}", case.op());
}

#[test]
fn reductions_of_integers_are_exact() {
    for case in nn_cases::int_reductions() {
        let expected: Vec<i32> = nn_oracle::eval(&case).into_iter().map(|v| v as i32).collect();
        check_ints(&case, &expected);
    }
    let of_none = |kind: ReduceKind, dtype: DType, expected: i32| {
        let mut case = Case::new(Op::Reduce { kind, axes: vec![0] });
        case.ints(&[0, 2], &[]);
        check_ints(&case.output_as(&[2], dtype), &[expected; 2]);
    };
    of_none(ReduceKind::Max, DType::I32, i32::MIN);
    of_none(ReduceKind::Max, DType::U8, 0);
    of_none(ReduceKind::Min, DType::Bool, 1);
    of_none(ReduceKind::Prod, DType::I64, 1);
    let mut case = Case::new(Op::Reduce { kind: ReduceKind::L2, axes: vec![0] });
    case.ints(&[2], &[3, 4]);
    refused(&case.output_as(&[], DType::I32), "not computed of integers");
}

#[test]
fn normalisations_match_their_definitions() {
    check(&nn_cases::normalisations(), KernelId::Normalize, 1e-5);
    check(&nn_cases::log_softmaxes(), KernelId::Softmax, 1e-6);
}

#[test]
fn recurrent_cells_match_their_equations() {
    check(&nn_cases::gates(), KernelId::Gate, 1e-6);
    check(&nn_cases::lstm_cells(), KernelId::LstmCell, 1e-6);
    check(&nn_cases::gru_cells(), KernelId::GruCell, 1e-6);
}

#[test]
fn the_first_of_the_largest_is_one() {
    for case in nn_cases::hardmaxes() {
        let Op::Hardmax { first_axis, last_axis } = *case.op() else { panic!("{:?}", case.op()) };
        let found: Vec<f64> = run_twins(&case, LIMITS).0.into_iter().map(f64::from).collect();
        assert_eq!(found, nn_oracle::hardmax(&case, first_axis..last_axis));
    }
}

#[test]
fn convolution_over_three_dimensions_matches_the_definition() {
    check(&nn_cases::solid_convolutions(), KernelId::Conv3d, 1e-5);
}

#[test]
fn indices_of_pools_point_at_the_largest() {
    for case in nn_cases::pool_indices() {
        check_ints(&case, &nn_oracle::max_pool_indices(&case));
    }
}

#[test]
fn misfits_are_refused_with_a_reason() {
    let window = Window3 { kernel: [1, 2, 2], strides: [1, 2, 2], pads: [0; 6], dilations: [1; 3] };
    let mut case = Case::new(Op::ConvTranspose { window, groups: 2 });
    case.input(&[1, 3, 2, 2]).constant(&[3, 2, 2, 2]);
    refused(&case.output(&[1, 4, 4, 4]), "2 groups");
    let still = Window3 { strides: [1, 0, 2], ..window };
    let mut case = Case::new(Op::ConvTranspose { window: still, groups: 1 });
    case.input(&[1, 3, 2, 2]).constant(&[3, 2, 2, 2]);
    refused(&case.output(&[1, 2, 4, 4]), "stride 0");
    let resample = Op::Resample { axes: [1, 1], taps: [1, 1], outside: 0.0 };
    for (pair, reason) in [([2.0, 1.0], "reads element 2 of 2"), ([f32::NAN, 1.0], "reads element NaN")] {
        let mut case = Case::new(resample.clone());
        case.input(&[3, 2]).constant_of(&[1, 2], pair.to_vec()).constant_of(&[1, 2], vec![0.0, 1.0]);
        refused(&case.output(&[3, 1]), reason);
    }
    let normalize = |len, repeat| Op::Normalize { len, repeat, epsilon: 0.0, centred: true };
    let mut case = Case::new(normalize(4, 1));
    case.input(&[2, 3]);
    refused(&case.output(&[2, 3]), "runs of 4 of 6");
    let mut case = Case::new(normalize(3, 1));
    case.input(&[2, 3]).constant(&[3]).constant(&[2]);
    refused(&case.output(&[2, 3]), "2 elements for 3 channels");
    let mut case = Case::new(resample);
    case.input(&[3, 2]).input(&[1, 2]).constant_of(&[1, 2], vec![0.0, 1.0]);
    refused(&case.output(&[3, 1]), "no constant");
}
