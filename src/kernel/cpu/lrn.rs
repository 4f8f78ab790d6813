//! Twin of `shaders/lrn.wgsl`.

use super::float;

/// Local response normalisation across channels.
pub fn lrn(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (channels, inner) = (params[3] as usize, params[4] as usize);
    let (before, after) = (params[5] as usize, params[6] as usize);
    let (scale, beta, bias) = (float(params, 7), float(params, 8), float(params, 9));
    let image_len = channels * inner;
    let mut sums = vec![0.0f32; inner];
    for (image, out) in inputs[0].chunks_exact(image_len).zip(output.chunks_exact_mut(image_len)) {
        for (c, out) in out.chunks_exact_mut(inner).enumerate() {
            let first = c - c.min(before);
            let last = c + (channels - 1 - c).min(after);
            sums.fill(0.0);
            for row in image[first * inner..(last + 1) * inner].chunks_exact(inner) {
                sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += v * v);
            }
            for ((out, v), sum) in out.iter_mut().zip(&image[c * inner..]).zip(&sums) {
                *out = v / (bias + scale * sum).powf(beta);
            }
        }
    }
}
