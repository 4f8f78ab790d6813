//! Activations of recurrent cells.

/// The activation of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `max(x, 0)`.
    Relu,
    /// `alpha * x + beta`.
    Affine {
        /// Slope.
        alpha: f32,
        /// Value at 0.
        beta: f32,
    },
    /// `x` where `x >= 0`, else `alpha * x`.
    LeakyRelu {
        /// Slope of the negative side.
        alpha: f32,
    },
    /// `x` where `x > alpha`, else 0.
    ThresholdedRelu {
        /// The threshold.
        alpha: f32,
    },
    /// `alpha * tanh(beta * x)`.
    ScaledTanh {
        /// Factor of the result.
        alpha: f32,
        /// Factor of the argument.
        beta: f32,
    },
    /// `clamp(alpha * x + beta, 0, 1)`.
    HardSigmoid {
        /// Slope.
        alpha: f32,
        /// Value at 0.
        beta: f32,
    },
    /// `x` where `x >= 0`, else `alpha * (exp(x) - 1)`.
    Elu {
        /// Factor of the negative side.
        alpha: f32,
    },
    /// `x / (1 + |x|)`.
    Softsign,
    /// `log(1 + exp(x))`.
    Softplus,
}

/// What a step of a GRU computes of its gates, which come in the order update, reset, candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GruPart {
    /// Inputs `update and reset [N, 2 H]`, `h [N, H]`: the last output behind its reset gate.
    Reset,
    /// Inputs `update and reset [N, 2 H]`, `candidate [N, H]`, `h [N, H]`: the new output.
    Output,
    /// Inputs `products of the input [N, 3 H]`, `products of h [N, 3 H]`, `h [N, H]`: the new output, where
    /// the reset gate acts on the candidate's product of h.
    LinearBeforeReset,
}

/// What a step of an LSTM computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LstmPart {
    /// The new cell state, from the last one.
    Cell {
        /// Whether the forget gate is what the input gate leaves.
        coupled: bool,
    },
    /// The output, from the new cell state.
    Output,
}
