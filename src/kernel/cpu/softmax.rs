//! Twin of `shaders/softmax.wgsl`.

use super::reduce::tree_sum;

/// Softmax over the middle of `[outer, axis, inner]`, or its logarithm.
pub fn softmax(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (rows, axis, inner) = (params[2] as usize, params[3] as usize, params[4] as usize);
    let (lanes, log) = (params[5] as usize, params[6] != 0);
    let x = &inputs[0][params[0] as usize..];
    let output = &mut output[params[1] as usize..];
    let mut partial = vec![0.0f32; lanes];
    for row in 0..rows {
        let start = row / inner * axis * inner + row % inner;
        let places = (start..).step_by(inner).take(axis);
        let mut largest = -3.402_823_3e38_f32;
        for i in places.clone() {
            largest = if x[i] > largest { x[i] } else { largest };
        }
        partial.fill(0.0);
        for (k, i) in places.clone().enumerate() {
            let e = (x[i] - largest).exp();
            output[i] = e;
            partial[k % lanes] += e;
        }
        let sum = tree_sum(&mut partial);
        let log_sum = sum.ln();
        places.for_each(|i| output[i] = if log { x[i] - largest - log_sum } else { output[i] / sum });
    }
}
