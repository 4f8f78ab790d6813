//! Layers with seeded weights, appended to a graph.

use super::conv::{Conv, Padding, window};
use super::random::SplitMix64;
use crate::graph::{BinaryOp, Constant, Graph, Op, PadMode, PoolKind, UnaryOp, Value, ValueId, Window3};

/// Gain of the last layer: logits spread so far that the softmax prefers some classes clearly.
pub(super) const LOGITS_GAIN: f32 = 8.0;

/// Half the width of the distribution that biases are drawn from.
pub(super) const BIAS: f32 = 0.1;

/// Appends layers to a graph; every layer has batch 1.
pub(super) struct Builder {
    graph: Graph,
    random: SplitMix64,
}

impl Builder {
    pub(super) fn new(name: &str, seed: u64) -> Self {
        Builder { graph: Graph::new(name), random: SplitMix64(seed) }
    }

    /// A picture's network: one input `[1, channels, height, width]`.
    pub(super) fn picture(name: &str, seed: u64, input: [usize; 4]) -> (Self, ValueId) {
        let mut builder = Builder::new(name, seed);
        let id = builder.input("input", &input);
        (builder, id)
    }

    pub(super) fn input(&mut self, name: &str, shape: &[usize]) -> ValueId {
        let id = self.graph.value(Value::f32(name, shape));
        self.graph.inputs.push(id);
        id
    }

    pub(super) fn output(&mut self, id: ValueId) {
        self.graph.outputs.push(id);
    }

    pub(super) fn finish(self) -> Graph {
        self.graph
    }

    pub(super) fn dims(&self, id: ValueId) -> &[usize] {
        &self.graph.get(id).shape
    }

    /// Batch, channels, height, width.
    pub(super) fn shape(&self, id: ValueId) -> [usize; 4] {
        <[usize; 4]>::try_from(self.dims(id)).expect("layers of pictures are 4-D")
    }

    pub(super) fn layer(&mut self, name: &str, op: Op, inputs: Vec<ValueId>, shape: &[usize]) -> ValueId {
        let id = self.graph.value(Value::f32(name, shape));
        self.graph.node(name, op, inputs, vec![id]);
        id
    }

    /// Weights uniform in `-bound..bound` about a middle, drawn when they are first asked for.
    pub(super) fn weights(&mut self, name: String, shape: &[usize], middle: f32, bound: f32) -> ValueId {
        let (random, len) = (self.random, shape.iter().product());
        self.random.skip(len);
        let words = Constant::later(len, move || random.uniform(len, middle, bound));
        self.graph.value(Value { constant: Some(words), ..Value::f32(name, shape) })
    }

    pub(super) fn conv(&mut self, name: &str, x: ValueId, conv: Conv) -> ValueId {
        let [_, in_channels, height, width] = self.shape(x);
        let groups = if conv.depthwise { in_channels } else { conv.groups };
        let channels = if conv.depthwise { in_channels } else { conv.channels };
        let [kernel_h, kernel_w] = conv.kernel;
        let w_shape = [channels, in_channels / groups, kernel_h, kernel_w];
        let fan_in: usize = w_shape[1..].iter().product();
        let w = self.weights(format!("{name}/weights"), &w_shape, 0.0, bound(conv.gain, fan_in));
        let b = self.weights(format!("{name}/bias"), &[channels], 0.0, BIAS);
        let (window, [out_h, out_w]) = conv.window([height, width]);
        let op = Op::Conv { window, groups, activation: conv.activation };
        self.layer(name, op, vec![x, w, b], &[1, channels, out_h, out_w])
    }

    pub(super) fn max_pool(
        &mut self,
        name: &str,
        x: ValueId,
        kernel: usize,
        stride: usize,
        padding: Padding,
    ) -> ValueId {
        self.pool(name, x, PoolKind::Max, kernel, stride, padding)
    }

    /// The padding does not count.
    pub(super) fn average_pool(
        &mut self,
        name: &str,
        x: ValueId,
        kernel: usize,
        stride: usize,
        padding: Padding,
    ) -> ValueId {
        self.pool(name, x, PoolKind::Average { count_include_pad: false }, kernel, stride, padding)
    }

    fn pool(
        &mut self,
        name: &str,
        x: ValueId,
        kind: PoolKind,
        kernel: usize,
        stride: usize,
        padding: Padding,
    ) -> ValueId {
        let [batch, channels, height, width] = self.shape(x);
        let (window, [out_h, out_w]) = window([height, width], [kernel; 2], stride, 1, padding);
        self.layer(name, Op::Pool { kind, window }, vec![x], &[batch, channels, out_h, out_w])
    }

    pub(super) fn unary(&mut self, name: &str, x: ValueId, op: UnaryOp) -> ValueId {
        let shape = self.dims(x).to_vec();
        self.layer(name, Op::Unary(op), vec![x], &shape)
    }

    pub(super) fn relu(&mut self, name: &str, x: ValueId) -> ValueId {
        self.unary(name, x, UnaryOp::Relu)
    }

    /// Of operands of one shape.
    pub(super) fn binary(&mut self, name: &str, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        let shape = self.dims(a).to_vec();
        self.layer(name, Op::Binary(op), vec![a, b], &shape)
    }

    pub(super) fn add(&mut self, name: &str, a: ValueId, b: ValueId) -> ValueId {
        self.binary(name, BinaryOp::Add, a, b)
    }

    pub(super) fn concat(&mut self, name: &str, axis: usize, parts: &[ValueId]) -> ValueId {
        let mut shape = self.dims(parts[0]).to_vec();
        shape[axis] = parts.iter().map(|id| self.dims(*id)[axis]).sum();
        self.layer(name, Op::Concat { axis }, parts.to_vec(), &shape)
    }

    /// Channels of zeros behind those of `x`.
    pub(super) fn pad_channels(&mut self, name: &str, x: ValueId, channels: usize) -> ValueId {
        let [batch, _, height, width] = self.shape(x);
        let op = Op::Pad { mode: PadMode::Constant(0.0), before: vec![0; 4] };
        self.layer(name, op, vec![x], &[batch, channels, height, width])
    }

    /// Twice as high and as wide, by a transposed convolution of 2 x 2.
    pub(super) fn double(&mut self, name: &str, x: ValueId, channels: usize) -> ValueId {
        let [batch, in_channels, height, width] = self.shape(x);
        let w_shape = [in_channels, channels, 2, 2];
        // The windows do not overlap.
        let w = self.weights(format!("{name}/weights"), &w_shape, 0.0, bound(1.0, in_channels));
        let b = self.weights(format!("{name}/bias"), &[channels], 0.0, BIAS);
        let window = Window3 { kernel: [1, 2, 2], strides: [1, 2, 2], pads: [0; 6], dilations: [1; 3] };
        let op = Op::ConvTranspose { window, groups: 1 };
        self.layer(name, op, vec![x, w, b], &[batch, channels, 2 * height, 2 * width])
    }

    /// Statistics near those that the layers before it hold level.
    pub(super) fn batch_norm(&mut self, name: &str, x: ValueId) -> ValueId {
        let shape = self.shape(x);
        let mut inputs = vec![x];
        for (what, middle) in [("scale", 1.0), ("bias", 0.0), ("mean", 0.0), ("variance", 1.0)] {
            inputs.push(self.weights(format!("{name}/{what}"), &[shape[1]], middle, BIAS));
        }
        self.layer(name, Op::BatchNormalization { epsilon: 1e-5 }, inputs, &shape)
    }

    /// Response normalisation across 5 channels, as of 2012.
    pub(super) fn lrn(&mut self, name: &str, x: ValueId) -> ValueId {
        let shape = self.shape(x);
        self.layer(name, Op::Lrn { size: 5, alpha: 1e-4, beta: 0.75, bias: 1.0 }, vec![x], &shape)
    }

    /// Bilinear, the corners kept.
    pub(super) fn resize(&mut self, name: &str, x: ValueId, size: [usize; 2]) -> ValueId {
        let [batch, channels, height, width] = self.shape(x);
        let mut inputs = vec![x];
        for (along, input, output) in [("rows", height, size[0]), ("columns", width, size[1])] {
            let table = Value::f32_constant(format!("{name}/{along}"), [output, 4], between(input, output));
            inputs.push(self.graph.value(table));
        }
        let op = Op::Resample { axes: [2, 3], taps: [2; 2], outside: 0.0 };
        self.layer(name, op, inputs, &[batch, channels, size[0], size[1]])
    }

    /// Mean over height and width, kept as 1 x 1.
    pub(super) fn global_average(&mut self, name: &str, x: ValueId) -> ValueId {
        let [batch, channels, _, _] = self.shape(x);
        self.layer(name, Op::ReduceMean { axes: vec![2, 3] }, vec![x], &[batch, channels, 1, 1])
    }

    /// The same elements under another shape.
    pub(super) fn reshape(&mut self, name: &str, x: ValueId, shape: &[usize]) -> ValueId {
        self.layer(name, Op::Copy, vec![x], shape)
    }

    /// `[1, classes, 1, 1]` to `[1, classes]`, softmax, and that is the graph's output.
    pub(super) fn classify(mut self, x: ValueId) -> Graph {
        let [batch, classes, _, _] = self.shape(x);
        let flat = self.reshape("logits/squeeze", x, &[batch, classes]);
        let softmax = Op::Softmax { first_axis: 1, last_axis: 2 };
        let out = self.layer("predictions", softmax, vec![flat], &[batch, classes]);
        self.output(out);
        self.finish()
    }
}

/// Weights uniform in `-b..b` have variance `b^2 / 3`.
pub(super) fn bound(gain: f32, fan_in: usize) -> f32 {
    (3.0 * gain / fan_in as f32).sqrt()
}

/// The table of an axis: for each position the element before it and the one after, with their weights.
fn between(input: usize, output: usize) -> Vec<f32> {
    let pairs = |position: usize| {
        let at = position as f32 * (input - 1) as f32 / (output - 1).max(1) as f32;
        let (before, share) = (at.floor(), at.fract());
        let after = (before + 1.0).min((input - 1) as f32);
        [before, 1.0 - share, after, share]
    };
    (0..output).flat_map(pairs).collect()
}
