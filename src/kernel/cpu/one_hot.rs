//! Twin of `shaders/one_hot.wgsl`.

/// Marks indices.
pub fn one_hot(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (depth, inner) = (params[4], params[5] as usize);
    let (indices, values) = (inputs[0], inputs[1]);
    for (i, out) in output.iter_mut().enumerate() {
        let (n, d, o) = (i % inner, (i / inner) as u32 % depth, i / inner / depth as usize);
        let index = indices[o * inner + n].to_bits();
        let hit = index == d || index.wrapping_add(depth) == d;
        *out = values[usize::from(hit)];
    }
}
