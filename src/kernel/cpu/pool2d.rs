//! Twin of `shaders/pool2d.wgsl`: the largest element, the mean or a norm of a window.

use super::float;
use super::parallel::over_rows;

/// The parameter block, read; counts are elements.
struct Pool {
    bases: [usize; 2],
    planes: usize,
    input: [usize; 2],
    out: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    /// Top and left, then bottom and right.
    pads: [[usize; 2]; 2],
    dilation: [usize; 2],
    /// 0 largest, 1 mean inside the input, 2 mean inside the padded input, 3 norm.
    kind: u32,
    power: f32,
}

/// The kernel on the CPU.
pub(in crate::kernel) fn run(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let pair = |i: usize| [params[i] as usize, params[i + 1] as usize];
    let p = Pool {
        bases: pair(0),
        planes: params[2] as usize,
        input: pair(3),
        out: pair(5),
        kernel: pair(7),
        stride: pair(9),
        pads: [pair(11), pair(13)],
        dilation: pair(15),
        kind: params[17],
        power: float(params, 18),
    };
    let (in_len, out_len) = (p.input[0] * p.input[1], p.out[0] * p.out[1]);
    let x = &inputs[0][p.bases[0]..];
    let y = &mut output[p.bases[1]..][..p.planes * out_len];
    let work = y.len() * p.kernel[0] * p.kernel[1];
    over_rows(y, out_len, 1, work, |first, planes| {
        for (plane, out) in (first..).zip(planes.chunks_exact_mut(out_len)) {
            let image = &x[plane * in_len..][..in_len];
            for (pixel, y) in out.iter_mut().enumerate() {
                *y = p.window(image, [pixel / p.out[1], pixel % p.out[1]]);
            }
        }
    });
}

impl Pool {
    /// One output element.
    fn window(&self, image: &[f32], at: [usize; 2]) -> f32 {
        let (mut largest, mut sum, mut count) = (-3.402_823_3e38_f32, 0.0f32, 0u32);
        for ky in 0..self.kernel[0] {
            let row = at[0] * self.stride[0] + ky * self.dilation[0];
            for kx in 0..self.kernel[1] {
                let column = at[1] * self.stride[1] + kx * self.dilation[1];
                if self.inside(0, row) && self.inside(1, column) {
                    let value = image[(row - self.pads[0][0]) * self.input[1] + column - self.pads[0][1]];
                    largest = largest.max(value);
                    sum += if self.kind == 3 { to_power(value.abs(), self.power) } else { value };
                    count += 1;
                } else if self.kind == 2 && row < self.padded(0) && column < self.padded(1) {
                    count += 1;
                }
            }
        }
        match self.kind {
            0 => largest,
            3 => to_power(sum, 1.0 / self.power),
            _ => sum / count.max(1) as f32,
        }
    }

    /// Whether a position, counted from the padded input's corner, lies in the input.
    fn inside(&self, axis: usize, position: usize) -> bool {
        position >= self.pads[0][axis] && position - self.pads[0][axis] < self.input[axis]
    }

    /// Extent of the padded input.
    fn padded(&self, axis: usize) -> usize {
        self.pads[0][axis] + self.input[axis] + self.pads[1][axis]
    }
}

fn to_power(v: f32, power: f32) -> f32 {
    match power {
        1.0 => v,
        2.0 => v * v,
        0.5 => v.sqrt(),
        _ => v.powf(power),
    }
}
