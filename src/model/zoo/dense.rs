//! Layers of matrices: what transformers and recurrent networks are made of.

use super::builder::{BIAS, Builder, bound};
use crate::graph::{Op, ValueId};

/// Weights of a dense layer, held once where several layers use them.
#[derive(Clone, Copy)]
pub(super) struct Dense {
    /// `[outputs, inputs]`.
    w: ValueId,
    outputs: usize,
}

impl Builder {
    /// Weights under which the variance of the output is `gain` times the mean square of the input.
    pub(super) fn dense_weights(&mut self, name: &str, inputs: usize, outputs: usize, gain: f32) -> Dense {
        let w = self.weights(format!("{name}/weights"), &[outputs, inputs], 0.0, bound(gain, inputs));
        Dense { w, outputs }
    }

    pub(super) fn bias(&mut self, name: &str, outputs: usize) -> ValueId {
        self.weights(format!("{name}/bias"), &[outputs], 0.0, BIAS)
    }

    /// `x [rows, inputs]` times the weights, plus what broadcasts to `[rows, outputs]`.
    pub(super) fn product(&mut self, name: &str, x: ValueId, dense: Dense, plus: ValueId) -> ValueId {
        let rows = self.dims(x)[0];
        let op = Op::Gemm { alpha: 1.0, beta: 1.0, trans_a: false, trans_b: true, activation: None };
        self.layer(name, op, vec![x, dense.w, plus], &[rows, dense.outputs])
    }

    /// A dense layer with a bias, of weights of its own.
    pub(super) fn dense(&mut self, name: &str, x: ValueId, outputs: usize, gain: f32) -> ValueId {
        let inputs = self.dims(x)[1];
        let weights = self.dense_weights(name, inputs, outputs, gain);
        let bias = self.bias(name, outputs);
        self.product(name, x, weights, bias)
    }

    /// Over the last dimension.
    pub(super) fn layer_norm(&mut self, name: &str, x: ValueId) -> ValueId {
        let shape = self.dims(x).to_vec();
        let len = shape[shape.len() - 1];
        let scale = self.weights(format!("{name}/scale"), &[len], 1.0, BIAS);
        let bias = self.bias(name, len);
        let op = Op::Normalize { len, repeat: 1, epsilon: 1e-5, centred: true };
        self.layer(name, op, vec![x, scale, bias], &shape)
    }

    /// Matrices `[heads, m, k]` times `[heads, k, n]`.
    pub(super) fn matmul(&mut self, name: &str, a: ValueId, b: ValueId) -> ValueId {
        let shape = [self.dims(a)[0], self.dims(a)[1], self.dims(b)[2]];
        self.layer(name, Op::MatMul { activation: None }, vec![a, b], &shape)
    }

    pub(super) fn transpose(&mut self, name: &str, x: ValueId, perm: &[usize]) -> ValueId {
        let shape: Vec<usize> = perm.iter().map(|d| self.dims(x)[*d]).collect();
        self.layer(name, Op::Transpose { perm: perm.to_vec() }, vec![x], &shape)
    }

    /// Over the last dimension.
    pub(super) fn softmax(&mut self, name: &str, x: ValueId) -> ValueId {
        let shape = self.dims(x).to_vec();
        let op = Op::Softmax { first_axis: shape.len() - 1, last_axis: shape.len() };
        self.layer(name, op, vec![x], &shape)
    }

    /// Elements `start..start + len` along one dimension.
    pub(super) fn slice(&mut self, name: &str, x: ValueId, axis: usize, start: usize, len: usize) -> ValueId {
        let mut shape = self.dims(x).to_vec();
        let mut starts = vec![0; shape.len()];
        starts[axis] = start as i64;
        shape[axis] = len;
        let steps = vec![1; shape.len()];
        self.layer(name, Op::Slice { starts, steps }, vec![x], &shape)
    }
}
