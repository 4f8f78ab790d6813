//! One decoder block of GPT-2 small (Radford et al., "Language models are unsupervised multitask learners",
//! 2019) at its last position: one token is read beside the keys and values of the 1,023 before it.
//!
//! Inputs: `hidden [1, 768]`, the token's embedding or what the block before gave; `past_key` and
//! `past_value`, each `[12, 1023, 64]`: heads, positions, width of a head. Outputs: `next_hidden [1, 768]`;
//! `present_key` and `present_value`, each `[12, 1024, 64]`, the cache with this position at its end. The
//! scale of the attention is folded into the weights of the queries.

use super::builder::Builder;
use crate::graph::{Graph, UnaryOp, ValueId};

const WIDTH: usize = 768;
const HEADS: usize = 12;
const HEAD: usize = WIDTH / HEADS;
/// Positions in the cache before this one.
const PAST: usize = 1023;

fn heads(b: &mut Builder, name: &str, x: ValueId, gain: f32) -> ValueId {
    let y = b.dense(name, x, WIDTH, gain);
    b.reshape(&format!("{name}/heads"), y, &[HEADS, 1, HEAD])
}

/// The cache with one position more.
fn grown(b: &mut Builder, what: &str, past: ValueId, x: ValueId) -> ValueId {
    let y = heads(b, what, x, 1.0);
    b.concat(&format!("present_{what}"), 1, &[past, y])
}

pub(super) fn build() -> Graph {
    let mut b = Builder::new("gpt_block", 0x6770_745f_626c_6f63);
    let hidden = b.input("hidden", &[1, WIDTH]);
    let past_key = b.input("past_key", &[HEADS, PAST, HEAD]);
    let past_value = b.input("past_value", &[HEADS, PAST, HEAD]);

    let x = b.layer_norm("norm1", hidden);
    let query = heads(&mut b, "query", x, 1.0 / HEAD as f32);
    let key = grown(&mut b, "key", past_key, x);
    let value = grown(&mut b, "value", past_value, x);
    let columns = b.transpose("present_key/transposed", key, &[0, 2, 1]);
    let scores = b.matmul("scores", query, columns);
    let shares = b.softmax("shares", scores);
    let mixed = b.matmul("mixed", shares, value);
    let mixed = b.reshape("mixed/joined", mixed, &[1, WIDTH]);
    let y = b.dense("attention", mixed, WIDTH, 1.0);
    let hidden = b.add("add1", hidden, y);

    let y = b.layer_norm("norm2", hidden);
    let y = b.dense("dense1", y, 4 * WIDTH, 1.0);
    let y = b.unary("gelu", y, UnaryOp::Gelu { tanh: true });
    let y = b.dense("dense2", y, WIDTH, 1.0);
    let out = b.add("next_hidden", hidden, y);
    [out, key, value].into_iter().for_each(|id| b.output(id));
    b.finish()
}
