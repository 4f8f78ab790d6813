//! The simplest loops, in f64, written from the ONNX operator text.

use super::twin::Case;
use sublet::graph::{Op, PoolKind, UnaryOp, Window};

/// `[N, C, H, W]`, a missing H being 1.
fn dims(shape: &[usize]) -> [usize; 4] {
    match *shape {
        [n, c, l] => [n, c, 1, l],
        [n, c, h, w] => [n, c, h, w],
        _ => panic!("shape {shape:?}"),
    }
}

/// Where a tap lies along an axis, counted from the input's first element.
fn tap(window: &Window, axis: usize, at: usize, tap: usize) -> i64 {
    (at * window.strides[axis] + tap * window.dilations[axis]) as i64 - window.pads[axis] as i64
}

/// `Conv`.
pub fn conv(case: &Case) -> Vec<f64> {
    let Op::Conv { window, groups, activation } = case.op() else { panic!("not a convolution") };
    let (x_shape, x) = case.operand(0).expect("x");
    let (w_shape, w) = case.operand(1).expect("w");
    let [_, channels, height, width] = dims(x_shape);
    let [maps, group_channels, kernel_h, kernel_w] = dims(w_shape);
    let [batch, _, out_h, out_w] = dims(case.output_shape());
    let mut y = Vec::new();
    for n in 0..batch {
        for m in 0..maps {
            for oy in 0..out_h {
                for ox in 0..out_w {
                    let mut sum = case.operand(2).map_or(0.0, |(_, bias)| f64::from(bias[m]));
                    for c in 0..group_channels {
                        for ky in 0..kernel_h {
                            for kx in 0..kernel_w {
                                let (iy, ix) = (tap(window, 0, oy, ky), tap(window, 1, ox, kx));
                                if iy < 0 || ix < 0 || iy >= height as i64 || ix >= width as i64 {
                                    continue;
                                }
                                let channel = m / (maps / groups) * group_channels + c;
                                let at =
                                    ((n * channels + channel) * height + iy as usize) * width + ix as usize;
                                let weight = w[((m * group_channels + c) * kernel_h + ky) * kernel_w + kx];
                                sum += f64::from(x[at]) * f64::from(weight);
                            }
                        }
                    }
                    sum += case.operand(3).map_or(0.0, |(_, addend)| f64::from(addend[y.len()]));
                    y.push(activate(*activation, sum));
                }
            }
        }
    }
    y
}

fn activate(activation: Option<UnaryOp>, x: f64) -> f64 {
    match activation {
        None => x,
        Some(UnaryOp::Relu) => x.max(0.0),
        Some(UnaryOp::LeakyRelu { alpha }) if x < 0.0 => f64::from(alpha) * x,
        Some(UnaryOp::LeakyRelu { .. }) => x,
        Some(UnaryOp::Clip { min, max }) => x.max(f64::from(min)).min(f64::from(max)),
        Some(other) => panic!("{other:?}"),
    }
}

/// `MaxPool`, `AveragePool`.
pub fn pool(case: &Case) -> Vec<f64> {
    let Op::Pool { kind, window } = case.op() else { panic!("not a pooling") };
    let (x_shape, x) = case.operand(0).expect("x");
    let [_, _, height, width] = dims(x_shape).map(|d| d as i64);
    let [batch, channels, out_h, out_w] = dims(case.output_shape());
    let mut y = Vec::new();
    for plane in 0..batch * channels {
        for oy in 0..out_h {
            for ox in 0..out_w {
                let (mut inside, mut padded) = (Vec::new(), 0);
                for ky in 0..window.kernel[0] {
                    for kx in 0..window.kernel[1] {
                        let (iy, ix) = (tap(window, 0, oy, ky), tap(window, 1, ox, kx));
                        if iy >= 0 && ix >= 0 && iy < height && ix < width {
                            let at = (plane as i64 * height + iy) * width + ix;
                            inside.push(f64::from(x[at as usize]));
                        } else if iy < height + window.pads[2] as i64 && ix < width + window.pads[3] as i64 {
                            padded += 1;
                        }
                    }
                }
                let sum: f64 = inside.iter().sum();
                y.push(match kind {
                    PoolKind::Max => inside.iter().fold(f64::from(f32::MIN), |m, v| m.max(*v)),
                    PoolKind::Average { count_include_pad: false } => sum / inside.len().max(1) as f64,
                    PoolKind::Lp { p } => {
                        let powers = inside.iter().map(|v| v.abs().powi(*p as i32));
                        powers.sum::<f64>().powf(1.0 / f64::from(*p))
                    }
                    PoolKind::Average { count_include_pad: true } => {
                        sum / (inside.len() + padded).max(1) as f64
                    }
                });
            }
        }
    }
    y
}

/// `MatMul`: every output index, its batch part taken modulo what each operand has.
pub fn matmul(case: &Case) -> Vec<f64> {
    let (a_shape, a) = case.operand(0).expect("a");
    let (b_shape, b) = case.operand(1).expect("b");
    let a_shape = if a_shape.len() == 1 { [&[1], a_shape].concat() } else { a_shape.to_vec() };
    let b_shape = if b_shape.len() == 1 { [b_shape, &[1]].concat() } else { b_shape.to_vec() };
    let (a_batch, b_batch) = (&a_shape[..a_shape.len() - 2], &b_shape[..b_shape.len() - 2]);
    let (m, k, n) = (a_shape[a_shape.len() - 2], b_shape[b_shape.len() - 2], b_shape[b_shape.len() - 1]);
    let rank = a_batch.len().max(b_batch.len());
    let pad = |dims: &[usize]| [vec![1; rank - dims.len()], dims.to_vec()].concat();
    let (a_batch, b_batch) = (pad(a_batch), pad(b_batch));
    let batch: Vec<usize> = a_batch.iter().zip(&b_batch).map(|(a, b)| *a.max(b)).collect();
    let mut y = Vec::new();
    for matrix in 0..batch.iter().product::<usize>() {
        let (mut rest, mut index) = (matrix, vec![0; rank]);
        for i in (0..rank).rev() {
            index[i] = rest % batch[i];
            rest /= batch[i];
        }
        let position = |dims: &[usize]| dims.iter().zip(&index).fold(0, |at, (d, i)| at * d + i % d);
        let (a_at, b_at) = (position(&a_batch) * m * k, position(&b_batch) * k * n);
        for row in 0..m {
            for column in 0..n {
                let term = |i: usize| f64::from(a[a_at + row * k + i]) * f64::from(b[b_at + i * n + column]);
                let bias = case.operand(2).map_or(0.0, |(_, bias)| f64::from(bias[column]));
                y.push((0..k).map(term).sum::<f64>() + bias);
            }
        }
    }
    let Op::MatMul { activation } = *case.op() else { panic!("not a MatMul") };
    finished(case, y, activation)
}

/// The addend added and the activation applied.
fn finished(case: &Case, mut y: Vec<f64>, activation: Option<UnaryOp>) -> Vec<f64> {
    if let Some((_, addend)) = case.operand(3) {
        y.iter_mut().zip(addend).for_each(|(y, addend)| *y += f64::from(*addend));
    }
    y.into_iter().map(|v| activate(activation, v)).collect()
}

/// `Gemm`.
pub fn gemm(case: &Case) -> Vec<f64> {
    let Op::Gemm { alpha, beta, trans_a, trans_b, activation } = *case.op() else { panic!("not a Gemm") };
    let (a_shape, a) = case.operand(0).expect("a");
    let (_, b) = case.operand(1).expect("b");
    let [m, n] = *case.output_shape() else { panic!("not a matrix") };
    let k = if trans_a { a_shape[0] } else { a_shape[1] };
    let mut y = Vec::new();
    for row in 0..m {
        for column in 0..n {
            let mut sum = 0.0;
            for i in 0..k {
                let a = a[if trans_a { i * m + row } else { row * k + i }];
                let b = b[if trans_b { column * k + i } else { i * n + column }];
                sum += f64::from(a) * f64::from(b);
            }
            let c = case.operand(2).map_or(0.0, |(shape, c)| {
                let shape = [vec![1; 2 - shape.len()], shape.to_vec()].concat();
                f64::from(c[row % shape[0] * shape[1] + column % shape[1]])
            });
            y.push(f64::from(alpha) * sum + f64::from(beta) * c);
        }
    }
    finished(case, y, activation)
}
