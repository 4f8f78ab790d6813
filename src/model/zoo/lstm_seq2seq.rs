//! A recurrent encoder and decoder, unrolled (arXiv 1409.3215): the character-level translator of Keras'
//! examples at its own sizes. One LSTM of 256 cells reads 16 characters of 71; another, started from its
//! state, writes 59 of 93, each told the one before.
//!
//! Inputs: `source [16, 71]` and `target [59, 93]`, a row a character. Output: `predictions [59, 93]`.

use super::builder::{Builder, LOGITS_GAIN};
use super::dense::Dense;
use crate::graph::{BinaryOp, Graph, UnaryOp, ValueId};

const CELLS: usize = 256;
const SOURCE: [usize; 2] = [16, 71];
const TARGET: [usize; 2] = [59, 93];

/// Weights that every step of a network shares.
struct Lstm {
    input: Dense,
    bias: ValueId,
    hidden: Dense,
}

/// What a step hands to the next.
#[derive(Clone, Copy)]
struct State {
    hidden: ValueId,
    cell: ValueId,
}

impl Lstm {
    fn new(b: &mut Builder, name: &str, inputs: usize) -> Lstm {
        Lstm {
            input: b.dense_weights(&format!("{name}/input"), inputs, 4 * CELLS, 4.0),
            bias: b.bias(name, 4 * CELLS),
            hidden: b.dense_weights(&format!("{name}/hidden"), CELLS, 4 * CELLS, 4.0),
        }
    }

    /// Reads one row; a network that starts has no state, which is one of zeros.
    fn step(&self, b: &mut Builder, name: &str, row: ValueId, state: Option<State>) -> State {
        let mut gates = b.product(&format!("{name}/input"), row, self.input, self.bias);
        if let Some(state) = state {
            gates = b.product(&format!("{name}/gates"), state.hidden, self.hidden, gates);
        }
        let gate = |b: &mut Builder, what: &str, i: usize, f: UnaryOp| {
            let part = b.slice(&format!("{name}/{what}/part"), gates, 1, i * CELLS, CELLS);
            b.unary(&format!("{name}/{what}"), part, f)
        };
        let write = gate(b, "write", 0, UnaryOp::Sigmoid);
        let update = gate(b, "update", 2, UnaryOp::Tanh);
        let mut cell = b.binary(&format!("{name}/written"), BinaryOp::Mul, write, update);
        if let Some(state) = state {
            let keep = gate(b, "keep", 1, UnaryOp::Sigmoid);
            let kept = b.binary(&format!("{name}/kept"), BinaryOp::Mul, keep, state.cell);
            cell = b.add(&format!("{name}/cell"), kept, cell);
        }
        let show = gate(b, "show", 3, UnaryOp::Sigmoid);
        let shown = b.unary(&format!("{name}/cell/tanh"), cell, UnaryOp::Tanh);
        State { hidden: b.binary(&format!("{name}/hidden"), BinaryOp::Mul, show, shown), cell }
    }
}

pub(super) fn build() -> Graph {
    let mut b = Builder::new("lstm_seq2seq", 0x6c73_746d_7365_7132);
    let source = b.input("source", &SOURCE);
    let target = b.input("target", &TARGET);
    let encoder = Lstm::new(&mut b, "encoder", SOURCE[1]);
    let mut state = None;
    for i in 0..SOURCE[0] {
        let row = b.slice(&format!("source{i}"), source, 0, i, 1);
        state = Some(encoder.step(&mut b, &format!("encoder{i}"), row, state));
    }
    let decoder = Lstm::new(&mut b, "decoder", TARGET[1]);
    let mut rows = Vec::new();
    for i in 0..TARGET[0] {
        let row = b.slice(&format!("target{i}"), target, 0, i, 1);
        let next = decoder.step(&mut b, &format!("decoder{i}"), row, state);
        rows.push(next.hidden);
        state = Some(next);
    }
    let hidden = b.concat("hidden", 0, &rows);
    let logits = b.dense("logits", hidden, TARGET[1], LOGITS_GAIN);
    let out = b.softmax("predictions", logits);
    b.output(out);
    b.finish()
}
