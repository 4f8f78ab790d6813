//! Twin of `shaders/hardmax.wgsl`.

/// The first of the largest elements along the middle of `[outer, axis, inner]`.
pub fn hardmax(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let (rows, axis, inner) = (params[2] as usize, params[3] as usize, params[4] as usize);
    let x = &inputs[0][params[0] as usize..];
    let output = &mut output[params[1] as usize..];
    for row in 0..rows {
        let start = row / inner * axis * inner + row % inner;
        let places = (start..).step_by(inner).take(axis);
        let mut best = start;
        for i in places.clone() {
            best = if x[i] > x[best] { i } else { best };
        }
        places.for_each(|i| output[i] = if i == best { 1.0 } else { 0.0 });
    }
}
