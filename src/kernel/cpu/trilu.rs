//! Twin of `shaders/trilu.wgsl`.

/// Keeps the upper or lower triangle of each matrix.
pub fn trilu(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (rows, columns) = (params[3] as usize, params[4] as usize);
    let (diagonal, upper) = (params[5] as i32, params[6] == 1);
    for (i, (out, x)) in output.iter_mut().zip(inputs[0]).enumerate() {
        let distance = (i % columns) as i32 - (i / columns % rows) as i32;
        let kept = if upper { distance >= diagonal } else { distance <= diagonal };
        *out = if kept { *x } else { 0.0 };
    }
}
