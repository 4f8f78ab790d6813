//! What the operators of neural-network layers mean: the plainest loops over every index, in f64.

use super::twin::Case;
use sublet::graph::{Gate, GruPart, LstmPart, Op, ReduceKind, Window3, word_int};

/// The output of the case's node.
pub fn eval(case: &Case) -> Vec<f64> {
    match case.op() {
        Op::ConvTranspose { window, groups } => conv_transpose(case, window, *groups),
        Op::Resample { axes, taps, outside } => resample(case, *axes, *taps, *outside),
        Op::Reduce { kind, axes } => reduce(case, *kind, axes),
        Op::Normalize { len, repeat, epsilon, centred } => {
            normalize(case, *len, *repeat, f64::from(*epsilon), *centred)
        }
        Op::LogSoftmax { first_axis, last_axis } => {
            rows(case, *first_axis..*last_axis, |row, v| v - row.iter().map(|r| r.exp()).sum::<f64>().ln())
        }
        Op::Gate { gate, clip } => {
            let x = case.operand(0).expect("x").1;
            x.iter().map(|v| activate(*gate, clipped(f64::from(*v), *clip))).collect()
        }
        Op::LstmCell { part, gates, clip } => lstm_cell(case, *part, *gates, *clip),
        Op::GruCell { part, gates, clip } => gru_cell(case, *part, *gates, *clip),
        Op::Conv3d { window, groups } => conv3d(case, window, *groups),
        other => panic!("the oracle lacks {}", other.name()),
    }
}

/// Every index of a shape, row-major.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for dim in shape {
        all = all.into_iter().flat_map(|head| (0..*dim).map(move |i| [&head[..], &[i]].concat())).collect();
    }
    all
}

/// Position of an index, row-major.
pub fn flat(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |at, (dim, i)| at * dim + i)
}

/// `[N, C, D, H, W]`, missing dimensions in front of the spatial ones being 1.
fn five(shape: &[usize]) -> Vec<usize> {
    [&shape[..2], &vec![1; 5 - shape.len()], &shape[2..]].concat()
}

/// Scattered: every input element, under every tap, is added where it falls.
fn conv_transpose(case: &Case, window: &Window3, groups: usize) -> Vec<f64> {
    let (x_shape, x) = case.operand(0).expect("x");
    let (w_shape, w) = case.operand(1).expect("w");
    let (x_shape, w_shape, y_shape) = (five(x_shape), five(w_shape), five(case.output_shape()));
    let area: usize = y_shape[2..].iter().product();
    let mut y: Vec<f64> = vec![0.0; y_shape.iter().product()];
    if let Some((_, bias)) = case.operand(2) {
        y.iter_mut().enumerate().for_each(|(i, v)| *v = f64::from(bias[i / area % y_shape[1]]));
    }
    let (group_in, group_out) = (x_shape[1] / groups, y_shape[1] / groups);
    for at in indices(&x_shape) {
        for k in indices(&w_shape[1..]) {
            let place = |d: usize| {
                let place = at[2 + d] * window.strides[d] + k[1 + d] * window.dilations[d];
                place.checked_sub(window.pads[d]).filter(|p| *p < y_shape[2 + d])
            };
            let (Some(z), Some(v), Some(u)) = (place(0), place(1), place(2)) else { continue };
            let channel = at[1] / group_in * group_out + k[0];
            let weight = f64::from(w[flat(&w_shape, &[&[at[1]], &k[..]].concat())]);
            y[flat(&y_shape, &[at[0], channel, z, v, u])] += weight * f64::from(x[flat(&x_shape, &at)]);
        }
    }
    y
}

fn resample(case: &Case, axes: [usize; 2], taps: [usize; 2], outside: f32) -> Vec<f64> {
    let (shape, x) = case.operand(0).expect("x");
    let row = |table: usize, position: usize| -> Vec<(f64, f64)> {
        let data = case.operand(1 + table).expect("a table").1;
        let row = &data[position * taps[table] * 2..][..taps[table] * 2];
        row.chunks(2).map(|pair| (f64::from(pair[0]), f64::from(pair[1]))).collect()
    };
    let element = |index: Vec<usize>| {
        let first = row(0, index[axes[0]]);
        let second = if axes[0] == axes[1] { row(1, 0) } else { row(1, index[axes[1]]) };
        if first[0].0 < 0.0 || second[0].0 < 0.0 {
            return f64::from(outside);
        }
        let mut sum = 0.0;
        for (i, weight_i) in &first {
            for (j, weight_j) in &second {
                let mut source = index.clone();
                source[axes[0]] = *i as usize;
                if axes[0] != axes[1] {
                    source[axes[1]] = *j as usize;
                }
                if weight_i * weight_j != 0.0 {
                    sum += weight_i * weight_j * f64::from(x[flat(shape, &source)]);
                }
            }
        }
        sum
    };
    indices(case.output_shape()).into_iter().map(element).collect()
}

/// Every element of `x`, by a function of the elements along `axes` that it stands among, and its own.
fn rows(case: &Case, axes: std::ops::Range<usize>, f: impl Fn(&[f64], f64) -> f64) -> Vec<f64> {
    let (shape, x) = case.operand(0).expect("x");
    let own = |index: &[usize]| f64::from(x[flat(shape, index)]);
    let element = |index: Vec<usize>| {
        let along = |inner: Vec<usize>| own(&[&index[..axes.start], &inner[..], &index[axes.end..]].concat());
        let row: Vec<f64> = indices(&shape[axes.clone()]).into_iter().map(along).collect();
        f(&row, own(&index))
    };
    indices(shape).into_iter().map(element).collect()
}

/// Where the largest of a row stands, as 1 among zeros.
pub fn hardmax(case: &Case, axes: std::ops::Range<usize>) -> Vec<f64> {
    let (shape, x) = case.operand(0).expect("x");
    let mut out = vec![0.0; x.len()];
    let outer = [&shape[..axes.start], &vec![1; axes.len()], &shape[axes.end..]].concat();
    for index in indices(&outer) {
        let place =
            |inner: &Vec<usize>| flat(shape, &[&index[..axes.start], inner, &index[axes.end..]].concat());
        let places: Vec<usize> = indices(&shape[axes.clone()]).iter().map(place).collect();
        let largest = places.iter().map(|i| x[*i]).fold(f32::NEG_INFINITY, f32::max);
        out[*places.iter().find(|i| x[**i] == largest).expect("a largest")] = 1.0;
    }
    out
}

fn reduce(case: &Case, kind: ReduceKind, axes: &[usize]) -> Vec<f64> {
    let (shape, x) = case.operand(0).expect("x");
    let float = case.graph.get(case.graph.nodes[0].inputs[0]).is_float();
    let number = |v: f32| if float { f64::from(v) } else { f64::from(word_int(v)) };
    let kept: Vec<usize> = (0..shape.len()).map(|d| if axes.contains(&d) { 1 } else { shape[d] }).collect();
    let taken: Vec<usize> = axes.iter().map(|d| shape[*d]).collect();
    let result = |index: Vec<usize>| {
        let element = |inner: Vec<usize>| {
            let mut at = index.clone();
            axes.iter().zip(inner).for_each(|(d, i)| at[*d] = i);
            number(x[flat(shape, &at)])
        };
        let v: Vec<f64> = indices(&taken).into_iter().map(element).collect();
        let squares = || v.iter().map(|v| v * v).sum::<f64>();
        match kind {
            ReduceKind::Sum => v.iter().sum(),
            ReduceKind::Mean if float => v.iter().sum::<f64>() / v.len() as f64,
            ReduceKind::Mean => (v.iter().sum::<f64>() / v.len() as f64).trunc(),
            ReduceKind::Max => v.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ReduceKind::Min => v.iter().copied().fold(f64::INFINITY, f64::min),
            ReduceKind::Prod => v.iter().product(),
            ReduceKind::L1 => v.iter().map(|v| v.abs()).sum(),
            ReduceKind::L2 => squares().sqrt(),
            ReduceKind::SumSquare => squares(),
            ReduceKind::LogSum => v.iter().sum::<f64>().ln(),
            ReduceKind::LogSumExp => {
                let largest = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                match largest.is_finite() {
                    true => v.iter().map(|v| (v - largest).exp()).sum::<f64>().ln() + largest,
                    false => largest,
                }
            }
        }
    };
    indices(&kept).into_iter().map(result).collect()
}

fn normalize(case: &Case, len: usize, repeat: usize, epsilon: f64, centred: bool) -> Vec<f64> {
    let x = case.operand(0).expect("x").1;
    let factor = |operand: usize, i: usize, none: f64| match case.operand(operand) {
        Some((_, data)) => f64::from(data[i / repeat % data.len()]),
        None => none,
    };
    let mut out = Vec::new();
    for run in x.chunks(len) {
        let mean = if centred { run.iter().map(|v| f64::from(*v)).sum::<f64>() / len as f64 } else { 0.0 };
        let variance = run.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / len as f64;
        for v in run {
            let i = out.len();
            let normal = (f64::from(*v) - mean) / (variance + epsilon).sqrt();
            out.push(normal * factor(1, i, 1.0) + factor(2, i, 0.0));
        }
    }
    out
}

/// Where the tap of a window lies along an axis; `None` outside.
fn tap(window: &Window3, d: usize, at: usize, k: usize, size: usize) -> Option<usize> {
    let place = at * window.strides[d] + k * window.dilations[d];
    place.checked_sub(window.pads[d]).filter(|i| *i < size)
}

fn conv3d(case: &Case, window: &Window3, groups: usize) -> Vec<f64> {
    let (x_shape, x) = case.operand(0).expect("x");
    let (w_shape, w) = case.operand(1).expect("w");
    let y_shape = case.output_shape();
    let element = |at: Vec<usize>| {
        let mut sum = case.operand(2).map_or(0.0, |(_, bias)| f64::from(bias[at[1]]));
        for k in indices(&w_shape[1..]) {
            let source = |d: usize| tap(window, d, at[2 + d], k[1 + d], x_shape[2 + d]);
            let (Some(z), Some(v), Some(u)) = (source(0), source(1), source(2)) else { continue };
            let channel = at[1] / (y_shape[1] / groups) * w_shape[1] + k[0];
            let weight = f64::from(w[flat(w_shape, &[&[at[1]], &k[..]].concat())]);
            sum += weight * f64::from(x[flat(x_shape, &[at[0], channel, z, v, u])]);
        }
        sum
    };
    indices(y_shape).into_iter().map(element).collect()
}

/// The index in `x` of the largest element of each window; the first of equals.
pub fn max_pool_indices(case: &Case) -> Vec<i32> {
    let Op::MaxPoolIndices { window, column_major } = case.op() else { panic!("{:?}", case.op()) };
    let (shape, x) = case.operand(0).expect("x");
    let (shape, y_shape) = (five(shape), five(case.output_shape()));
    let index = |at: Vec<usize>| {
        let mut best: Option<(f32, i32)> = None;
        for k in indices(&window.kernel) {
            let source = |d: usize| tap(window, d, at[2 + d], k[d], shape[2 + d]);
            let (Some(z), Some(v), Some(u)) = (source(0), source(1), source(2)) else { continue };
            let value = x[flat(&shape, &[at[0], at[1], z, v, u])];
            let plane = flat(&shape, &[at[0], at[1], 0, 0, 0]);
            let inside = match column_major {
                true => z + shape[2] * (v + shape[3] * u),
                false => (z * shape[3] + v) * shape[4] + u,
            };
            if best.is_none_or(|(largest, _)| value > largest) {
                best = Some((value, (plane + inside) as i32));
            }
        }
        best.expect("a cell inside").1
    };
    indices(&y_shape).into_iter().map(index).collect()
}

fn clipped(v: f64, clip: f32) -> f64 {
    let clip = f64::from(clip);
    if clip > 0.0 { v.clamp(-clip, clip) } else { v }
}

fn activate(gate: Gate, v: f64) -> f64 {
    match gate {
        Gate::Sigmoid => 1.0 / (1.0 + (-v).exp()),
        Gate::Tanh => v.tanh(),
        Gate::Relu => v.max(0.0),
        Gate::Affine { alpha, beta } => f64::from(alpha) * v + f64::from(beta),
        Gate::LeakyRelu { alpha } if v < 0.0 => f64::from(alpha) * v,
        Gate::LeakyRelu { .. } => v,
        Gate::ThresholdedRelu { alpha } if v > f64::from(alpha) => v,
        Gate::ThresholdedRelu { .. } => 0.0,
        Gate::ScaledTanh { alpha, beta } => f64::from(alpha) * (f64::from(beta) * v).tanh(),
        Gate::HardSigmoid { alpha, beta } => (f64::from(alpha) * v + f64::from(beta)).clamp(0.0, 1.0),
        Gate::Elu { alpha } if v < 0.0 => f64::from(alpha) * v.exp_m1(),
        Gate::Elu { .. } => v,
        Gate::Softsign => v / (1.0 + v.abs()),
        Gate::Softplus => v.exp().ln_1p(),
    }
}

/// Reads operand `operand` as rows of `times` output rows each.
fn cell(case: &Case, operand: usize, times: usize, which: usize, at: &[usize]) -> f64 {
    let hidden = case.output_shape()[1];
    let data = case.operand(operand).expect("an operand").1;
    f64::from(data[(at[0] * times + which) * hidden + at[1]])
}

fn lstm_cell(case: &Case, part: LstmPart, [f, g, h]: [Gate; 3], clip: f32) -> Vec<f64> {
    let element = |at: Vec<usize>| {
        let state = cell(case, 1, 1, 0, &at);
        let hole = |i: usize| match case.operand(2) {
            Some((_, data)) => f64::from(data[i * case.output_shape()[1] + at[1]]) * state,
            None => 0.0,
        };
        let opened =
            |which: usize, i: usize| activate(f, clipped(cell(case, 0, 4, which, &at) + hole(i), clip));
        match part {
            LstmPart::Output => opened(1, 1) * activate(h, state),
            LstmPart::Cell { coupled } => {
                let kept = if coupled { 1.0 - opened(0, 0) } else { opened(2, 2) };
                kept * state + opened(0, 0) * activate(g, clipped(cell(case, 0, 4, 3, &at), clip))
            }
        }
    };
    indices(case.output_shape()).into_iter().map(element).collect()
}

fn gru_cell(case: &Case, part: GruPart, [f, g]: [Gate; 2], clip: f32) -> Vec<f64> {
    let open = |gate: Gate, v: f64| activate(gate, clipped(v, clip));
    let element = |at: Vec<usize>| match part {
        GruPart::Reset => open(f, cell(case, 0, 2, 1, &at)) * cell(case, 1, 1, 0, &at),
        GruPart::Output => {
            let z = open(f, cell(case, 0, 2, 0, &at));
            (1.0 - z) * open(g, cell(case, 1, 1, 0, &at)) + z * cell(case, 2, 1, 0, &at)
        }
        GruPart::LinearBeforeReset => {
            let both = |which: usize| cell(case, 0, 3, which, &at) + cell(case, 1, 3, which, &at);
            let (z, reset) = (open(f, both(0)), open(f, both(1)));
            let candidate = cell(case, 0, 3, 2, &at) + reset * cell(case, 1, 3, 2, &at);
            (1.0 - z) * open(g, candidate) + z * cell(case, 2, 1, 0, &at)
        }
    };
    indices(case.output_shape()).into_iter().map(element).collect()
}
