//! What the light operators mean: one output element at a time, in f64, from the operators' definitions.

use sublet::graph::{BinaryOp, Op, PadMode, UnaryOp};

/// A tensor of the oracle.
#[derive(Debug, Clone)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub data: Vec<f64>,
}

impl Tensor {
    pub fn at(&self, index: &[usize]) -> f64 {
        assert_eq!(index.len(), self.shape.len());
        let mut flat = 0;
        for (i, dim) in index.iter().zip(&self.shape) {
            assert!(i < dim, "index {index:?} of {:?}", self.shape);
            flat = flat * dim + i;
        }
        self.data[flat]
    }

    /// Reads under an output index with the rules of broadcasting.
    pub fn broadcast_at(&self, index: &[usize]) -> f64 {
        let tail = &index[index.len() - self.shape.len()..];
        let own: Vec<usize> =
            tail.iter().zip(&self.shape).map(|(i, dim)| if *dim == 1 { 0 } else { *i }).collect();
        self.at(&own)
    }
}

/// Every index of a shape, in row-major order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for dim in shape {
        all = all.into_iter().flat_map(|head| (0..*dim).map(move |i| [&head[..], &[i]].concat())).collect();
    }
    all
}

/// The output of `op`.
pub fn eval(op: &Op, inputs: &[Tensor], out_shape: &[usize]) -> Vec<f64> {
    if let Op::Copy = op {
        return inputs[0].data.clone();
    }
    indices(out_shape).iter().map(|index| element(op, inputs, index, out_shape)).collect()
}

fn element(op: &Op, inputs: &[Tensor], index: &[usize], out_shape: &[usize]) -> f64 {
    let x = &inputs[0];
    match op {
        Op::Unary(op) => unary(*op, x.at(index)),
        Op::Binary(op) => binary(*op, x.broadcast_at(index), inputs[1].broadcast_at(index)),
        Op::Sum => inputs.iter().map(|x| x.broadcast_at(index)).sum(),
        Op::Expand => x.broadcast_at(index),
        Op::Transpose { perm } => {
            let mut source = vec![0; perm.len()];
            perm.iter().zip(index).for_each(|(p, i)| source[*p] = *i);
            x.at(&source)
        }
        Op::Slice { starts, steps } => {
            let source = (0..index.len()).map(|d| (starts[d] + index[d] as i64 * steps[d]) as usize);
            x.at(&source.collect::<Vec<_>>())
        }
        Op::Concat { axis } => concat(inputs, index, *axis),
        Op::Pad { mode, before } => pad(x, index, *mode, before, out_shape),
        Op::BatchNormalization { epsilon } => {
            let [scale, bias, mean, variance] = [1, 2, 3, 4].map(|i| inputs[i].data[index[1]]);
            (x.at(index) - mean) / (variance + f64::from(*epsilon)).sqrt() * scale + bias
        }
        Op::ReduceMean { axes } => reduce_mean(x, index, axes, out_shape),
        Op::Softmax { first_axis, last_axis } => softmax(x, index, *first_axis..*last_axis),
        Op::Lrn { size, alpha, beta, bias } => {
            let (c, size) = (index[1] as i64, *size as i64);
            let low = (c - (size - 1) / 2).max(0);
            let high = (c + (size - 1) - (size - 1) / 2).min(x.shape[1] as i64 - 1);
            let squares = (low..=high).map(|k| {
                let mut source = index.to_vec();
                source[1] = k as usize;
                x.at(&source).powi(2)
            });
            let base = f64::from(*bias) + f64::from(*alpha) / size as f64 * squares.sum::<f64>();
            x.at(index) / base.powf(f64::from(*beta))
        }
        other => panic!("{} is not a light operator", other.name()),
    }
}

fn unary(op: UnaryOp, x: f64) -> f64 {
    match op {
        UnaryOp::Relu => x.max(0.0),
        UnaryOp::LeakyRelu { alpha } if x < 0.0 => f64::from(alpha) * x,
        UnaryOp::LeakyRelu { .. } => x,
        UnaryOp::Clip { min, max } => x.max(f64::from(min)).min(f64::from(max)),
        UnaryOp::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::HardSigmoid { alpha, beta } => (f64::from(alpha) * x + f64::from(beta)).clamp(0.0, 1.0),
        UnaryOp::HardSwish => x * (x / 6.0 + 0.5).clamp(0.0, 1.0),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Exp => x.exp(),
        UnaryOp::Neg => -x,
        UnaryOp::Reciprocal => 1.0 / x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::Sign if x == 0.0 => 0.0,
        UnaryOp::Sign => x.signum(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Erf => erf(x),
        UnaryOp::Softplus => (1.0 + x.exp()).ln(),
        UnaryOp::Softsign => x / (1.0 + x.abs()),
        UnaryOp::Elu { alpha } => x.max(0.0) + f64::from(alpha) * (x.min(0.0).exp() - 1.0),
        UnaryOp::Selu { alpha, gamma } => {
            f64::from(gamma) * (x.max(0.0) + f64::from(alpha) * (x.min(0.0).exp() - 1.0))
        }
        UnaryOp::Celu { alpha } => {
            x.max(0.0) + (f64::from(alpha) * ((x / f64::from(alpha)).exp() - 1.0)).min(0.0)
        }
        UnaryOp::ThresholdedRelu { alpha } => {
            if x > f64::from(alpha) {
                x
            } else {
                0.0
            }
        }
        UnaryOp::Mish => x * (1.0 + x.exp()).ln().tanh(),
        UnaryOp::Gelu { tanh: false } => 0.5 * x * (1.0 + erf(x / std::f64::consts::SQRT_2)),
        UnaryOp::Gelu { tanh: true } => {
            0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
        }
        UnaryOp::Shrink { lambda, bias } => match x {
            x if x < -f64::from(lambda) => x + f64::from(bias),
            x if x > f64::from(lambda) => x - f64::from(bias),
            _ => 0.0,
        },
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tan => x.tan(),
        UnaryOp::Asin => x.asin(),
        UnaryOp::Acos => x.acos(),
        UnaryOp::Atan => x.atan(),
        UnaryOp::Sinh => x.sinh(),
        UnaryOp::Cosh => x.cosh(),
        UnaryOp::Asinh => x.asinh(),
        UnaryOp::Acosh => x.acosh(),
        UnaryOp::Atanh => x.atanh(),
        other => panic!("{} is not a function of floats", other.name()),
    }
}

/// Simpson's rule on the definition.
fn erf(x: f64) -> f64 {
    let x = x.clamp(-6.0, 6.0);
    let h = x / 2000.0;
    let sum: f64 = (0..1000)
        .map(|i| {
            let f = |k: usize| (-(h * k as f64).powi(2)).exp();
            f(2 * i) + 4.0 * f(2 * i + 1) + f(2 * i + 2)
        })
        .sum();
    2.0 / std::f64::consts::PI.sqrt() * h / 3.0 * sum
}

fn binary(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Prelu if a >= 0.0 => a,
        BinaryOp::Prelu => a * b,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Mod { truncated: true } => a % b,
        other => panic!("{} is not a function of floats", other.name()),
    }
}

fn concat(inputs: &[Tensor], index: &[usize], axis: usize) -> f64 {
    let mut source = index.to_vec();
    for x in inputs {
        if source[axis] < x.shape[axis] {
            return x.at(&source);
        }
        source[axis] -= x.shape[axis];
    }
    panic!("{index:?} lies past the last input");
}

/// Crops by the negative amounts, then walks from the cropped tensor's end to end, turning at its edges.
fn pad(x: &Tensor, index: &[usize], mode: PadMode, before: &[i64], out_shape: &[usize]) -> f64 {
    let mut source = Vec::new();
    for d in 0..index.len() {
        let after = out_shape[d] as i64 - x.shape[d] as i64 - before[d];
        let low = (-before[d]).max(0);
        let high = x.shape[d] as i64 + after.min(0);
        let mut i = index[d] as i64 - before[d];
        while i < low || i >= high {
            i = match mode {
                PadMode::Constant(value) => return f64::from(value),
                PadMode::Edge => i.clamp(low, high - 1),
                PadMode::Wrap => low + (i - low).rem_euclid(high - low),
                PadMode::Reflect if high - low == 1 => low,
                PadMode::Reflect if i < low => 2 * low - i,
                PadMode::Reflect => 2 * (high - 1) - i,
            };
        }
        source.push(i as usize);
    }
    x.at(&source)
}

/// The elements that differ from `index` along `axes` only.
fn group(x: &Tensor, index: &[usize], axes: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
    let dims: Vec<usize> = axes.clone().map(|d| x.shape[d]).collect();
    let element = |inner: Vec<usize>| {
        let mut source = index.to_vec();
        axes.clone().zip(inner).for_each(|(d, i)| source[d] = i);
        x.at(&source)
    };
    indices(&dims).into_iter().map(element).collect()
}

fn reduce_mean(x: &Tensor, index: &[usize], axes: &[usize], out_shape: &[usize]) -> f64 {
    let mut first = index.to_vec();
    if out_shape.len() != x.shape.len() {
        axes.iter().for_each(|d| first.insert(*d, 0));
    }
    let elements = group(x, &first, axes.iter().copied());
    elements.iter().sum::<f64>() / elements.len() as f64
}

fn softmax(x: &Tensor, index: &[usize], axes: std::ops::Range<usize>) -> f64 {
    let row = group(x, index, axes);
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (x.at(index) - largest).exp() / row.iter().map(|v| (v - largest).exp()).sum::<f64>()
}
