//! Twin of `shaders/lstm_cell.wgsl`.

use super::float;
use super::gates::Gate;

/// One step of an LSTM: the new cell state, or the output.
pub fn lstm_cell(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let word = |i: usize| params[i] as usize;
    let [gates, c, peephole] = [0, 1, 2].map(|i| &inputs[i][word(i)..]);
    let (hidden, clip) = (word(5), float(params, 9));
    let (is_output, coupled, has_peephole) = (params[6] != 0, params[7] != 0, params[8] != 0);
    let [f, g, h] = [10, 13, 16].map(|at| Gate::read(params, at, clip));
    for (i, out) in output[word(3)..][..word(4)].iter_mut().enumerate() {
        let (row, k, state) = (i / hidden, i % hidden, c[i]);
        let of = |which: usize| gates[(row * 4 + which) * hidden + k];
        let opened = |which: usize, hole: usize| {
            let hole = if has_peephole { peephole[hole * hidden + k] * state } else { 0.0 };
            f.open(of(which) + hole)
        };
        *out = if is_output {
            opened(1, 1) * h.activate(state)
        } else {
            let input = opened(0, 0);
            let kept = if coupled { 1.0 - input } else { opened(2, 2) };
            kept * state + input * g.open(of(3))
        };
    }
}
