//! Twin of `shaders/pool2d.wgsl`: the largest element or the mean of a window.

use super::parallel::over_rows;

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let word = |i: usize| params[i] as usize;
    let (in_h, in_w, out_h, out_w) = (word(3), word(4), word(5), word(6));
    let (kernel, stride, dilation) = ([word(7), word(8)], [word(9), word(10)], [word(15), word(16)]);
    let (pads, kind) = ([word(11), word(12), word(13), word(14)], params[17]);
    let x = &inputs[0][word(0)..];
    let y = &mut output[word(1)..][..word(2) * out_h * out_w];
    let work = y.len() * kernel[0] * kernel[1];
    over_rows(y, out_h * out_w, 1, work, |first, planes| {
        for (plane, out) in (first..).zip(planes.chunks_exact_mut(out_h * out_w)) {
            let image = &x[plane * in_h * in_w..][..in_h * in_w];
            for (pixel, y) in out.iter_mut().enumerate() {
                let at = [pixel / out_w * stride[0], pixel % out_w * stride[1]];
                let (mut largest, mut sum, mut count) = (f32::MIN, 0.0f32, 0u32);
                for ky in 0..kernel[0] {
                    let row = at[0] + ky * dilation[0];
                    for kx in 0..kernel[1] {
                        let column = at[1] + kx * dilation[1];
                        let inside = (pads[0]..pads[0] + in_h).contains(&row)
                            && (pads[1]..pads[1] + in_w).contains(&column);
                        if inside {
                            let value = image[(row - pads[0]) * in_w + (column - pads[1])];
                            largest = largest.max(value);
                            sum += value;
                            count += 1;
                        } else if kind == 2
                            && row < pads[0] + in_h + pads[2]
                            && column < pads[1] + in_w + pads[3]
                        {
                            count += 1;
                        }
                    }
                }
                *y = if kind == 0 { largest } else { sum / count.max(1) as f32 };
            }
        }
    });
}
