//! One-node networks that between them take every path of the kernels of integers, indices and order.

use super::light_cases::{Case, data};
use sublet::graph::{BinaryOp, DType, Op, Reduction, UnaryOp, int_word};

/// Words of integers.
pub fn ints(list: &[i32]) -> Vec<f32> {
    list.iter().map(|int| int_word(*int)).collect()
}

/// Integers in `low..high`, the same on every machine.
fn drawn(len: usize, seed: u64, low: i32, high: i32) -> Vec<f32> {
    let number = |x: f32| int_word(low + ((x + 2.0) * 100.0) as i32 % (high - low));
    data(len, seed).into_iter().map(number).collect()
}

const I: DType = DType::I32;
const F: DType = DType::F32;
const EDGES: [i32; 10] = [0, 1, -1, 7, -7, 255, -128, 40_000, i32::MAX, i32::MIN];

pub fn unary() -> Vec<Case> {
    let ops = [
        UnaryOp::Neg,
        UnaryOp::Abs,
        UnaryOp::Sign,
        UnaryOp::Not,
        UnaryOp::BitwiseNot,
        UnaryOp::ClipInt { min: -5, max: 300 },
        UnaryOp::Relu,
    ];
    let types = [I, DType::I8, DType::U8, DType::I16, DType::U16, DType::Bool, DType::I64];
    let mut cases = Vec::new();
    for op in ops {
        for dtype in types {
            cases.push(Case::typed(Op::Unary(op), &[(dtype, &[10], ints(&EDGES))], (dtype, &[10])));
        }
    }
    let odd = vec![f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -1.5, f32::MAX];
    for op in [
        UnaryOp::IsNan,
        UnaryOp::IsInf { positive: true, negative: true },
        UnaryOp::IsInf { positive: true, negative: false },
        UnaryOp::IsInf { positive: false, negative: true },
    ] {
        cases.push(Case::typed(Op::Unary(op), &[(F, &[7], odd.clone())], (DType::Bool, &[7])));
    }
    cases
}

pub fn casts() -> Vec<Case> {
    let floats = vec![
        0.0,
        -0.0,
        0.9,
        -0.9,
        1.5,
        -1.5,
        300.7,
        -129.2,
        65_537.0,
        1e-8,
        6e-8,
        3.1e-5,
        6.1e-5,
        0.1,
        1.000_488_3,
        1.001_464_8,
        65_519.0,
        65_520.0,
        1e30,
        -1e30,
    ];
    let len = floats.len();
    let mut cases = Vec::new();
    let types = [I, DType::I64, DType::I8, DType::U8, DType::I16, DType::U16, DType::Bool, F];
    for to in types.into_iter().chain([DType::F16, DType::BF16, DType::F64]) {
        cases.push(Case::typed(Op::Cast, &[(F, &[len], floats.clone())], (to, &[len])));
        cases.push(Case::typed(Op::Cast, &[(I, &[10], ints(&EDGES))], (to, &[10])));
    }
    cases
}

pub fn binary() -> Vec<Case> {
    use BinaryOp::*;
    let pairs: Vec<(i32, i32)> = EDGES.iter().flat_map(|a| EDGES.iter().map(move |b| (*a, *b))).collect();
    let (a, b): (Vec<i32>, Vec<i32>) = pairs.into_iter().unzip();
    let (truncated, floored) = (Mod { truncated: true }, Mod { truncated: false });
    let mut cases = Vec::new();
    for op in [Add, Sub, Mul, Div, Pow, Prelu, Min, Max, truncated, floored, And, Or, Xor] {
        for dtype in [I, DType::I8, DType::U8, DType::I16, DType::U16] {
            let inputs: [(DType, &[usize], _); 2] = [(dtype, &[100], ints(&a)), (dtype, &[100], ints(&b))];
            cases.push(Case::typed(Op::Binary(op), &inputs, (dtype, &[100])));
        }
    }
    let shifts = [0, 1, 5, 31, 32, -1];
    for op in [ShiftLeft, ShiftRight] {
        for dtype in [I, DType::U8] {
            let inputs: [(DType, &[usize], _); 2] =
                [(dtype, &[10, 1], ints(&EDGES)), (dtype, &[6], ints(&shifts))];
            cases.push(Case::typed(Op::Binary(op), &inputs, (dtype, &[10, 6])));
        }
    }
    let odd = vec![0.0, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY];
    for op in [Equal, Less, Greater, LessOrEqual, GreaterOrEqual] {
        let of = |dtype, len: usize, data: &[f32]| {
            let inputs: [(DType, &[usize], _); 2] =
                [(dtype, &[len, 1], data.to_vec()), (dtype, &[len], data.to_vec())];
            Case::typed(Op::Binary(op), &inputs, (DType::Bool, &[len, len]))
        };
        cases.push(of(F, 6, &odd));
        cases.push(of(I, 10, &ints(&EDGES)));
    }
    let sum: [(DType, &[usize], _); 3] =
        [(I, &[2, 3], ints(&[1, 2, 3, 4, 5, 6])), (I, &[3], ints(&[10, 20, 30])), (I, &[], ints(&[100]))];
    cases.push(Case::typed(Op::Sum, &sum, (I, &[2, 3])));
    cases
}

pub fn choices() -> Vec<Case> {
    let of = |shapes: [&[usize]; 3], dtype, out: &[usize]| {
        let len = |k: usize| shapes[k].iter().product::<usize>();
        let words = |k: usize, seed| match dtype {
            I => drawn(len(k), seed, -50, 50),
            _ => data(len(k), seed),
        };
        let inputs = [
            (DType::Bool, shapes[0], drawn(len(0), 1, 0, 2)),
            (dtype, shapes[1], words(1, 2)),
            (dtype, shapes[2], words(2, 3)),
        ];
        Case::typed(Op::Select, &inputs, (dtype, out))
    };
    vec![
        of([&[7], &[7], &[7]], F, &[7]),
        of([&[2, 1, 4], &[3, 1], &[2, 3, 4]], F, &[2, 3, 4]),
        of([&[], &[5], &[3, 1]], I, &[3, 5]),
        of([&[300], &[], &[]], F, &[300]),
        of([&[2, 3, 1, 1], &[1, 5], &[4, 1]], I, &[2, 3, 4, 5]),
    ]
}

pub fn gathers() -> Vec<Case> {
    let of = |op: Op, x: &[usize], indices: (&[usize], Vec<f32>), out: &[usize]| {
        let words = data(x.iter().product(), 1);
        Case::typed(op, &[(F, x, words), (DType::I64, indices.0, indices.1)], (F, out))
    };
    let along = |axis| Op::Gather { axis };
    let elements = |axis| Op::GatherElements { axis };
    let places = |batch_dims| Op::GatherNd { batch_dims };
    vec![
        of(along(0), &[5, 4], (&[3], ints(&[4, 0, -1])), &[3, 4]),
        of(along(1), &[2, 5, 3], (&[2, 2], ints(&[0, -5, 4, 2])), &[2, 2, 2, 3]),
        of(along(2), &[2, 3, 6], (&[], ints(&[-2])), &[2, 3]),
        of(along(0), &[400, 9], (&[70], drawn(70, 2, -400, 400)), &[70, 9]),
        of(elements(1), &[3, 4], (&[3, 2], ints(&[0, 3, -1, -4, 2, 2])), &[3, 2]),
        of(elements(0), &[3, 4, 2], (&[5, 2, 2], drawn(20, 3, -3, 3)), &[5, 2, 2]),
        of(elements(2), &[2, 2, 300], (&[2, 2, 301], drawn(1204, 4, -300, 300)), &[2, 2, 301]),
        of(places(0), &[3, 4], (&[2, 2], ints(&[0, -1, 2, 1])), &[2]),
        of(places(0), &[3, 4, 5], (&[2, 1], ints(&[1, -3])), &[2, 4, 5]),
        of(places(1), &[2, 3, 4], (&[2, 3, 1], ints(&[0, 1, 2, -1, -2, -3])), &[2, 3, 4]),
        of(places(1), &[2, 3, 4], (&[2, 2, 2], ints(&[0, 1, 2, 3, -1, 0, 1, -4])), &[2, 2]),
        of(places(2), &[2, 3, 4], (&[2, 3, 1], ints(&[0, 1, 2, 3, -1, -4])), &[2, 3]),
    ]
}

pub fn scatters() -> Vec<Case> {
    let of = |op: Op, dtype: DType, x: &[usize], indices: (&[usize], Vec<f32>), updates: &[usize]| {
        let words = |len: usize, seed| match dtype {
            F => data(len, seed),
            _ => drawn(len, seed, -9, 9),
        };
        let (x_len, updates_len) = (x.iter().product(), updates.iter().product());
        let inputs = [
            (dtype, x, words(x_len, 5)),
            (DType::I64, indices.0, indices.1),
            (dtype, updates, words(updates_len, 6)),
        ];
        Case::typed(op, &inputs, (dtype, x))
    };
    let mut cases = Vec::new();
    use Reduction::*;
    for reduction in [Replace, Add, Mul, Min, Max] {
        for dtype in [F, I] {
            let elements = |axis| Op::ScatterElements { axis, reduction };
            let places = Op::ScatterNd { reduction };
            cases.extend([
                of(elements(0), dtype, &[3, 3], (&[2, 3], ints(&[1, 0, 2, 0, -1, 1])), &[2, 3]),
                of(elements(1), dtype, &[2, 6, 3], (&[2, 9, 2], drawn(36, 7, -6, 6)), &[2, 9, 2]),
                of(elements(0), dtype, &[5], (&[4], ints(&[1, 1, -4, 1])), &[4]),
                of(places.clone(), dtype, &[8], (&[4, 1], ints(&[4, 3, 4, -1])), &[4]),
                of(places.clone(), dtype, &[4, 3, 2], (&[3, 1], ints(&[0, -2, 0])), &[3, 3, 2]),
                of(places.clone(), dtype, &[4, 300], (&[2, 1], ints(&[3, 1])), &[2, 300]),
                of(places, dtype, &[3, 4], (&[2, 2, 2], ints(&[0, 1, 2, 3, 0, 1, 1, -1])), &[2, 2]),
            ]);
        }
    }
    cases
}

pub fn orders() -> Vec<Case> {
    let mut cases = Vec::new();
    let shapes: [(&[usize], usize); 5] =
        [(&[9], 0), (&[3, 8], 1), (&[7, 2], 0), (&[2, 5, 3], 1), (&[2, 300], 1)];
    for (shape, axis) in shapes {
        for dtype in [F, I] {
            let len = shape.iter().product();
            let words = if dtype == F { data(len, 8) } else { drawn(len, 8, -4, 4) };
            let x = [(dtype, shape, words)];
            for largest in [true, false] {
                let mut few = shape.to_vec();
                few[axis] = few[axis].min(4);
                for indices in [true, false] {
                    let out = if indices { DType::I64 } else { dtype };
                    cases.push(Case::typed(Op::TopK { axis, largest, indices }, &x, (out, &few)));
                }
                let mut one = shape.to_vec();
                one[axis] = 1;
                for last in [true, false] {
                    let op = Op::ArgExtreme { axis, largest, last };
                    cases.push(Case::typed(op, &x, (DType::I64, &one)));
                }
            }
            for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
                let op = Op::CumSum { axis, exclusive, reverse };
                cases.push(Case::typed(op, &x, (dtype, shape)));
            }
        }
    }
    let zeros = vec![0.0, -0.0, -1e-30, 1e-30, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0];
    let op = |indices| Op::TopK { axis: 0, largest: true, indices };
    cases.push(Case::typed(op(true), &[(F, &[8], zeros)], (DType::I64, &[8])));
    cases
}

pub fn marks() -> Vec<Case> {
    let hot = |axis, indices: (&[usize], Vec<f32>), out: &[usize]| {
        let inputs: [(DType, &[usize], _); 2] =
            [(DType::I64, indices.0, indices.1), (F, &[2], vec![-0.5, 2.5])];
        Case::typed(Op::OneHot { axis }, &inputs, (F, out))
    };
    let mut cases = vec![
        hot(1, (&[4], ints(&[0, 2, -1, 7])), &[4, 3]),
        hot(0, (&[2, 2], ints(&[0, -3, 3, 1])), &[3, 2, 2]),
        hot(1, (&[2, 2], ints(&[0, -3, 3, 1])), &[2, 3, 2]),
        hot(0, (&[], ints(&[2])), &[300]),
    ];
    for upper in [true, false] {
        for diagonal in [0, 1, -2, 9, -9] {
            for shape in [&[4, 5][..], &[2, 3, 3], &[1, 4], &[3, 1]] {
                let x = [(F, shape, data(shape.iter().product(), 9))];
                cases.push(Case::typed(Op::Trilu { upper, diagonal }, &x, (F, shape)));
            }
        }
    }
    let reversed = |batch_axis, time_axis, shape: &[usize], lengths: &[i32]| {
        let inputs =
            [(F, shape, data(shape.iter().product(), 10)), (DType::I64, &[lengths.len()][..], ints(lengths))];
        Case::typed(Op::ReverseSequence { batch_axis, time_axis }, &inputs, (F, shape))
    };
    cases.extend([
        reversed(1, 0, &[4, 3], &[4, 1, 2]),
        reversed(0, 1, &[3, 4], &[0, 3, 4]),
        reversed(2, 0, &[5, 2, 2, 3], &[5, 2]),
    ]);
    let tile = |shape: &[usize], out: &[usize]| {
        Case::typed(Op::Tile, &[(F, shape, data(shape.iter().product(), 11))], (F, out))
    };
    cases.extend([
        tile(&[3], &[9]),
        tile(&[2, 3], &[4, 3]),
        tile(&[2, 3, 1], &[2, 9, 4]),
        tile(&[2, 3, 4, 2], &[4, 6, 8, 4]),
        tile(&[], &[]),
    ]);
    cases
}
