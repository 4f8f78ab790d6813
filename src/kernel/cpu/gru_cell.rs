//! Twin of `shaders/gru_cell.wgsl`.

use super::float;
use super::gates::Gate;

/// One step of a GRU.
pub fn gru_cell(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let word = |i: usize| params[i] as usize;
    let [x, y, h] = [0, 1, 2].map(|i| &inputs[i][word(i)..]);
    let (hidden, what, clip) = (word(5), params[6], float(params, 7));
    let [f, g] = [8, 11].map(|at| Gate::read(params, at, clip));
    for (i, out) in output[word(3)..][..word(4)].iter_mut().enumerate() {
        let (row, k, last) = (i / hidden, i % hidden, h[i]);
        let (update, candidate) = match what {
            0 => {
                *out = f.open(x[(row * 2 + 1) * hidden + k]) * last;
                continue;
            }
            1 => (x[row * 2 * hidden + k], y[i]),
            _ => {
                let at = row * 3 * hidden + k;
                let reset = f.open(x[at + hidden] + y[at + hidden]);
                (x[at] + y[at], x[at + 2 * hidden] + reset * y[at + 2 * hidden])
            }
        };
        let z = f.open(update);
        *out = (1.0 - z) * g.open(candidate) + z * last;
    }
}
