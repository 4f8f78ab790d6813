//! Which element types an operator takes.

use super::{BinaryOp, Op, UnaryOp, Value};

/// What words are at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Int,
}

/// What an operator takes: one entry an input (the last stands for all further ones) and one for the output;
/// `None` is the kind that the others of `None` have too.
type Rule = (&'static [Option<Kind>], Option<Kind>);

const FLOAT: Option<Kind> = Some(Kind::Float);
const INT: Option<Kind> = Some(Kind::Int);
const SAME: Option<Kind> = None;

fn rule(op: &Op) -> Rule {
    match op {
        // What only moves elements takes both kinds, and does not change them.
        Op::Copy | Op::Transpose { .. } | Op::Slice { .. } | Op::Concat { .. } | Op::Pad { .. } => {
            (&[SAME], SAME)
        }
        Op::Reduce { .. } => (&[SAME], SAME),
        Op::MaxPoolIndices { .. } => (&[FLOAT], INT),
        Op::Expand | Op::Tile | Op::Trilu { .. } | Op::CumSum { .. } | Op::Sum => (&[SAME], SAME),
        Op::Select => (&[INT, SAME], SAME),
        Op::Gather { .. } | Op::GatherElements { .. } | Op::GatherNd { .. } => (&[SAME, INT], SAME),
        Op::ReverseSequence { .. } => (&[SAME, INT], SAME),
        Op::ScatterElements { .. } | Op::ScatterNd { .. } => (&[SAME, INT, SAME], SAME),
        Op::OneHot { .. } => (&[INT, SAME], SAME),
        Op::TopK { indices: false, .. } => (&[SAME], SAME),
        Op::TopK { indices: true, .. } | Op::ArgExtreme { .. } => (&[SAME], INT),
        Op::Unary(op) => match op {
            UnaryOp::Relu | UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sign => (&[SAME], SAME),
            UnaryOp::ClipInt { .. } | UnaryOp::Not | UnaryOp::BitwiseNot => (&[INT], INT),
            UnaryOp::IsNan | UnaryOp::IsInf { .. } => (&[FLOAT], INT),
            _ => (&[FLOAT], FLOAT),
        },
        Op::Binary(op) if op.is_comparison() => (&[SAME, SAME], INT),
        Op::Binary(op) => match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => (&[INT], INT),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::Mod { truncated: false } => (&[INT], INT),
            _ => (&[SAME], SAME),
        },
        _ => (&[FLOAT], FLOAT),
    }
}

impl Op {
    /// Holds the element types of a node against what its operator computes: float32 and int32 as they are at
    /// run time, not as the model has them.
    ///
    /// # Errors
    /// Names the tensor, its type and what is due.
    pub fn check_types(&self, inputs: &[&Value], output: &Value) -> Result<(), String> {
        if let Op::Cast = self {
            return Ok(());
        }
        let (wanted, result) = rule(self);
        let mut same: Option<&Value> = None;
        let due = |i: usize| wanted[i.min(wanted.len() - 1)];
        let all = inputs.iter().enumerate().map(|(i, value)| (*value, due(i))).chain([(output, result)]);
        for (value, wanted) in all {
            let found = if value.is_float() { Kind::Float } else { Kind::Int };
            let fault = |what: String| {
                Err(format!("tensor '{}' is {}, {} takes {what}", value.name, value.dtype, self.name()))
            };
            match (wanted, same) {
                (Some(kind), _) if kind == found => {}
                (Some(Kind::Float), _) => return fault("floats".into()),
                (Some(Kind::Int), _) => return fault("integers".into()),
                (None, Some(other)) if other.is_float() != value.is_float() => {
                    return fault(format!("the kind of '{}', which is {}", other.name, other.dtype));
                }
                (None, _) => same = Some(value),
            }
        }
        Ok(())
    }
}
