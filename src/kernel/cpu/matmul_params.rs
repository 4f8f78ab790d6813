//! The parameter block that `matmul` and `matvec` share.

/// Words of the block before padding; the last, `k_fast`, changes only which invocation reads what.
const WORDS: usize = 33;

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
    starts: [usize; 4],
    batch: [usize; 3],
    a_batch: [usize; 3],
    b_batch: [usize; 3],
    alpha: f32,
    beta: f32,
    has_c: bool,
    accumulate: bool,
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
            m: word(4),
            n: word(5),
            k: word(6),
            a: [word(7), word(8)],
            b: [word(9), word(10)],
            c: [word(11), word(12)],
            y_m: word(13),
            // The operand's base and the segment's start only ever act together.
            starts: [0, 1, 2, 3].map(|i| word(i) + word(14 + i)),
            batch: triple(18),
            a_batch: triple(21),
            b_batch: triple(24),
            alpha: f32::from_bits(params[27]),
            beta: f32::from_bits(params[28]),
            has_c: word(29) != 0,
            accumulate: word(30) != 0,
            split: word(31),
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
        let y = self.starts[3] + batch * self.m * self.y_m;
        [self.starts[0] + dot(self.a_batch), self.starts[1] + dot(self.b_batch), y]
    }

    /// What is stored for a sum, given what stands there.
    pub(super) fn finish(&self, sum: f32, c: &[f32], row: usize, column: usize, former: f32) -> f32 {
        let mut y = self.alpha * sum;
        if self.has_c {
            y += self.beta * c[self.starts[2] + row * self.c[0] + column * self.c[1]];
        }
        if self.accumulate {
            y += former;
        }
        y
    }
}
