//! Twin of `shaders/resample.wgsl`: interpolation along two axes by tables.

use super::float;

/// Pairs (index, weight) of every position of one axis.
struct Table<'a> {
    pairs: &'a [f32],
    taps: usize,
}

impl Table<'_> {
    fn at(&self, position: usize) -> &[f32] {
        &self.pairs[position * self.taps * 2..][..self.taps * 2]
    }
}

/// The pairs that read something.
fn reading(pairs: &[f32]) -> impl Iterator<Item = (usize, f32)> + '_ {
    pairs.chunks_exact(2).filter(|pair| pair[1] != 0.0).map(|pair| (pair[0] as usize, pair[1]))
}

/// The kernel on the CPU.
pub(in crate::kernel) fn resample(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let word = |i: usize| params[i] as usize;
    let (count, in_a, in_b, out_a, out_b) = (word(4), word(5), word(6), word(7), word(8));
    let (between, inner, outside) = (word(9), word(10), float(params, 13));
    let x = &inputs[0][word(0)..];
    let a = Table { pairs: &inputs[1][word(1)..], taps: word(11) };
    let b = Table { pairs: &inputs[2][word(2)..], taps: word(12) };
    let row = between * in_b * inner;
    let line_len = out_b * inner;
    let lines = output[word(3)..][..count].chunks_exact_mut(line_len);
    for (line, out) in lines.enumerate() {
        let (middle, oa, outer) = (line % between, line / between % out_a, line / between / out_a);
        let start = outer * in_a * row + middle * in_b * inner;
        let pairs_a = a.at(oa);
        for (at, out) in out.iter_mut().enumerate() {
            let pairs_b = b.at(at / inner);
            let mut sum = 0.0f32;
            for (ia, weight_a) in reading(pairs_a) {
                let from = start + ia * row + at % inner;
                let mut part = 0.0f32;
                for (ib, weight_b) in reading(pairs_b) {
                    part += weight_b * x[from + ib * inner];
                }
                sum += weight_a * part;
            }
            *out = if pairs_a[0] < 0.0 || pairs_b[0] < 0.0 { outside } else { sum };
        }
    }
}
