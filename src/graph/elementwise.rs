//! Element-wise functions.

/// Element-wise functions of one tensor. Those without a word on types take floats.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum UnaryOp {
    /// `max(x, 0)`, of integers too.
    Relu,
    /// `x` where `x >= 0`, else `alpha * x`.
    LeakyRelu {
        /// Slope of the negative side.
        alpha: f32,
    },
    /// `min(max(x, min), max)`.
    Clip {
        /// Lower bound (`f32::MIN` where open).
        min: f32,
        /// Upper bound (`f32::MAX` where open).
        max: f32,
    },
    /// The same of integers.
    ClipInt {
        /// Lower bound.
        min: i32,
        /// Upper bound.
        max: i32,
    },
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `clamp(alpha * x + beta, 0, 1)`.
    HardSigmoid {
        /// Slope.
        alpha: f32,
        /// Value at 0.
        beta: f32,
    },
    /// `x * clamp(x / 6 + 0.5, 0, 1)`.
    HardSwish,
    /// Square root.
    Sqrt,
    /// Exponential.
    Exp,
    /// `-x`, of integers too.
    Neg,
    /// `1 / x`.
    Reciprocal,
    /// Magnitude, of integers too.
    Abs,
    /// Largest whole number that is not above.
    Floor,
    /// Least whole number that is not below.
    Ceil,
    /// Nearest whole number, halfway cases to even.
    Round,
    /// -1, 0 or 1, of integers too.
    Sign,
    /// Natural logarithm.
    Log,
    /// Error function.
    Erf,
    /// `log(1 + exp(x))`.
    Softplus,
    /// `x / (1 + |x|)`.
    Softsign,
    /// `x` where `x >= 0`, else `alpha * (exp(x) - 1)`.
    Elu {
        /// Limit of the negative side, sign turned.
        alpha: f32,
    },
    /// `gamma * x` where `x > 0`, else `gamma * alpha * (exp(x) - 1)`.
    Selu {
        /// Limit of the negative side before `gamma`, sign turned.
        alpha: f32,
        /// Factor of both sides.
        gamma: f32,
    },
    /// `max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)`.
    Celu {
        /// Limit of the negative side, sign turned.
        alpha: f32,
    },
    /// `x` where `x > alpha`, else 0.
    ThresholdedRelu {
        /// The threshold.
        alpha: f32,
    },
    /// `x * tanh(softplus(x))`.
    Mish,
    /// `x` times the normal distribution at `x`.
    Gelu {
        /// By the hyperbolic tangent rather than by the error function.
        tanh: bool,
    },
    /// `x + bias` below `-lambda`, `x - bias` above `lambda`, else 0.
    Shrink {
        /// Half the width of what becomes 0.
        lambda: f32,
        /// Distance that the rest is moved toward 0.
        bias: f32,
    },
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Inverse of the hyperbolic sine.
    Asinh,
    /// Inverse of the hyperbolic cosine.
    Acosh,
    /// Inverse of the hyperbolic tangent.
    Atanh,
    /// Of integers: 1 where `x` is 0, else 0.
    Not,
    /// Of integers: every bit turned.
    BitwiseNot,
    /// To integers: 1 where `x` is not a number, else 0.
    IsNan,
    /// To integers: 1 where `x` is one of the infinities asked for, else 0.
    IsInf {
        /// Positive infinity counts.
        positive: bool,
        /// Negative infinity counts.
        negative: bool,
    },
}

impl UnaryOp {
    /// Name for reports and errors.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Relu => "Relu",
            UnaryOp::LeakyRelu { .. } => "LeakyRelu",
            UnaryOp::Clip { .. } | UnaryOp::ClipInt { .. } => "Clip",
            UnaryOp::Sigmoid => "Sigmoid",
            UnaryOp::Tanh => "Tanh",
            UnaryOp::HardSigmoid { .. } => "HardSigmoid",
            UnaryOp::HardSwish => "HardSwish",
            UnaryOp::Sqrt => "Sqrt",
            UnaryOp::Exp => "Exp",
            UnaryOp::Neg => "Neg",
            UnaryOp::Reciprocal => "Reciprocal",
            UnaryOp::Abs => "Abs",
            UnaryOp::Floor => "Floor",
            UnaryOp::Ceil => "Ceil",
            UnaryOp::Round => "Round",
            UnaryOp::Sign => "Sign",
            UnaryOp::Log => "Log",
            UnaryOp::Erf => "Erf",
            UnaryOp::Softplus => "Softplus",
            UnaryOp::Softsign => "Softsign",
            UnaryOp::Elu { .. } => "Elu",
            UnaryOp::Selu { .. } => "Selu",
            UnaryOp::Celu { .. } => "Celu",
            UnaryOp::ThresholdedRelu { .. } => "ThresholdedRelu",
            UnaryOp::Mish => "Mish",
            UnaryOp::Gelu { .. } => "Gelu",
            UnaryOp::Shrink { .. } => "Shrink",
            UnaryOp::Sin => "Sin",
            UnaryOp::Cos => "Cos",
            UnaryOp::Tan => "Tan",
            UnaryOp::Asin => "Asin",
            UnaryOp::Acos => "Acos",
            UnaryOp::Atan => "Atan",
            UnaryOp::Sinh => "Sinh",
            UnaryOp::Cosh => "Cosh",
            UnaryOp::Asinh => "Asinh",
            UnaryOp::Acosh => "Acosh",
            UnaryOp::Atanh => "Atanh",
            UnaryOp::Not => "Not",
            UnaryOp::BitwiseNot => "BitwiseNot",
            UnaryOp::IsNan => "IsNaN",
            UnaryOp::IsInf { .. } => "IsInf",
        }
    }
}

/// Element-wise functions of two tensors with ONNX (multidirectional) broadcasting: of floats or of
/// integers, both the same, unless said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BinaryOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`; of integers toward zero, and `a` where `b` is 0.
    Div,
    /// `a` to the power `b`.
    Pow,
    /// `a` where `a >= 0`, else `a * b` (b is the slope).
    Prelu,
    /// The lesser; not a number where one is not.
    Min,
    /// The larger; not a number where one is not.
    Max,
    /// Remainder of `a / b`; of integers 0 where `b` is 0.
    Mod {
        /// The sign is that of `a` rather than of `b`. Floats need it.
        truncated: bool,
    },
    /// Of integers: bit by bit; of bools, which are 0 and 1, logically.
    And,
    /// Of integers: bit by bit or logically.
    Or,
    /// Of integers: bit by bit or logically.
    Xor,
    /// Of integers: `a` moved left by `b` bits.
    ShiftLeft,
    /// Of integers: `a` moved right by `b` bits.
    ShiftRight,
    /// To integers: 1 where `a` equals `b`, else 0.
    Equal,
    /// To integers: 1 where `a < b`, else 0.
    Less,
    /// To integers: 1 where `a > b`, else 0.
    Greater,
    /// To integers: 1 where `a <= b`, else 0.
    LessOrEqual,
    /// To integers: 1 where `a >= b`, else 0.
    GreaterOrEqual,
}

impl BinaryOp {
    /// Whether the result is 0 or 1 whatever the operands are.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Equal | Less | Greater | LessOrEqual | GreaterOrEqual)
    }

    /// Name for reports and errors.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "Add",
            BinaryOp::Sub => "Sub",
            BinaryOp::Mul => "Mul",
            BinaryOp::Div => "Div",
            BinaryOp::Pow => "Pow",
            BinaryOp::Prelu => "PRelu",
            BinaryOp::Min => "Min",
            BinaryOp::Max => "Max",
            BinaryOp::Mod { .. } => "Mod",
            BinaryOp::And => "And",
            BinaryOp::Or => "Or",
            BinaryOp::Xor => "Xor",
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => "BitShift",
            BinaryOp::Equal => "Equal",
            BinaryOp::Less => "Less",
            BinaryOp::Greater => "Greater",
            BinaryOp::LessOrEqual => "LessOrEqual",
            BinaryOp::GreaterOrEqual => "GreaterOrEqual",
        }
    }
}
