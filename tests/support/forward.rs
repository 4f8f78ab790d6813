//! The few operators of the built-in networks, computed the plainest way.

use sublet::graph::{BinaryOp, Graph, Node, Op, UnaryOp, ValueId};

/// Every value of the graph for one input; constants stay empty.
pub fn forward(graph: &Graph, input: Vec<f32>) -> Vec<Vec<f32>> {
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); graph.values.len()];
    values[graph.inputs[0].index()] = input;
    for node in &graph.nodes {
        let data = |id: ValueId| graph.get(id).f32_data().unwrap_or(&values[id.index()]);
        let x = data(node.inputs[0]);
        let out = match &node.op {
            Op::Conv { .. } => conv(graph, node, x, data(node.inputs[1]), data(node.inputs[2])),
            Op::Binary(BinaryOp::Add) => x.iter().zip(data(node.inputs[1])).map(|(a, b)| a + b).collect(),
            Op::ReduceMean { .. } => {
                let area = x.len() / graph.get(node.outputs[0]).len();
                x.chunks(area).map(|plane| plane.iter().sum::<f32>() / area as f32).collect()
            }
            Op::Copy => x.to_vec(),
            Op::Softmax { .. } => {
                let max = x.iter().copied().fold(f32::MIN, f32::max);
                let sum: f32 = x.iter().map(|v| (v - max).exp()).sum();
                x.iter().map(|v| (v - max).exp() / sum).collect()
            }
            other => panic!("{} is not in a built-in network", other.name()),
        };
        values[node.outputs[0].index()] = out;
    }
    values
}

fn conv(graph: &Graph, node: &Node, x: &[f32], w: &[f32], bias: &[f32]) -> Vec<f32> {
    let Op::Conv { window, groups, activation } = &node.op else { unreachable!() };
    let dims = |id: ValueId| <[usize; 4]>::try_from(graph.get(id).shape.as_slice()).unwrap();
    let ([_, _, h, wd], [_, m, oh, ow]) = (dims(node.inputs[0]), dims(node.outputs[0]));
    let [_, cg, kh, kw] = dims(node.inputs[1]);
    let mut out = vec![0.0; m * oh * ow];
    for o in 0..m {
        let plane = &mut out[o * oh * ow..(o + 1) * oh * ow];
        plane.fill(bias[o]);
        for c in 0..cg {
            let source = &x[(o / (m / groups) * cg + c) * h * wd..][..h * wd];
            for (ky, kx) in (0..kh).flat_map(|ky| (0..kw).map(move |kx| (ky, kx))) {
                let weight = w[((o * cg + c) * kh + ky) * kw + kx];
                for oy in 0..oh {
                    let Some(iy) = (oy * window.strides[0] + ky).checked_sub(window.pads[0]) else {
                        continue;
                    };
                    for ox in (0..ow).filter(|_| iy < h) {
                        let ix = (ox * window.strides[1] + kx).wrapping_sub(window.pads[1]);
                        if ix < wd {
                            plane[oy * ow + ox] += weight * source[iy * wd + ix];
                        }
                    }
                }
            }
        }
        if let Some(UnaryOp::Clip { min, max }) = activation {
            plane.iter_mut().for_each(|v| *v = v.clamp(*min, *max));
        }
    }
    out
}
