//! What the operators of neural-network layers mean: the plainest loops over every index, in f64.

use super::twin::Case;
use sublet::graph::{Op, Window3};

/// The output of the case's node.
pub fn eval(case: &Case) -> Vec<f64> {
    match case.op() {
        Op::ConvTranspose { window, groups } => conv_transpose(case, window, *groups),
        Op::Resample { axes, taps, outside } => resample(case, *axes, *taps, *outside),
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
