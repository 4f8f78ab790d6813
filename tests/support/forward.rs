//! An oracle for whole graphs: every operator the plainest way, sharing no code with the library's kernels.

use sublet::graph::{BinaryOp, Graph, Node, Op, PoolKind, UnaryOp, ValueId, Window};

/// Every value of the graph for one input; constants stay empty.
pub fn forward(graph: &Graph, input: Vec<f32>) -> Vec<Vec<f32>> {
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); graph.values.len()];
    values[graph.inputs[0].index()] = input;
    for node in &graph.nodes {
        let data = |id: &ValueId| graph.get(*id).f32_data().unwrap_or(&values[id.index()]);
        let inputs: Vec<&[f32]> = node.inputs.iter().map(data).collect();
        let out = run(graph, node, &inputs);
        assert_eq!(out.len(), graph.get(node.outputs[0]).len(), "{}", node.name);
        values[node.outputs[0].index()] = out;
    }
    values
}

fn run(graph: &Graph, node: &Node, inputs: &[&[f32]]) -> Vec<f32> {
    let shape = |i: usize| &graph.get(node.inputs[i]).shape[..];
    let out_shape = &graph.get(node.outputs[0]).shape[..];
    let x = inputs[0];
    match &node.op {
        Op::Conv { window, groups, activation } => {
            let bias = inputs.get(2).copied();
            let mut out = conv(x, shape(0), inputs[1], shape(1), bias, out_shape, window, *groups);
            if let Some(f) = activation {
                out.iter_mut().for_each(|v| *v = unary(*f, *v));
            }
            out
        }
        Op::BatchNormalization { epsilon } => {
            let area: usize = out_shape[2..].iter().product();
            let normal = |i: usize, v: f32| {
                let c = i / area % out_shape[1];
                (v - inputs[3][c]) / (inputs[4][c] + epsilon).sqrt() * inputs[1][c] + inputs[2][c]
            };
            x.iter().enumerate().map(|(i, v)| normal(i, *v)).collect()
        }
        Op::Unary(f) => x.iter().map(|v| unary(*f, *v)).collect(),
        Op::Binary(f) => {
            let pairs = indices(out_shape).map(|i| (at(x, shape(0), &i), at(inputs[1], shape(1), &i)));
            pairs.map(|(a, b)| binary(*f, a, b)).collect()
        }
        Op::Sum => {
            let all = 0..inputs.len();
            indices(out_shape).map(|i| all.clone().map(|k| at(inputs[k], shape(k), &i)).sum()).collect()
        }
        Op::Pool { kind, window } => pool(x, shape(0), out_shape, *kind, window),
        Op::ReduceMean { axes } => mean(x, shape(0), axes),
        Op::MatMul { .. } => gemm(x, shape(0), inputs[1], shape(1), false, out_shape),
        Op::Gemm { alpha, beta, trans_a: false, trans_b, .. } => {
            let product = gemm(x, shape(0), inputs[1], shape(1), *trans_b, out_shape);
            let c = |i: &[usize]| inputs.get(2).map_or(0.0, |c| at(c, shape(2), i));
            product.iter().zip(indices(out_shape)).map(|(p, i)| alpha * p + beta * c(&i)).collect()
        }
        Op::Concat { axis } => {
            let pick = |mut i: Vec<usize>| {
                let mut k = 0;
                while i[*axis] >= shape(k)[*axis] {
                    i[*axis] -= shape(k)[*axis];
                    k += 1;
                }
                at(inputs[k], shape(k), &i)
            };
            indices(out_shape).map(pick).collect()
        }
        Op::Copy => x.to_vec(),
        Op::Transpose { perm } => {
            let source = |i: Vec<usize>| {
                let mut from = vec![0; perm.len()];
                perm.iter().zip(i).for_each(|(p, i)| from[*p] = i);
                at(x, shape(0), &from)
            };
            indices(out_shape).map(source).collect()
        }
        Op::Lrn { size, alpha, beta, bias } => {
            let area: usize = out_shape[2..].iter().product();
            let value = |(i, v): (usize, &f32)| {
                let (c, base) = (i / area % out_shape[1], i - i / area % out_shape[1] * area);
                let near = c.saturating_sub((size - 1) / 2)..=(c + size / 2).min(out_shape[1] - 1);
                let squares: f32 = near.map(|c| x[base + c * area].powi(2)).sum();
                v / (bias + alpha / *size as f32 * squares).powf(*beta)
            };
            x.iter().enumerate().map(value).collect()
        }
        Op::Slice { starts, steps } => {
            let along = |(d, i): (usize, usize)| (starts[d] + i as i64 * steps[d]) as usize;
            let source = |i: Vec<usize>| i.into_iter().enumerate().map(along).collect::<Vec<_>>();
            indices(out_shape).map(|i| at(x, shape(0), &source(i))).collect()
        }
        Op::Softmax { first_axis, last_axis } => {
            let inner: usize = out_shape[*last_axis..].iter().product();
            let row: usize = out_shape[*first_axis..*last_axis].iter().product();
            softmax(x, row, inner)
        }
        other => panic!("the oracle lacks {}", other.name()),
    }
}

/// Every index of a shape, row-major.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (0..shape.iter().product()).map(|mut flat: usize| {
        let mut index = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            index[d] = flat % shape[d];
            flat /= shape[d];
        }
        index
    })
}

/// Element under broadcasting: dimensions align at the end, and one of size 1 repeats.
fn at(data: &[f32], shape: &[usize], index: &[usize]) -> f32 {
    let index = &index[index.len() - shape.len()..];
    data[shape.iter().zip(index).fold(0, |flat, (d, i)| flat * d + if *d == 1 { 0 } else { *i })]
}

fn unary(f: UnaryOp, x: f32) -> f32 {
    match f {
        UnaryOp::Relu => x.max(0.0),
        UnaryOp::Clip { min, max } => x.max(min).min(max),
        UnaryOp::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        UnaryOp::HardSigmoid { alpha, beta } => (alpha * x + beta).clamp(0.0, 1.0),
        UnaryOp::HardSwish => x * (x / 6.0 + 0.5).clamp(0.0, 1.0),
        other => panic!("the oracle lacks {other:?}"),
    }
}

fn binary(f: BinaryOp, a: f32, b: f32) -> f32 {
    match f {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        other => panic!("the oracle lacks {other:?}"),
    }
}

#[allow(clippy::too_many_arguments, reason = "the operator has as many")]
fn conv(
    x: &[f32],
    x_shape: &[usize],
    w: &[f32],
    w_shape: &[usize],
    bias: Option<&[f32]>,
    out_shape: &[usize],
    window: &Window,
    groups: usize,
) -> Vec<f32> {
    let (&[1, _, h, wd], &[_, m, oh, ow], &[_, cg, kh, kw]) = (x_shape, out_shape, w_shape) else {
        panic!("the oracle convolves one picture")
    };
    let mut out = vec![0.0; m * oh * ow];
    for (o, plane) in out.chunks_mut(oh * ow).enumerate() {
        plane.fill(bias.map_or(0.0, |b| b[o]));
        for (c, ky, kx) in (0..cg * kh * kw).map(|i| (i / (kh * kw), i / kw % kh, i % kw)) {
            let source = &x[(o / (m / groups) * cg + c) * h * wd..][..h * wd];
            let weight = w[((o * cg + c) * kh + ky) * kw + kx];
            for oy in 0..oh {
                let iy = (oy * window.strides[0] + ky * window.dilations[0]).wrapping_sub(window.pads[0]);
                for ox in (0..ow).filter(|_| iy < h) {
                    let ix = (ox * window.strides[1] + kx * window.dilations[1]).wrapping_sub(window.pads[1]);
                    if ix < wd {
                        plane[oy * ow + ox] += weight * source[iy * wd + ix];
                    }
                }
            }
        }
    }
    out
}

fn pool(x: &[f32], x_shape: &[usize], out_shape: &[usize], kind: PoolKind, w: &Window) -> Vec<f32> {
    let (h, wd) = (x_shape[2], x_shape[3]);
    let window = |i: Vec<usize>| {
        let plane = &x[(i[0] * x_shape[1] + i[1]) * h * wd..][..h * wd];
        let (mut max, mut sum, mut inside, mut padded) = (f32::NEG_INFINITY, 0.0, 0, 0);
        for (ky, kx) in (0..w.kernel[0] * w.kernel[1]).map(|k| (k / w.kernel[1], k % w.kernel[1])) {
            let (y, x) =
                (i[2] * w.strides[0] + ky * w.dilations[0], i[3] * w.strides[1] + kx * w.dilations[1]);
            padded += usize::from(y < h + w.pads[0] + w.pads[2] && x < wd + w.pads[1] + w.pads[3]);
            let (y, x) = (y.wrapping_sub(w.pads[0]), x.wrapping_sub(w.pads[1]));
            if y < h && x < wd {
                max = plane[y * wd + x].max(max);
                sum += plane[y * wd + x];
                inside += 1;
            }
        }
        match kind {
            PoolKind::Max => max,
            PoolKind::Average { count_include_pad: true } => sum / padded as f32,
            PoolKind::Average { count_include_pad: false } => sum / inside as f32,
            PoolKind::Lp { .. } => panic!("the oracle lacks norms"),
        }
    };
    indices(out_shape).map(window).collect()
}

fn mean(x: &[f32], shape: &[usize], axes: &[usize]) -> Vec<f32> {
    let kept: Vec<usize> = (0..shape.len()).map(|d| if axes.contains(&d) { 1 } else { shape[d] }).collect();
    let mut out = vec![0.0; kept.iter().product()];
    let share = out.len() as f32 / x.len() as f32;
    for (v, i) in x.iter().zip(indices(shape)) {
        let flat = kept.iter().zip(i).fold(0, |flat, (d, i)| flat * d + if *d == 1 { 0 } else { i });
        out[flat] += v * share;
    }
    out
}

/// Two matrices, the second possibly stored transposed.
fn gemm(
    a: &[f32],
    a_shape: &[usize],
    b: &[f32],
    b_shape: &[usize],
    trans_b: bool,
    out: &[usize],
) -> Vec<f32> {
    let (&[_, k], &[_, _]) = (a_shape, out) else { panic!("the oracle multiplies matrices") };
    let b_at = |k: usize, n: usize| if trans_b { b[n * b_shape[1] + k] } else { b[k * b_shape[1] + n] };
    indices(out).map(|i| (0..k).map(|l| a[i[0] * k + l] * b_at(l, i[1])).sum()).collect()
}

/// Over blocks of `row` elements that lie `inner` apart.
fn softmax(x: &[f32], row: usize, inner: usize) -> Vec<f32> {
    let mut out = x.to_vec();
    for block in out.chunks_mut(row * inner) {
        for i in 0..inner {
            let line = || (0..row).map(|r| r * inner + i);
            let max = line().map(|at| block[at]).fold(f32::NEG_INFINITY, f32::max);
            line().for_each(|at| block[at] = (block[at] - max).exp());
            let sum: f32 = line().map(|at| block[at]).sum();
            line().for_each(|at| block[at] /= sum);
        }
    }
    out
}
