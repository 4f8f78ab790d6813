//! Layers with seeded weights, appended to a graph.

use crate::graph::{Graph, Op, UnaryOp, Value, ValueId, Window};

/// Generator of Steele, Lea and Flood ("Fast splittable pseudorandom number generators", 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `-bound..bound`; 24 random bits, so the same float on every machine.
    fn uniform(&mut self, bound: f32) -> f32 {
        let unit = (self.next() >> 40) as f32 / (1u64 << 24) as f32;
        (2.0 * unit - 1.0) * bound
    }
}

/// Gain of the last layer: logits spread so far that the softmax prefers some classes clearly.
pub(super) const LOGITS_GAIN: f32 = 8.0;

/// How a convolution is laid out.
pub(super) struct Conv {
    pub kernel: usize,
    pub stride: usize,
    pub channels: usize,
    pub depthwise: bool,
    /// Fused ReLU6.
    pub relu6: bool,
    /// Variance of the output over the mean square of the input, before the activation.
    pub gain: f32,
}

/// Appends layers to a graph; every layer has batch 1.
pub(super) struct Builder {
    graph: Graph,
    random: SplitMix64,
}

impl Builder {
    pub(super) fn new(name: &str, seed: u64, input: [usize; 4]) -> (Self, ValueId) {
        let mut graph = Graph::new(name);
        let id = graph.value(Value::f32("input", input));
        graph.inputs.push(id);
        (Builder { graph, random: SplitMix64(seed) }, id)
    }

    fn shape(&self, id: ValueId) -> [usize; 4] {
        let shape = &self.graph.get(id).shape;
        <[usize; 4]>::try_from(shape.as_slice()).expect("layers of this builder are 4-D")
    }

    fn layer(&mut self, name: &str, op: Op, inputs: Vec<ValueId>, shape: &[usize]) -> ValueId {
        let id = self.graph.value(Value::f32(name, shape));
        self.graph.node(name, op, inputs, vec![id]);
        id
    }

    /// A convolution with TensorFlow's SAME padding.
    pub(super) fn conv(&mut self, name: &str, x: ValueId, conv: Conv) -> ValueId {
        let [_, in_channels, height, width] = self.shape(x);
        let groups = if conv.depthwise { in_channels } else { 1 };
        let fan_in = in_channels / groups * conv.kernel * conv.kernel;
        // A uniform variable in -b..b has variance b^2 / 3.
        let bound = (3.0 * conv.gain / fan_in as f32).sqrt();
        let weights = (0..conv.channels * fan_in).map(|_| self.random.uniform(bound)).collect();
        let bias = (0..conv.channels).map(|_| self.random.uniform(0.1)).collect();
        let w_shape = [conv.channels, in_channels / groups, conv.kernel, conv.kernel];
        let w = self.graph.value(Value::f32_constant(format!("{name}/weights"), w_shape, weights));
        let b = self.graph.value(Value::f32_constant(format!("{name}/bias"), [conv.channels], bias));
        let (out_h, top, bottom) = same_padding(height, conv.kernel, conv.stride);
        let (out_w, left, right) = same_padding(width, conv.kernel, conv.stride);
        let window = Window {
            kernel: [conv.kernel; 2],
            strides: [conv.stride; 2],
            pads: [top, left, bottom, right],
            dilations: [1; 2],
        };
        let activation = conv.relu6.then_some(UnaryOp::Clip { min: 0.0, max: 6.0 });
        let op = Op::Conv { window, groups, activation };
        self.layer(name, op, vec![x, w, b], &[1, conv.channels, out_h, out_w])
    }

    pub(super) fn add(&mut self, name: &str, a: ValueId, b: ValueId) -> ValueId {
        let shape = self.shape(a);
        self.layer(name, Op::Binary(crate::graph::BinaryOp::Add), vec![a, b], &shape)
    }

    /// Mean over height and width, kept as 1 x 1.
    pub(super) fn global_average(&mut self, name: &str, x: ValueId) -> ValueId {
        let [batch, channels, _, _] = self.shape(x);
        self.layer(name, Op::ReduceMean { axes: vec![2, 3] }, vec![x], &[batch, channels, 1, 1])
    }

    /// `[1, classes, 1, 1]` to `[1, classes]`, softmax, and that is the graph's output.
    pub(super) fn finish(mut self, x: ValueId) -> Graph {
        let [batch, classes, _, _] = self.shape(x);
        let flat = self.layer("logits/squeeze", Op::Copy, vec![x], &[batch, classes]);
        let softmax = Op::Softmax { first_axis: 1, last_axis: 2 };
        let out = self.layer("predictions", softmax, vec![flat], &[batch, classes]);
        self.graph.outputs.push(out);
        self.graph
    }
}

/// Output size, cells before and cells after.
fn same_padding(size: usize, kernel: usize, stride: usize) -> (usize, usize, usize) {
    let out = size.div_ceil(stride);
    let total = ((out - 1) * stride + kernel).saturating_sub(size);
    (out, total / 2, total - total / 2)
}
