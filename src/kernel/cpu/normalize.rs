//! Twin of `shaders/normalize.wgsl`.

use super::float;
use super::reduce::tree_sum;

/// Normalisation of runs of elements.
pub fn normalize(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let word = |i: usize| params[i] as usize;
    let (runs, len, lanes) = (word(4), word(5), word(6));
    let (channels, repeat, epsilon) = (word(7), word(8), float(params, 9));
    let (centred, has_scale, has_bias) = (params[10] != 0, params[11] != 0, params[12] != 0);
    let [x, scale, bias] = [0, 1, 2].map(|i| &inputs[i][word(i)..]);
    let output = &mut output[word(3)..][..runs * len];
    let mut partial = vec![0.0f32; lanes];
    let mut add_up = |run: &[f32], term: &dyn Fn(f32) -> f32| {
        partial.fill(0.0);
        for chunk in run.chunks(lanes) {
            partial.iter_mut().zip(chunk).for_each(|(sum, v)| *sum += term(*v));
        }
        tree_sum(&mut partial)
    };
    for (start, out) in (0..).step_by(len).zip(output.chunks_exact_mut(len)) {
        let run = &x[start..start + len];
        let mean = if centred { add_up(run, &|v| v) / len as f32 } else { 0.0 };
        let squares = add_up(run, &|v| (v - mean) * (v - mean));
        let deviation = (squares / len as f32 + epsilon).sqrt();
        for (i, (out, v)) in (start..).zip(out.iter_mut().zip(run)) {
            let channel = i / repeat % channels;
            *out = (v - mean) / deviation;
            if has_scale {
                *out *= scale[channel];
            }
            if has_bias {
                *out += bias[channel];
            }
        }
    }
}
