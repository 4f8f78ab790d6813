//! One dispatch of one kernel, told in values of a graph: no buffer, no offset, no device.

use super::{KernelId, Tolerance};
use crate::graph::{Rows, ValueId};

/// What a binding of a dispatch shows to its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Elements `start_len .. start_len + len` of a value (row-major), bound exactly. `len` is never 0.
    Value {
        /// The value.
        value: ValueId,
        /// First element of the range.
        start_len: usize,
        /// Elements in the range.
        len: usize,
    },
    /// Nothing: the optional input is absent (or has no element). Four zeros are bound, so that the layout
    /// holds.
    Absent,
}

/// One dispatch. Its bindings in group 0 are: 0 the parameter block (uniform), 1..=inputs the inputs, then
/// the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    /// The kernel.
    pub kernel: KernelId,
    /// Inputs in binding order; as many as the kernel declares.
    pub inputs: Vec<Operand>,
    /// The one binding that is written; never [`Operand::Absent`]. A kernel may also read it.
    pub output: Operand,
    /// Parameter block, a multiple of 4 words. Its first words are the base element offsets of the
    /// bindings, inputs first, then the output; they are 0 here and set by whoever merges bindings.
    pub params: Vec<u32>,
    /// Workgroups in x, y, z, each 1..=65,535.
    pub workgroups: [u32; 3],
    /// Whether the kernel writes every element of `output` (a concat's input fills a part of it).
    pub fills_output: bool,
    /// Where the elements that the kernel writes lie in rows: element i of what it writes, front to back, is
    /// at [`Rows::place`] of `output`, which reaches from the first row to the last. The two numbers follow
    /// the parameter block, in four words.
    pub rows: Option<Rows>,
}

impl Dispatch {
    /// Allowed difference between the device and the twin: the kernel's, or less where the parameters choose
    /// a computation that is nearer. `reduce` takes logarithms and products, but also plain sums.
    pub fn tolerance(&self) -> Tolerance {
        match (self.kernel, self.params.get(REDUCE_KIND)) {
            // Mean, sum, sum of magnitudes: the same additions in the same order.
            (KernelId::Reduce, Some(0 | 1 | 5)) => Tolerance::relative(1e-6),
            // Largest and smallest.
            (KernelId::Reduce, Some(2 | 3)) => Tolerance::EXACT,
            _ => self.kernel.kernel().tolerance,
        }
    }
}

/// Where the parameter block of `reduce` says which reduction.
const REDUCE_KIND: usize = 7;

/// Writes a parameter block word by word, in the order of the WGSL struct.
#[derive(Debug, Default)]
pub struct ParamWriter(Vec<u32>);

impl ParamWriter {
    /// A block that starts with `bindings` base offsets of 0 (inputs, then the output).
    pub fn new(bindings: usize) -> Self {
        ParamWriter(vec![0; bindings])
    }

    /// Appends an unsigned word.
    pub fn u32(mut self, word: u32) -> Self {
        self.0.push(word);
        self
    }

    /// Appends a signed word.
    pub fn i32(self, word: i32) -> Self {
        self.u32(word as u32)
    }

    /// Appends a float, by its bits.
    pub fn f32(self, word: f32) -> Self {
        self.u32(word.to_bits())
    }

    /// Appends zeros up to a multiple of 4 words, as a `vec4<u32>` member needs.
    pub fn align4(mut self) -> Self {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// The block, padded to a multiple of 4 words.
    pub fn finish(self) -> Vec<u32> {
        self.align4().0
    }
}
