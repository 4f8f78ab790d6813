//! Twin of `shaders/reverse_sequence.wgsl`.

/// Reverses the first steps of each sequence.
pub fn reverse_sequence(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (batches, batch_stride) = (params[4] as usize, params[5] as usize);
    let (steps, step_stride) = (params[6] as usize, params[7] as usize);
    for (i, out) in output.iter_mut().enumerate() {
        let (batch, step) = (i / batch_stride % batches, i / step_stride % steps);
        let length = (inputs[1][batch].to_bits() as usize).min(steps);
        let from = if step < length { length - 1 - step } else { step };
        *out = inputs[0][i - step * step_stride + from * step_stride];
    }
}
