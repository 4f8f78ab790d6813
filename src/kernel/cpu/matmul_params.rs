//! The parameter block that `matmul` and `matvec` share.

use super::activation::Activation;

/// Words of the block before padding; the last, `k_fast`, changes only which invocation reads what.
const WORDS: usize = 39;

/// The block, read; sizes, strides and starts are elements. Field order is the WGSL struct's.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatmulParams {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) a: [usize; 2],
    pub(super) b: [usize; 2],
    c: [usize; 2],
    pub(super) y_m: usize,
    starts: [usize; 5],
    batch: [usize; 3],
    a_batch: [usize; 3],
    b_batch: [usize; 3],
    alpha: f32,
    beta: f32,
    has_c: bool,
    accumulate: bool,
    has_addend: bool,
    activation: Activation,
    /// `matvec` only: partial sums an element.
    pub(super) split: usize,
}

impl MatmulParams {
    /// Reads a block that `lower_matmul` wrote.
    pub(super) fn read(params: &[u32]) -> Self {
        assert!(params.len() >= WORDS, "a matrix product's block has {WORDS} words, not {}", params.len());
        let word = |i: usize| params[i] as usize;
        let triple = |i: usize| [word(i), word(i + 1), word(i + 2)];
        MatmulParams {
            m: word(5),
            n: word(6),
            k: word(7),
            a: [word(8), word(9)],
            b: [word(10), word(11)],
            c: [word(12), word(13)],
            y_m: word(14),
            // The operand's base and the segment's start only ever act together.
            starts: [0, 1, 2, 3, 4].map(|i| word(i) + word(15 + i)),
            batch: triple(20),
            a_batch: triple(23),
            b_batch: triple(26),
            alpha: f32::from_bits(params[29]),
            beta: f32::from_bits(params[30]),
            has_c: word(31) != 0,
            accumulate: word(32) != 0,
            has_addend: word(33) != 0,
            activation: Activation::read([params[34], params[35], params[36]]),
            split: word(37),
        }
    }

    /// Matrices in the batch.
    pub(super) fn batches(&self) -> usize {
        self.batch.iter().product()
    }

    /// First elements of `a`, `b` and the output of one matrix of the batch.
    pub(super) fn matrix_starts(&self, batch: usize) -> [usize; 3] {
        let inner = self.batch[1] * self.batch[2];
        let at = [batch / inner, batch / self.batch[2] % self.batch[1], batch % self.batch[2]];
        let dot = |strides: [usize; 3]| at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
        let y = self.starts[4] + batch * self.m * self.y_m;
        [self.starts[0] + dot(self.a_batch), self.starts[1] + dot(self.b_batch), y]
    }

    /// What is stored for a sum at (matrix, row, column), given what stands there.
    pub(super) fn finish(&self, sum: f32, inputs: &[&[f32]], at: [usize; 3], former: f32) -> f32 {
        let [batch, row, column] = at;
        let mut y = self.alpha * sum;
        if self.has_c {
            y += self.beta * inputs[2][self.starts[2] + row * self.c[0] + column * self.c[1]];
        }
        if self.has_addend {
            y += inputs[3][self.starts[3] + (batch * self.m + row) * self.y_m + column];
        }
        if self.accumulate {
            y += former;
        }
        self.activation.apply(y)
    }
}
