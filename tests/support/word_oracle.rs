//! What the operators of integers, indices and order mean: one output element at a time, from their
//! definitions.

use super::light_oracle::Tensor;
use sublet::graph::{BinaryOp, DType, Op, Reduction, UnaryOp};

/// Brings an integer into the range of its type.
fn wrapped(dtype: DType, x: i64) -> f64 {
    match dtype {
        DType::I8 => f64::from(x as i8),
        DType::U8 => f64::from(x as u8),
        DType::I16 => f64::from(x as i16),
        DType::U16 => f64::from(x as u16),
        DType::Bool => f64::from(u8::from(x != 0)),
        _ => f64::from(x as i32),
    }
}

/// Every element of a unary operator or a cast.
pub fn mapped(op: &Op, x: f64, from: DType, to: DType) -> f64 {
    let i = x as i64;
    match op {
        Op::Unary(op) => match op {
            UnaryOp::IsNan => f64::from(u8::from(x.is_nan())),
            UnaryOp::IsInf { positive, negative } => {
                f64::from(u8::from(x.is_infinite() && if x > 0.0 { *positive } else { *negative }))
            }
            UnaryOp::Neg => wrapped(to, -i),
            UnaryOp::Abs => wrapped(to, i.abs()),
            UnaryOp::Sign => wrapped(to, i.signum()),
            UnaryOp::Not => wrapped(to, i64::from(i == 0)),
            UnaryOp::BitwiseNot => wrapped(to, !i),
            UnaryOp::ClipInt { min, max } => wrapped(to, i.max(i64::from(*min)).min(i64::from(*max))),
            UnaryOp::Relu => wrapped(to, i.max(0)),
            other => panic!("{} of integers", other.name()),
        },
        _ => match (from.is_float(), to) {
            (true, DType::F16) => nearest(x as f32, 10, -24, 65_504.0),
            (true, DType::BF16) => nearest(x as f32, 7, -133, 3.389_531_389_251_535_5e38),
            (true, to) if to.is_float() => x,
            (true, DType::Bool) => f64::from(u8::from(x != 0.0)),
            // A run truncates to 32 bits first.
            (true, to) => wrapped(to, i64::from(x as i32)),
            (false, to) if to.is_float() => f64::from(x as f32),
            (false, to) => wrapped(to, i),
        },
    }
}

/// The nearest float of so many bits of fraction, whose least step is 2^`least`, halfway cases to even.
fn nearest(x: f32, bits: i32, least: i32, largest: f64) -> f64 {
    let x = f64::from(x);
    if x == 0.0 {
        return x;
    }
    let exponent = x.abs().log2().floor() as i32;
    let step = 2.0f64.powi((exponent - bits).max(least));
    let rounded = (x / step).round_ties_even() * step;
    if rounded.abs() > largest { x.signum() * f64::INFINITY } else { rounded }
}

/// Every element of a binary operator.
pub fn paired(op: BinaryOp, a: f64, b: f64, floats: bool, to: DType) -> f64 {
    use BinaryOp::*;
    let holds = match op {
        Equal => Some(a == b),
        Less => Some(a < b),
        Greater => Some(a > b),
        LessOrEqual => Some(a <= b),
        GreaterOrEqual => Some(a >= b),
        _ => None,
    };
    if let Some(holds) = holds {
        return f64::from(u8::from(holds));
    }
    assert!(!floats, "{} of floats", op.name());
    let (x, y) = (a as i64, b as i64);
    let exact = match op {
        Add => x + y,
        Sub => x - y,
        Mul => x * y,
        Div if y == 0 => x,
        Div => x / y,
        Pow if y < 0 => match x {
            1 => 1,
            -1 => {
                if y % 2 == 0 {
                    1
                } else {
                    -1
                }
            }
            _ => 0,
        },
        Pow => (x as i32).wrapping_pow(y as u32).into(),
        Prelu => {
            if x < 0 {
                x * y
            } else {
                x
            }
        }
        Min => x.min(y),
        Max => x.max(y),
        Mod { .. } if y == 0 => 0,
        Mod { truncated: true } => x % y,
        Mod { truncated: false } => x - y * (x as f64 / y as f64).floor() as i64,
        And => x & y,
        Or => x | y,
        Xor => x ^ y,
        ShiftLeft | ShiftRight if !(0..32).contains(&y) => 0,
        ShiftLeft => x << y,
        ShiftRight => x >> y,
        other => panic!("{}", other.name()),
    };
    wrapped(to, exact)
}

/// An index that counts from the end where it is negative.
fn resolved(index: f64, extent: usize) -> usize {
    if index < 0.0 { (index + extent as f64) as usize } else { index as usize }
}

/// The coordinate of `x` that a gathering operator reads for an output coordinate.
pub fn gathered(op: &Op, x: &Tensor, indices: &Tensor, index: &[usize]) -> f64 {
    let rank = indices.shape.len();
    match op {
        Op::Gather { axis } => {
            let at = resolved(indices.at(&index[*axis..axis + rank]), x.shape[*axis]);
            x.at(&[&index[..*axis], &[at], &index[axis + rank..]].concat())
        }
        Op::GatherElements { axis } => {
            let mut source = index.to_vec();
            source[*axis] = resolved(indices.at(index), x.shape[*axis]);
            x.at(&source)
        }
        Op::GatherNd { batch_dims } => {
            let (head, tail) = index.split_at(rank - 1);
            let place = (0..indices.shape[rank - 1])
                .map(|k| resolved(indices.at(&[head, &[k]].concat()), x.shape[batch_dims + k]));
            x.at(&[&head[..*batch_dims], &place.collect::<Vec<_>>(), tail].concat())
        }
        other => panic!("{}", other.name()),
    }
}

/// All elements after the updates, in their order.
pub fn scattered(op: &Op, inputs: &[Tensor]) -> Vec<f64> {
    let [x, indices, updates] = inputs else { panic!("three inputs") };
    let mut out = x.clone();
    for index in super::light_oracle::indices(&updates.shape) {
        let (goal, reduction) = match op {
            Op::ScatterElements { axis, reduction } => {
                let mut goal = index.clone();
                goal[*axis] = resolved(indices.at(&index), x.shape[*axis]);
                (goal, reduction)
            }
            Op::ScatterNd { reduction } => {
                let (head, tail) = index.split_at(indices.shape.len() - 1);
                let place = (0..indices.shape[head.len()])
                    .map(|k| resolved(indices.at(&[head, &[k]].concat()), x.shape[k]));
                ([&place.collect::<Vec<_>>(), tail].concat(), reduction)
            }
            other => panic!("{}", other.name()),
        };
        let flat = goal.iter().zip(&x.shape).fold(0, |flat, (i, dim)| flat * dim + i);
        let (former, update) = (out.data[flat], updates.at(&index));
        out.data[flat] = match reduction {
            Reduction::Replace => update,
            Reduction::Add => former + update,
            Reduction::Mul => former * update,
            Reduction::Min => former.min(update),
            Reduction::Max => former.max(update),
        };
    }
    out.data
}

/// The row through an index along an axis.
fn row(x: &Tensor, index: &[usize], axis: usize) -> Vec<f64> {
    let element = |i| {
        let mut source = index.to_vec();
        source[axis] = i;
        x.at(&source)
    };
    (0..x.shape[axis]).map(element).collect()
}

/// One element of an operator of order, marks or triangles.
pub fn ordered(op: &Op, inputs: &[Tensor], index: &[usize]) -> f64 {
    let x = &inputs[0];
    match op {
        Op::TopK { axis, largest, indices } => {
            let row = row(x, index, *axis);
            let mut places: Vec<usize> = (0..row.len()).collect();
            // Stable, so that of equal elements the first stays first.
            places.sort_by(|a, b| {
                let order = row[*a].partial_cmp(&row[*b]).unwrap();
                if *largest { order.reverse() } else { order }
            });
            let place = places[index[*axis]];
            if *indices { place as f64 } else { row[place] }
        }
        Op::ArgExtreme { axis, largest, last } => {
            let row = row(x, index, *axis);
            let best = row.iter().copied().reduce(|a, b| if *largest { a.max(b) } else { a.min(b) }).unwrap();
            let hits: Vec<usize> = (0..row.len()).filter(|i| row[*i] == best).collect();
            (if *last { hits[hits.len() - 1] } else { hits[0] }) as f64
        }
        Op::CumSum { axis, exclusive, reverse } => {
            let (row, at) = (row(x, index, *axis), index[*axis]);
            let counts = |i: &usize| match (exclusive, reverse) {
                (false, false) => *i <= at,
                (true, false) => *i < at,
                (false, true) => *i >= at,
                (true, true) => *i > at,
            };
            (0..row.len()).filter(counts).map(|i| row[i]).sum()
        }
        Op::OneHot { axis } => {
            let mut source = index.to_vec();
            let d = source.remove(*axis) as f64;
            let at = x.at(&source);
            let on = at == d;
            let depth_hit = |depth: usize| at < 0.0 && at + depth as f64 == d;
            inputs[1].data[usize::from(on || depth_hit(inputs[2].shape[*axis]))]
        }
        Op::Trilu { upper, diagonal } => {
            let [row, column] = index[index.len() - 2..] else { panic!("a matrix") };
            let distance = column as i64 - row as i64;
            let kept =
                if *upper { distance >= i64::from(*diagonal) } else { distance <= i64::from(*diagonal) };
            if kept { x.at(index) } else { 0.0 }
        }
        Op::ReverseSequence { batch_axis, time_axis } => {
            let length = inputs[1].data[index[*batch_axis]] as usize;
            let mut source = index.to_vec();
            if source[*time_axis] < length {
                source[*time_axis] = length - 1 - source[*time_axis];
            }
            x.at(&source)
        }
        Op::Tile => {
            let source: Vec<usize> = index.iter().zip(&x.shape).map(|(i, dim)| i % dim).collect();
            x.at(&source)
        }
        other => panic!("{}", other.name()),
    }
}
