//! ViT-Ti/16, 224 x 224 (arXiv 2010.11929; the tiny size is from arXiv 2012.12877, table 1), 1,000 classes.
//!
//! The scale of the attention is folded into the weights of the queries.

use super::builder::{Builder, LOGITS_GAIN};
use super::conv::Conv;
use crate::graph::{Graph, UnaryOp, ValueId};

const WIDTH: usize = 192;
const HEADS: usize = 3;
const DEPTH: usize = 12;
/// 14 x 14 patches and the one that stands for the class.
const TOKENS: usize = 197;
const HEAD: usize = WIDTH / HEADS;

fn attention(b: &mut Builder, name: &str, x: ValueId) -> ValueId {
    // Scores of variance 1: a softmax that is neither flat nor a choice of one.
    let heads = [("query", 1.0 / HEAD as f32, [1, 0, 2]), ("key", 1.0, [1, 2, 0]), ("value", 1.0, [1, 0, 2])];
    let [q, k, v] = heads.map(|(what, gain, perm)| {
        let name = format!("{name}/{what}");
        let y = b.dense(&name, x, WIDTH, gain);
        let y = b.reshape(&format!("{name}/heads"), y, &[TOKENS, HEADS, HEAD]);
        b.transpose(&format!("{name}/transposed"), y, &perm)
    });
    let scores = b.matmul(&format!("{name}/scores"), q, k);
    let shares = b.softmax(&format!("{name}/shares"), scores);
    let y = b.matmul(&format!("{name}/mixed"), shares, v);
    let y = b.transpose(&format!("{name}/mixed/transposed"), y, &[1, 0, 2]);
    let y = b.reshape(&format!("{name}/mixed/joined"), y, &[TOKENS, WIDTH]);
    // Attention makes tokens alike, so that what 12 blocks add would add up.
    b.dense(&format!("{name}/out"), y, WIDTH, 0.1)
}

fn block(b: &mut Builder, name: &str, x: ValueId) -> ValueId {
    let y = b.layer_norm(&format!("{name}/norm1"), x);
    let y = attention(b, &format!("{name}/attention"), y);
    let x = b.add(&format!("{name}/add1"), x, y);
    let y = b.layer_norm(&format!("{name}/norm2"), x);
    let y = b.dense(&format!("{name}/dense1"), y, 4 * WIDTH, 1.0);
    let y = b.unary(&format!("{name}/gelu"), y, UnaryOp::Gelu { tanh: false });
    let y = b.dense(&format!("{name}/dense2"), y, WIDTH, 0.5);
    b.add(&format!("{name}/add2"), x, y)
}

pub(super) fn build() -> Graph {
    let (mut b, input) = Builder::picture("vit_tiny", 0x7669_745f_7469_6e79, [1, 3, 224, 224]);
    let patches = Conv::new(16, WIDTH).stride(16).valid().linear();
    let x = b.conv("patches", input, patches);
    let x = b.reshape("patches/flat", x, &[WIDTH, TOKENS - 1]);
    let x = b.transpose("patches/tokens", x, &[1, 0]);
    let class = b.weights("class".to_owned(), &[1, WIDTH], 0.0, 1.0);
    let x = b.concat("tokens", 0, &[class, x]);
    let places = b.weights("places".to_owned(), &[TOKENS, WIDTH], 0.0, 1.0);
    let mut x = b.add("tokens/placed", x, places);
    for i in 0..DEPTH {
        x = block(&mut b, &format!("block{i}"), x);
    }
    x = b.layer_norm("norm", x);
    x = b.slice("norm/class", x, 0, 0, 1);
    x = b.dense("logits", x, 1000, LOGITS_GAIN / 2.0);
    x = b.softmax("predictions", x);
    b.output(x);
    b.finish()
}
