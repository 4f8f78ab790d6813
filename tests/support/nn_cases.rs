//! One-node networks that between them take every path of the kernels of neural-network layers.

use super::twin::Case;
use sublet::graph::{DType, Gate, GruPart, LstmPart, Op, ReduceKind, Window3};

fn window3(kernel: [usize; 3], strides: [usize; 3], pads: [usize; 6], dilations: [usize; 3]) -> Window3 {
    Window3 { kernel, strides, pads, dilations }
}

fn transposed(x: &[usize], channels: usize, groups: usize, window: Window3, extra: usize) -> Case {
    let rank = x.len() - 2;
    let mut case = Case::new(Op::ConvTranspose { window, groups });
    let kernel = &window.kernel[3 - rank..];
    case.input(x).constant(&[&[x[1], channels / groups], kernel].concat());
    if !channels.is_multiple_of(2) {
        case.constant(&[channels]);
    }
    let out = (0..rank).map(|d| {
        let at = 3 - rank + d;
        let covered =
            (x[2 + d] - 1) * window.strides[at] + (window.kernel[at] - 1) * window.dilations[at] + 1;
        covered + extra - window.pads[at] - window.pads[at + 3]
    });
    case.output(&[&[x[0], channels], &out.collect::<Vec<_>>()[..]].concat())
}

/// Transposed convolutions: every attribute uneven somewhere, 1 to 3 dimensions.
pub fn transposed_convolutions() -> Vec<Case> {
    let up2 = window3([1, 2, 2], [1, 2, 2], [0; 6], [1; 3]);
    let overlap = window3([1, 3, 4], [1, 2, 3], [0, 1, 0, 0, 1, 2], [1; 3]);
    let spread = window3([1, 2, 3], [1, 3, 2], [0, 1, 2, 0, 0, 1], [1, 2, 3]);
    let line = window3([1, 1, 3], [1, 1, 2], [0, 0, 1, 0, 0, 0], [1, 1, 2]);
    let solid = window3([2, 3, 2], [2, 1, 2], [1, 0, 0, 0, 1, 0], [1, 1, 1]);
    vec![
        transposed(&[1, 3, 4, 5], 4, 1, up2, 0),
        transposed(&[2, 5, 4, 5], 7, 1, overlap, 0),
        transposed(&[2, 4, 4, 5], 6, 2, overlap, 1),
        transposed(&[1, 6, 5, 4], 9, 3, spread, 1),
        transposed(&[1, 3, 9], 5, 1, line, 0),
        transposed(&[2, 4, 3, 4, 5], 6, 2, solid, 0),
        transposed(&[1, 1, 1, 1], 1, 1, up2, 3),
        transposed(&[1, 40, 12, 13], 34, 2, up2, 0),
    ]
}

/// A table of `taps` pairs for each of `positions`, with weights that are 0 in places.
fn table(positions: usize, taps: usize, size: usize) -> Vec<f32> {
    let pair = |i: usize| [(i * 7 % size) as f32, [0.5, 0.25, 0.0, -1.5][i % 4]];
    (0..positions * taps).flat_map(pair).collect()
}

fn resampled(x: &[usize], axes: [usize; 2], positions: [usize; 2], taps: [usize; 2], marked: bool) -> Case {
    let mut case = Case::new(Op::Resample { axes, taps, outside: 7.5 });
    case.input(x);
    let mut out = x.to_vec();
    let single = axes[0] == axes[1];
    for i in [0, 1] {
        let size = if i == 1 && single { 1 } else { x[axes[i]] };
        let mut data = table(positions[i], taps[i], size);
        if marked && i == 0 {
            data[2 * taps[i]] = -1.0;
        }
        case.constant_of(&[positions[i], 2 * taps[i]], data);
        if i == 0 || !single {
            out[axes[i]] = positions[i];
        }
    }
    case.output(&out)
}

/// Interpolations along one and two axes, wherever these lie.
pub fn interpolations() -> Vec<Case> {
    vec![
        resampled(&[2, 3, 5, 6], [2, 3], [7, 9], [2, 2], false),
        resampled(&[2, 3, 5, 6], [2, 3], [3, 4], [1, 4], true),
        resampled(&[2, 5, 6, 3], [1, 2], [10, 4], [3, 1], true),
        resampled(&[3, 4, 2, 5], [0, 2], [5, 6], [2, 3], false),
        resampled(&[2, 3, 8], [2, 2], [13, 1], [2, 1], true),
        resampled(&[4, 3, 8], [0, 0], [3, 1], [4, 1], false),
        resampled(&[1, 1, 40, 41], [2, 3], [63, 70], [2, 2], false),
    ]
}

/// Every reduction.
pub const REDUCTIONS: [ReduceKind; 10] = [
    ReduceKind::Sum,
    ReduceKind::Mean,
    ReduceKind::Max,
    ReduceKind::Min,
    ReduceKind::Prod,
    ReduceKind::L1,
    ReduceKind::L2,
    ReduceKind::SumSquare,
    ReduceKind::LogSum,
    ReduceKind::LogSumExp,
];

/// Reductions of floats: one lane and many, elements side by side and apart, none at all.
pub fn reductions() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in REDUCTIONS {
        let shapes: [(&[usize], &[usize], &[usize]); 6] = [
            (&[2, 3, 4, 5], &[2, 3], &[2, 3, 1, 1]),
            (&[5, 6], &[0, 1], &[]),
            (&[9, 40], &[0], &[40]),
            (&[3, 2, 5, 2, 3], &[0, 2, 4], &[1, 2, 1, 2, 1]),
            (&[3, 300], &[1], &[3, 1]),
            (&[2, 0, 3], &[1], &[2, 3]),
        ];
        for (x, axes, out) in shapes {
            let mut case = Case::new(Op::Reduce { kind, axes: axes.to_vec() });
            case.input(x);
            cases.push(case.output(out));
        }
    }
    let steep = [vec![1000.0, 999.0, -1000.0], vec![f32::NEG_INFINITY; 3], vec![f32::INFINITY, 1.0, 2.0]];
    let mut case = Case::new(Op::Reduce { kind: ReduceKind::LogSumExp, axes: vec![1] });
    case.constant_of(&[3, 3], steep.concat());
    cases.push(case.output(&[3]));
    cases
}

/// Reductions of integers.
pub fn int_reductions() -> Vec<Case> {
    let ints = |len: usize| -> Vec<i32> { (0..len as i32).map(|i| (i * 7919 + 3) % 101 - 50).collect() };
    let kinds = REDUCTIONS.into_iter().filter(|kind| {
        !matches!(kind, ReduceKind::L2 | ReduceKind::LogSum | ReduceKind::LogSumExp | ReduceKind::Prod)
    });
    let case = |kind: ReduceKind, shape: &[usize], axes: &[usize], out: &[usize], data: &[i32]| {
        let mut case = Case::new(Op::Reduce { kind, axes: axes.to_vec() });
        case.ints(shape, data);
        case.output_as(out, DType::I32)
    };
    let mut cases = Vec::new();
    for kind in kinds {
        cases.push(case(kind, &[2, 3, 4], &[1], &[2, 4], &ints(24)));
        cases.push(case(kind, &[3, 300], &[1], &[3], &ints(900)));
    }
    cases.push(case(ReduceKind::Prod, &[2, 4], &[1], &[2], &[3, -2, 7, 5, 1, 0, 9, 4]));
    cases
}

/// Normalisations of layers, instances and groups, with and without their factors.
pub fn normalisations() -> Vec<Case> {
    let case = |shape: &[usize], len: usize, repeat: usize, factors: &[usize], centred: bool| {
        let mut case = Case::new(Op::Normalize { len, repeat, epsilon: 1e-3, centred });
        case.input(shape);
        factors.iter().for_each(|len| {
            case.constant(&[*len]);
        });
        case.output(shape)
    };
    vec![
        case(&[2, 3, 10], 10, 1, &[10, 10], true),
        case(&[3, 768], 768, 1, &[768], true),
        case(&[3, 100], 100, 1, &[], true),
        case(&[4, 70], 70, 1, &[70], false),
        case(&[2, 5, 6, 7], 42, 42, &[5, 5], true),
        case(&[2, 6, 3, 4], 36, 12, &[6, 6], true),
        case(&[2, 6, 3, 4], 36, 36, &[2, 2], true),
        case(&[300, 4], 4, 1, &[4, 4], true),
    ]
}

/// Logarithms of softmaxes.
pub fn log_softmaxes() -> Vec<Case> {
    let case = |shape: &[usize], first_axis: usize, last_axis: usize| {
        let mut case = Case::new(Op::LogSoftmax { first_axis, last_axis });
        case.input(shape);
        case.output(shape)
    };
    vec![case(&[3, 10], 1, 2), case(&[2, 300], 1, 2), case(&[2, 20, 30], 1, 2), case(&[2, 3, 4], 1, 3)]
}

/// Rows with a largest element that stands there once and twice.
pub fn hardmaxes() -> Vec<Case> {
    let case = |shape: &[usize], first_axis: usize, last_axis: usize| {
        let mut case = Case::new(Op::Hardmax { first_axis, last_axis });
        let len = shape.iter().product::<usize>();
        case.constant_of(shape, (0..len).map(|i| (i * 7919 % 11) as f32).collect());
        case.output(shape)
    };
    vec![case(&[3, 23], 1, 2), case(&[2, 30, 4], 1, 2), case(&[2, 3, 14], 1, 3), case(&[12, 5], 0, 1)]
}

fn windows_along(input: usize, window: &Window3, d: usize) -> usize {
    let reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
    (input + window.pads[d] + window.pads[d + 3] - reach) / window.strides[d] + 1
}

/// Convolutions over three dimensions.
pub fn solid_convolutions() -> Vec<Case> {
    let case = |x: [usize; 5], channels: usize, groups: usize, window: Window3| {
        let mut case = Case::new(Op::Conv3d { window, groups });
        let [kd, kh, kw] = window.kernel;
        case.input(&x).constant(&[channels, x[1] / groups, kd, kh, kw]);
        if channels.is_multiple_of(2) {
            case.constant(&[channels]);
        }
        let [d, h, w] = [0, 1, 2].map(|d| windows_along(x[2 + d], &window, d));
        case.output(&[x[0], channels, d, h, w])
    };
    let plain = window3([3; 3], [1; 3], [1; 6], [1; 3]);
    let uneven = window3([2, 3, 1], [2, 1, 3], [1, 0, 2, 0, 1, 1], [1, 2, 1]);
    vec![
        case([1, 2, 4, 5, 6], 3, 1, plain),
        case([2, 4, 5, 6, 7], 6, 2, uneven),
        case([1, 3, 4, 4, 4], 3, 3, plain),
    ]
}

/// Indices of largest elements, over 1 to 3 dimensions.
pub fn pool_indices() -> Vec<Case> {
    let case = |x: &[usize], window: Window3, column_major: bool| {
        let mut case = Case::new(Op::MaxPoolIndices { window, column_major });
        // Few numbers, so that many are equal.
        let len = x.iter().product::<usize>();
        case.constant_of(x, (0..len).map(|i| (i * 7919 % 7) as f32 - 3.0).collect());
        let rank = x.len() - 2;
        let out = (0..rank).map(|d| windows_along(x[2 + d], &window, 3 - rank + d));
        case.output_as(&[&x[..2], &out.collect::<Vec<_>>()[..]].concat(), DType::I64)
    };
    let flat = window3([1, 3, 2], [1, 2, 1], [0, 1, 0, 0, 1, 1], [1, 1, 2]);
    let solid = window3([2, 2, 3], [2, 1, 2], [0, 1, 1, 0, 0, 1], [1; 3]);
    vec![
        case(&[2, 3, 7, 8], flat, false),
        case(&[2, 3, 7, 8], flat, true),
        case(&[1, 2, 9], window3([1, 1, 3], [1, 1, 2], [0, 0, 1, 0, 0, 1], [1; 3]), false),
        case(&[2, 2, 4, 5, 6], solid, false),
        case(&[2, 2, 4, 5, 6], solid, true),
    ]
}

/// Every activation of a gate.
pub const GATES: [Gate; 11] = [
    Gate::Sigmoid,
    Gate::Tanh,
    Gate::Relu,
    Gate::Affine { alpha: 0.5, beta: 0.25 },
    Gate::LeakyRelu { alpha: 0.125 },
    Gate::ThresholdedRelu { alpha: 0.5 },
    Gate::ScaledTanh { alpha: 1.5, beta: 0.75 },
    Gate::HardSigmoid { alpha: 0.5, beta: 0.5 },
    Gate::Elu { alpha: 0.75 },
    Gate::Softsign,
    Gate::Softplus,
];

/// Activations, clipped and not.
pub fn gates() -> Vec<Case> {
    let case = |(gate, clip)| {
        let mut case = Case::new(Op::Gate { gate, clip });
        case.input(&[3, 100]);
        case.output(&[3, 100])
    };
    GATES.into_iter().flat_map(|gate| [(gate, 0.0), (gate, 0.375)]).map(case).collect()
}

/// Steps of an LSTM.
pub fn lstm_cells() -> Vec<Case> {
    let case = |part, gates, clip, peephole: bool| {
        let mut case = Case::new(Op::LstmCell { part, gates, clip });
        case.input(&[3, 4 * 30]).input(&[3, 30]);
        if peephole {
            case.constant(&[3 * 30]);
        }
        case.output(&[3, 30])
    };
    let usual = [Gate::Sigmoid, Gate::Tanh, Gate::Tanh];
    let other = [GATES[7], Gate::Softsign, Gate::Elu { alpha: 0.5 }];
    vec![
        case(LstmPart::Cell { coupled: false }, usual, 0.0, false),
        case(LstmPart::Cell { coupled: false }, other, 0.5, true),
        case(LstmPart::Cell { coupled: true }, usual, 0.0, true),
        case(LstmPart::Output, usual, 0.0, false),
        case(LstmPart::Output, other, 0.25, true),
    ]
}

/// Steps of a GRU.
pub fn gru_cells() -> Vec<Case> {
    let case = |part, gates, clip, widths: &[usize]| {
        let mut case = Case::new(Op::GruCell { part, gates, clip });
        widths.iter().for_each(|width| {
            case.input(&[3, width * 30]);
        });
        case.output(&[3, 30])
    };
    let usual = [Gate::Sigmoid, Gate::Tanh];
    let other = [Gate::HardSigmoid { alpha: 0.5, beta: 0.5 }, Gate::Softplus];
    vec![
        case(GruPart::Reset, usual, 0.0, &[2, 1]),
        case(GruPart::Output, other, 0.5, &[2, 1, 1]),
        case(GruPart::LinearBeforeReset, usual, 0.0, &[3, 3, 1]),
        case(GruPart::LinearBeforeReset, other, 0.25, &[3, 3, 1]),
    ]
}
