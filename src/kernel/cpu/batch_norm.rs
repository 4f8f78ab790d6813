//! Twin of `shaders/batch_norm.wgsl`.

use super::float;

/// Batch normalisation with given statistics.
pub fn batch_norm(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (channels, inner) = (params[7] as usize, params[8] as usize);
    let (epsilon, first_channel) = (float(params, 9), params[10] as usize);
    let [x, scale, bias, mean, variance] = inputs else { return };
    for (row, (out, x)) in output.chunks_exact_mut(inner).zip(x.chunks_exact(inner)).enumerate() {
        let c = first_channel + row % channels;
        let factor = scale[c] / (variance[c] + epsilon).sqrt();
        for (out, v) in out.iter_mut().zip(x) {
            *out = (v - mean[c]) * factor + bias[c];
        }
    }
}
