//! What the backward step of an operator reads, one row an operator. An operator without a row of its own
//! keeps all that it read and wrote: too much at times, never too little.

use crate::graph::{BinaryOp, Graph, Node, Op, PoolKind, ReduceKind, Reduction, UnaryOp, WORD_BYTES};

/// What a forward step writes for its backward step alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saved {
    Nothing,
    /// So many bytes for one sample.
    PerSample(u64),
    /// So many bytes, however many samples there are.
    Once(u64),
}

/// What a backward step reads besides the gradients of the node's outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// Inputs of the node, by position.
    pub inputs: Vec<bool>,
    /// Outputs of the node.
    pub output: bool,
    /// What its forward step wrote for it.
    pub saved: Saved,
    /// Whether it needs a tensor of the output's size for itself.
    pub scratch: bool,
}

/// Whether no gradient passes: what the operator writes is constant around almost every input.
pub(super) fn stops(op: &Op) -> bool {
    use UnaryOp as U;
    match op {
        Op::Unary(U::Floor | U::Ceil | U::Round | U::Sign) | Op::Hardmax { .. } | Op::OneHot { .. } => true,
        Op::TopK { indices, .. } => *indices,
        _ => false,
    }
}

/// Whether an input gets a gradient at all, if it is of floats.
pub(super) fn reaches(op: &Op, position: usize) -> bool {
    match op {
        _ if stops(op) => false,
        // Running statistics follow the batches, not the loss.
        Op::BatchNormalization { .. } => position < 3,
        // Behind the picture come tables of positions and shares.
        Op::Resample { .. } => position == 0,
        _ => true,
    }
}

/// The row of a node, of whose inputs those that `wants` marks get a gradient.
pub(super) fn rule(graph: &Graph, node: &Node, wants: &[bool]) -> Rule {
    let out_words = graph.get(node.outputs[0]).len() as u64;
    let none =
        Rule { inputs: vec![false; wants.len()], output: false, saved: Saved::Nothing, scratch: false };
    let only =
        |position: usize| Rule { inputs: (0..wants.len()).map(|i| i == position).collect(), ..none.clone() };
    let output = Rule { output: true, ..none.clone() };
    let both = Rule { inputs: vec![true; wants.len()], output: true, ..none.clone() };
    // Each factor meets the gradient of the product on its way to the other one.
    let product = || {
        let mut inputs = vec![false; wants.len()];
        if let [a, b, ..] = wants {
            (inputs[0], inputs[1]) = (*b, *a);
        }
        Rule { inputs, ..none.clone() }
    };
    match &node.op {
        Op::Conv { activation: None, .. } | Op::Conv3d { .. } | Op::ConvTranspose { .. } => product(),
        Op::Conv { activation: Some(f), .. }
        | Op::MatMul { activation: Some(f) }
        | Op::Gemm { activation: Some(f), .. } => {
            let saved =
                if from_output(f) { Saved::Nothing } else { Saved::PerSample(out_words * WORD_BYTES) };
            Rule { output: from_output(f), saved, scratch: true, ..product() }
        }
        Op::MatMul { .. } | Op::Gemm { .. } | Op::Binary(BinaryOp::Mul) => product(),
        Op::Binary(BinaryOp::Add | BinaryOp::Sub) | Op::Sum | Op::Concat { .. } | Op::Copy => none,
        Op::Transpose { .. } | Op::Pad { .. } | Op::Slice { .. } | Op::Expand | Op::Tile | Op::Cast => none,
        Op::ReduceMean { .. } | Op::CumSum { .. } | Op::Trilu { .. } => none,
        Op::Reduce { kind: ReduceKind::Sum | ReduceKind::Mean, .. } => none,
        Op::Pool { kind: PoolKind::Average { .. }, .. } => none,
        // Where the largest element of each window stood.
        Op::Pool { kind: PoolKind::Max, .. } => {
            Rule { saved: Saved::PerSample(out_words * WORD_BYTES), ..none }
        }
        Op::Binary(BinaryOp::Div) => {
            let divisor_wants = wants.get(1) == Some(&true);
            Rule { output: divisor_wants, ..only(1) }
        }
        Op::Unary(UnaryOp::Neg) => none,
        Op::Unary(f) if from_output(f) => output,
        Op::Unary(_) | Op::Gate { .. } => only(0),
        Op::Softmax { .. } | Op::LogSoftmax { .. } => output,
        // Mean and deviation of each channel over the batch.
        Op::BatchNormalization { .. } => {
            let channels = node.inputs.get(1).map_or(0, |id| graph.get(*id).len() as u64);
            Rule { saved: Saved::Once(2 * channels * WORD_BYTES), ..only(0) }
        }
        // Mean and deviation of each run.
        Op::Normalize { len, .. } => {
            let runs = out_words / (*len as u64).max(1);
            Rule { saved: Saved::PerSample(2 * runs * WORD_BYTES), ..only(0) }
        }
        Op::Resample { .. } => Rule { inputs: (0..wants.len()).map(|i| i > 0).collect(), ..none },
        Op::Select => only(0),
        Op::Gather { .. } | Op::GatherElements { .. } | Op::GatherNd { .. } => only(1),
        Op::ReverseSequence { .. } => only(1),
        Op::ScatterElements { reduction: Reduction::Replace | Reduction::Add, .. } => only(1),
        Op::ScatterNd { reduction: Reduction::Replace | Reduction::Add } => only(1),
        _ => both,
    }
}

/// Whether the slope of an activation can be told from what it wrote.
fn from_output(f: &UnaryOp) -> bool {
    use UnaryOp as U;
    match f {
        // Under a negative slope the sign is lost.
        U::LeakyRelu { alpha } => *alpha > 0.0,
        U::Relu | U::Clip { .. } | U::Sigmoid | U::HardSigmoid { .. } | U::Tanh | U::Exp => true,
        U::Sqrt | U::Reciprocal | U::Softplus | U::Elu { .. } | U::Selu { .. } | U::Celu { .. } => true,
        _ => false,
    }
}
