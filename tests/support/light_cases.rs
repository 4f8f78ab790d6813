//! One-node networks that between them take every path of the light kernels.

use sublet::graph::{BinaryOp, DType, Graph, Op, PadMode, UnaryOp, Value};

/// A network of one node, with data for its inputs.
pub struct Case {
    pub graph: Graph,
    pub inputs: Vec<Vec<f32>>,
}

impl Case {
    pub fn new(op: Op, inputs: &[(&[usize], Vec<f32>)], out_shape: &[usize]) -> Self {
        let mut graph = Graph::new(format!("{op:?} of {:?}", inputs.iter().map(|i| i.0).collect::<Vec<_>>()));
        for (i, (shape, data)) in inputs.iter().enumerate() {
            let id = graph.value(Value::f32(format!("x{i}"), *shape));
            assert_eq!(graph.get(id).len(), data.len());
            graph.inputs.push(id);
        }
        let out = graph.value(Value::f32("out", out_shape));
        graph.outputs.push(out);
        graph.node("node", op, graph.inputs.clone(), vec![out]);
        Case { graph, inputs: inputs.iter().map(|(_, data)| data.clone()).collect() }
    }

    /// Of any element types: inputs as words, and the output's type and shape.
    pub fn typed(op: Op, inputs: &[(DType, &[usize], Vec<f32>)], output: (DType, &[usize])) -> Self {
        let plain: Vec<_> = inputs.iter().map(|(_, shape, words)| (*shape, words.clone())).collect();
        let mut case = Case::new(op, &plain, output.1);
        for (id, (dtype, ..)) in case.graph.inputs.iter().zip(inputs) {
            case.graph.values[id.index()].dtype = *dtype;
        }
        case.graph.values[case.graph.outputs[0].index()].dtype = output.0;
        let types: Vec<String> = inputs.iter().map(|(dtype, ..)| dtype.to_string()).collect();
        case.graph.name = format!("{} ({} to {})", case.graph.name, types.join(", "), output.0);
        case
    }

    /// With made-up data.
    fn of(op: Op, shapes: &[&[usize]], out_shape: &[usize]) -> Self {
        let inputs: Vec<_> =
            shapes.iter().enumerate().map(|(i, s)| (*s, data(s.iter().product(), i as u64))).collect();
        Case::new(op, &inputs, out_shape)
    }
}

/// Numbers in -2..2, a few of them 0, the same on every machine.
pub fn data(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x2545_F491_4F6C_DD1D);
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 40) % 401) as f32 / 100.0 - 2.0
        })
        .collect()
}

fn positive(len: usize, seed: u64) -> Vec<f32> {
    data(len, seed).into_iter().map(|v| v.abs() + 0.25).collect()
}

pub fn unary() -> Vec<Case> {
    let signed = [
        UnaryOp::Relu,
        UnaryOp::LeakyRelu { alpha: 0.1 },
        UnaryOp::Clip { min: -0.5, max: 1.5 },
        UnaryOp::Clip { min: f32::MIN, max: 0.5 },
        UnaryOp::Clip { min: 0.5, max: f32::MAX },
        UnaryOp::Clip { min: 1.0, max: -1.0 },
        UnaryOp::Sigmoid,
        UnaryOp::Tanh,
        UnaryOp::HardSigmoid { alpha: 0.2, beta: 0.5 },
        UnaryOp::HardSwish,
        UnaryOp::Neg,
    ];
    let wide: Vec<f32> = [
        0.0, 1e-30, 1e-6, -1e-4, 0.01, 0.2, -0.2499, 0.25, -0.2501, 0.7, 1.0, -3.0, 4.0, 9.0, 20.0, -40.0,
        89.0, -89.0, 104.0, 1000.0, -1000.0, 1e30, -1e30,
    ]
    .to_vec();
    let mut cases: Vec<Case> = Vec::new();
    for op in signed {
        cases.push(Case::new(Op::Unary(op), &[(&[wide.len()], wide.clone())], &[wide.len()]));
        cases.push(Case::of(Op::Unary(op), &[&[2, 3, 50]], &[2, 3, 50]));
    }
    cases.push(Case::of(Op::Unary(UnaryOp::Exp), &[&[7, 41]], &[7, 41]));
    cases.push(Case::new(Op::Unary(UnaryOp::Sqrt), &[(&[300], positive(300, 1))], &[300]));
    cases.push(Case::new(Op::Unary(UnaryOp::Sqrt), &[(&[2], vec![0.0, 1e-20])], &[2]));
    cases.push(Case::new(Op::Unary(UnaryOp::Reciprocal), &[(&[300], positive(300, 2))], &[300]));
    cases.push(Case::of(Op::Unary(UnaryOp::Relu), &[&[]], &[]));
    cases.push(Case::of(Op::Unary(UnaryOp::Relu), &[&[3, 0]], &[3, 0]));
    cases
}

/// Functions whose results are near 0 somewhere, where only an absolute difference says something.
pub fn smooth() -> Vec<Case> {
    let everywhere = [
        UnaryOp::Abs,
        UnaryOp::Floor,
        UnaryOp::Ceil,
        UnaryOp::Round,
        UnaryOp::Sign,
        UnaryOp::Erf,
        UnaryOp::Softplus,
        UnaryOp::Softsign,
        UnaryOp::Elu { alpha: 1.5 },
        UnaryOp::Selu { alpha: 1.67, gamma: 1.05 },
        UnaryOp::Celu { alpha: 0.5 },
        UnaryOp::ThresholdedRelu { alpha: 0.7 },
        UnaryOp::Mish,
        UnaryOp::Gelu { tanh: false },
        UnaryOp::Gelu { tanh: true },
        UnaryOp::Shrink { lambda: 0.5, bias: 0.25 },
        UnaryOp::Sin,
        UnaryOp::Cos,
        UnaryOp::Atan,
        UnaryOp::Sinh,
        UnaryOp::Cosh,
        UnaryOp::Asinh,
    ];
    let mut wide: Vec<f32> = (-120..=120).map(|i| i as f32 * 0.0625).collect();
    wide.extend([0.3, -0.3, 2.6, 1e-3, -1e-3, 0.499, 0.501, 2.5, -2.5, 30.0, -30.0, 60.0]);
    let case = |op, data: Vec<f32>| Case::new(Op::Unary(op), &[(&[data.len()], data.clone())], &[data.len()]);
    let mut cases: Vec<Case> = everywhere.into_iter().map(|op| case(op, wide.clone())).collect();
    let inside: Vec<f32> = (-40..=40).map(|i| i as f32 * 0.024).collect();
    let open = inside.clone();
    for op in [UnaryOp::Asin, UnaryOp::Acos] {
        cases.push(case(op, [&inside[..], &[1.0, -1.0]].concat()));
    }
    cases.push(case(UnaryOp::Atanh, open.clone()));
    cases.push(case(UnaryOp::Tan, open));
    cases.push(case(UnaryOp::Acosh, (0..200).map(|i| 1.0 + i as f32 * 0.05).collect()));
    cases.push(case(UnaryOp::Log, (1..200).map(|i| i as f32 * 0.05).collect()));
    cases.push(case(UnaryOp::Log, vec![1e-30, 1e30, 1e-3]));
    // NaN and minus infinity on every driver.
    cases.push(case(UnaryOp::Log, vec![-1.0, -1e-30, -1e30, 0.0, -0.0, 2.0]));
    cases
}

pub fn binary() -> Vec<Case> {
    let shapes: &[(&[usize], &[usize], &[usize])] = &[
        (&[], &[], &[]),
        (&[5], &[], &[5]),
        (&[], &[2, 3], &[2, 3]),
        (&[2, 3, 4], &[2, 3, 4], &[2, 3, 4]),
        (&[2, 3, 4, 5], &[3, 1, 1], &[2, 3, 4, 5]),
        (&[3, 1, 5], &[2, 1, 4, 1], &[2, 3, 4, 5]),
        (&[2, 1], &[1, 300], &[2, 300]),
        (&[2, 3, 1, 1], &[2, 3, 9, 9], &[2, 3, 9, 9]),
        (&[1, 1, 4], &[2, 1, 4], &[2, 3, 4]),
        (&[2, 1, 2, 1, 2, 1, 2, 1], &[1, 3, 1, 2, 1, 2, 1, 2], &[2, 3, 2, 2, 2, 2, 2, 2]),
        (&[2, 1, 2, 1, 3, 2, 1, 2, 2], &[3, 1, 2, 3, 1, 2, 1, 1], &[2, 3, 2, 2, 3, 2, 2, 2, 2]),
        (&[0, 3], &[3], &[0, 3]),
    ];
    let mut cases = Vec::new();
    let remainder = BinaryOp::Mod { truncated: true };
    use BinaryOp::{Add, Div, Max, Min, Mul, Prelu, Sub};
    for op in [Add, Sub, Mul, Div, Prelu, Min, Max, remainder] {
        for (a, b, out) in shapes {
            let (a_len, b_len) = (a.iter().product(), b.iter().product());
            let quotient = op == BinaryOp::Div || op == remainder;
            let b_data = if quotient { positive(b_len, 3) } else { data(b_len, 3) };
            cases.push(Case::new(Op::Binary(op), &[(a, data(a_len, 4)), (b, b_data)], out));
        }
    }
    cases.extend(pow());
    let (sum, out): (&[&[usize]], &[usize]) = (&[&[2, 3], &[3], &[2, 1], &[]], &[2, 3]);
    for inputs in 1..=4 {
        cases.push(Case::of(Op::Sum, &sum[..inputs], out));
    }
    cases.push(Case::of(Op::Sum, &[&[1, 3]], &[4, 3]));
    cases
}

/// Every sign rule: all bases under each exponent.
fn pow() -> impl Iterator<Item = Case> {
    let bases = [0.0, 0.5, 1.0, 1.5, 2.0, 3.7, -0.5, -1.0, -1.5, -3.0];
    let exponents = [
        0.0, 1.0, 2.0, 3.0, 4.0, 8.0, 9.0, 10.0, 11.0, -1.0, -2.0, -3.0, -9.0, -10.0, 0.5, 1.5, -0.5, 0.333,
        2.5, 8.5,
    ];
    exponents.into_iter().map(move |exponent| {
        let op = Op::Binary(BinaryOp::Pow);
        Case::new(op, &[(&[bases.len()], bases.to_vec()), (&[], vec![exponent])], &[bases.len()])
    })
}

pub fn moves() -> Vec<Case> {
    let transpose = |perm: &[usize], shape: &[usize]| {
        let out: Vec<usize> = perm.iter().map(|p| shape[*p]).collect();
        Case::of(Op::Transpose { perm: perm.to_vec() }, &[shape], &out)
    };
    let slice = |shape: &[usize], starts: &[i64], steps: &[i64], out: &[usize]| {
        Case::of(Op::Slice { starts: starts.to_vec(), steps: steps.to_vec() }, &[shape], out)
    };
    vec![
        Case::of(Op::Copy, &[&[2, 3, 4]], &[4, 6]),
        Case::of(Op::Copy, &[&[1, 1]], &[]),
        Case::of(Op::Copy, &[&[700]], &[7, 100]),
        transpose(&[1, 0], &[5, 7]),
        transpose(&[], &[]),
        transpose(&[0, 2, 3, 1], &[2, 3, 4, 5]),
        transpose(&[0, 3, 1, 2], &[2, 3, 4, 5]),
        transpose(&[0, 2, 1, 3], &[2, 3, 4, 300]),
        transpose(&[3, 2, 1, 0], &[2, 3, 1, 4]),
        transpose(&[7, 6, 5, 4, 3, 2, 1, 0], &[2, 3, 2, 2, 1, 2, 3, 2]),
        transpose(&[1, 2, 8, 7, 6, 5, 4, 3, 0], &[2, 2, 2, 2, 2, 2, 2, 2, 2]),
        slice(&[10], &[2], &[3], &[3]),
        slice(&[10], &[9], &[-1], &[10]),
        slice(&[10], &[8], &[-4], &[3]),
        slice(&[4, 6], &[1, 5], &[2, -2], &[2, 3]),
        slice(&[4, 6, 5], &[0, 2, 0], &[1, 1, 1], &[4, 3, 5]),
        slice(&[4, 6, 5], &[3, 0, 4], &[-1, 1, i64::MIN], &[4, 6, 1]),
        slice(&[4, 6], &[0, 6], &[1, 1], &[4, 0]),
        Case::of(Op::Concat { axis: 0 }, &[&[2, 3], &[1, 3], &[4, 3]], &[7, 3]),
        Case::of(Op::Concat { axis: 1 }, &[&[2, 3, 4], &[2, 1, 4], &[2, 0, 4], &[2, 2, 4]], &[2, 6, 4]),
        Case::of(Op::Concat { axis: 2 }, &[&[2, 3, 1], &[2, 3, 300]], &[2, 3, 301]),
        Case::of(Op::Concat { axis: 0 }, &[&[5]], &[5]),
        Case::of(Op::Concat { axis: 0 }, &[&[0], &[5]], &[5]),
        Case::of(Op::Expand, &[&[3, 1]], &[2, 3, 4]),
        Case::of(Op::Expand, &[&[]], &[300]),
        Case::of(Op::Expand, &[&[1, 3, 1, 2]], &[4, 3, 5, 2]),
    ]
}

pub fn pads() -> Vec<Case> {
    let pad = |mode: PadMode, shape: &[usize], before: &[i64], out: &[usize]| {
        Case::of(Op::Pad { mode, before: before.to_vec() }, &[shape], out)
    };
    let mut cases = Vec::new();
    for mode in [PadMode::Constant(-7.5), PadMode::Reflect, PadMode::Edge, PadMode::Wrap] {
        cases.extend([
            pad(mode, &[], &[], &[]),
            pad(mode, &[5], &[2], &[9]),
            pad(mode, &[5], &[-2], &[3]),
            pad(mode, &[5], &[-1], &[6]),
            pad(mode, &[5], &[3], &[6]),
            pad(mode, &[3], &[8], &[19]),
            pad(mode, &[1], &[2], &[5]),
            pad(mode, &[2, 3, 4, 5], &[0, 0, 1, 2], &[2, 3, 7, 8]),
            pad(mode, &[2, 3, 4, 5], &[0, 1, 0, 0], &[2, 5, 4, 5]),
            pad(mode, &[2, 3, 4, 5], &[1, 0, -1, 0], &[3, 3, 5, 4]),
            pad(mode, &[2, 1, 2, 2, 1, 2, 1, 2], &[1, 0, 1, 0, 1, 0, 1, -1], &[3, 1, 4, 2, 2, 3, 3, 2]),
            pad(mode, &[20, 30], &[1, 1], &[22, 32]),
        ]);
    }
    let zero = PadMode::Constant(0.5);
    cases.push(pad(zero, &[2, 0], &[0, 1], &[2, 3]));
    cases.push(pad(zero, &[4], &[-4], &[2]));
    cases.push(pad(zero, &[4], &[-4], &[0]));
    cases
}

pub fn norms() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in [&[2, 3, 4, 5][..], &[2, 3], &[1, 3, 300], &[2, 3, 2, 2, 2]] {
        let statistics: Vec<(&[usize], Vec<f32>)> = vec![
            (shape, data(shape.iter().product(), 5)),
            (&[3], data(3, 6)),
            (&[3], data(3, 7)),
            (&[3], data(3, 8)),
            (&[3], positive(3, 9)),
        ];
        cases.push(Case::new(Op::BatchNormalization { epsilon: 1e-3 }, &statistics, shape));
    }
    let mean = |axes: &[usize], shape: &[usize], out: &[usize]| {
        Case::of(Op::ReduceMean { axes: axes.to_vec() }, &[shape], out)
    };
    cases.extend([
        mean(&[2, 3], &[2, 3, 4, 5], &[2, 3, 1, 1]),
        mean(&[2, 3], &[2, 3, 7, 7], &[2, 3]),
        mean(&[0, 1], &[5, 6], &[]),
        mean(&[0], &[9, 40], &[40]),
        mean(&[1], &[2, 20, 3], &[2, 1, 3]),
        mean(&[0, 2], &[5, 4, 7], &[4]),
        mean(&[0, 2, 4], &[3, 2, 5, 2, 3], &[1, 2, 1, 2, 1]),
        mean(&[], &[2, 3], &[2, 3]),
        mean(&[1], &[3, 1000], &[3]),
        mean(&[0], &[3, 5000], &[1, 5000]),
        mean(&[1], &[3, 0], &[3]),
        mean(&[0], &[0, 300], &[300]),
    ]);
    let softmax = |axes: std::ops::Range<usize>, shape: &[usize]| {
        Case::of(Op::Softmax { first_axis: axes.start, last_axis: axes.end }, &[shape], shape)
    };
    cases.extend([
        softmax(1..2, &[2, 10]),
        softmax(1..2, &[3, 1000]),
        softmax(0..2, &[3, 17]),
        softmax(1..4, &[2, 3, 4, 5]),
        softmax(1..2, &[2, 20, 5]),
        softmax(1..2, &[2, 4, 300]),
        softmax(0..1, &[6, 3]),
        softmax(0..1, &[1]),
        softmax(1..1, &[2, 3]),
        softmax(2..3, &[40, 7, 9]),
    ]);
    let steep = vec![1000.0, 999.0, -1000.0, 0.0, 88.0, -1e30];
    cases.push(Case::new(Op::Softmax { first_axis: 0, last_axis: 1 }, &[(&[6], steep)], &[6]));
    for size in [1, 2, 3, 4, 5, 20] {
        let op = Op::Lrn { size, alpha: 0.3, beta: 0.75, bias: 1.0 };
        cases.push(Case::of(op, &[&[2, 7, 3, 5]], &[2, 7, 3, 5]));
    }
    cases.push(Case::of(Op::Lrn { size: 3, alpha: 1e-4, beta: 0.5, bias: 2.0 }, &[&[1, 4]], &[1, 4]));
    cases.push(Case::of(
        Op::Lrn { size: 5, alpha: 1.0, beta: 1.5, bias: 1.0 },
        &[&[1, 3, 300]],
        &[1, 3, 300],
    ));
    cases
}
