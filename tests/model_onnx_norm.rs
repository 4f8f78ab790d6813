//! ONNX import: normalisations, reductions and pools, on models written by hand.
#![cfg(feature = "onnx")]

mod support;

use sublet::graph::{Graph, Op, PoolKind, ReduceKind};
use support::onnx_encoder::{Node, floats, ints, model, node};
use support::single::{fault, import, only, single, x_to_y};

fn names(graph: &Graph) -> Vec<&'static str> {
    graph.nodes.iter().map(|n| n.op.name()).collect()
}

fn of(channels: i64) -> Vec<support::onnx_encoder::Message> {
    let data = vec![1.0; channels as usize];
    vec![floats("s", &[channels], &data), floats("b", &[channels], &data)]
}

#[test]
fn normalisations_become_runs() {
    let normal = |opset, op: &str, edit: &dyn Fn(Node) -> Node, channels| {
        let op = only(opset, &[2, 6, 4, 5], edit(node(op, &["x", "s", "b"], &["y"])), of(channels)).0;
        let Op::Normalize { len, repeat, epsilon, centred } = op else { panic!("{op:?}") };
        (len, repeat, epsilon, centred)
    };
    assert_eq!(normal(17, "LayerNormalization", &|n| n, 5), (5, 1, 1e-5, true));
    assert_eq!(normal(17, "InstanceNormalization", &|n| n.float("epsilon", 0.5), 6), (20, 20, 0.5, true));
    let groups = |n: Node| n.int("num_groups", 3);
    assert_eq!(normal(18, "GroupNormalization", &groups, 3), (40, 40, 1e-5, true));
    assert_eq!(normal(21, "GroupNormalization", &groups, 6), (40, 20, 1e-5, true));
    let five = single(21, &[2, 6, 4], groups(node("GroupNormalization", &["x", "s", "b"], &["y"])), of(5));
    assert!(fault(five).contains("6 numbers are due"));
    let rms = node("RMSNormalization", &["x", "s"], &["y"]);
    let op = only(23, &[2, 5], rms, vec![floats("s", &[5], &[1.0; 5])]).0;
    assert_eq!(op, Op::Normalize { len: 5, repeat: 1, epsilon: 1e-5, centred: false });
}

#[test]
fn layer_normalisation_has_other_shapes_and_outputs() {
    // A scale that broadcasts is applied afterwards.
    let narrow = node("LayerNormalization", &["x", "s"], &["y"]).int("axis", 1);
    let graph = import(single(17, &[2, 3, 4], narrow, vec![floats("s", &[4], &[1.0; 4])])).unwrap();
    assert_eq!(names(&graph), ["Normalize", "Mul"]);
    let all = model(17)
        .input("x", &[2, 3, 4])
        .initializer(floats("s", &[4], &[1.0; 4]))
        .node(node("LayerNormalization", &["x", "s"], &["y", "mean", "deviation"]))
        .output("y")
        .output("mean")
        .output("deviation");
    let graph = import(all).unwrap();
    assert!(graph.outputs[1..].iter().all(|id| graph.get(*id).shape == [2, 3, 1]));
    assert!(graph.nodes.iter().all(|n| n.outputs.len() == 1));
}

#[test]
fn training_batch_normalisation_uses_the_batch() {
    let statistics = ["s", "b", "m", "v"].map(|name| floats(name, &[3], &[1.0; 3]));
    let m = model(15)
        .input("x", &[2, 3, 4])
        .node(
            node("BatchNormalization", &["x", "s", "b", "m", "v"], &["y", "rm", "rv"])
                .int("training_mode", 1),
        )
        .output("y")
        .output("rm")
        .output("rv");
    let graph = import(statistics.into_iter().fold(m, |m, s| m.initializer(s))).unwrap();
    assert_eq!(graph.get(graph.outputs[1]).shape, [3]);
    assert!(names(&graph).contains(&"BatchNormalization"));
}

#[test]
fn reductions_take_axes_from_attribute_or_input() {
    let old = x_to_y("ReduceMax").ints("axes", &[-1]).int("keepdims", 0);
    let max = Op::Reduce { kind: ReduceKind::Max, axes: vec![1] };
    assert_eq!(only(13, &[2, 3], old, vec![]), (max, vec![2]));
    let new = node("ReduceL2", &["x", "a"], &["y"]);
    let norm = Op::Reduce { kind: ReduceKind::L2, axes: vec![0] };
    assert_eq!(only(18, &[2, 3], new, vec![ints("a", &[1], &[0])]), (norm, vec![1, 3]));
    let noop = x_to_y("ReduceSum").int("noop_with_empty_axes", 1);
    assert_eq!(only(13, &[2, 3], noop, vec![]), (Op::Copy, vec![2, 3]));
    let all = only(13, &[2, 3], x_to_y("ReduceProd"), vec![]);
    assert_eq!(all, (Op::Reduce { kind: ReduceKind::Prod, axes: vec![0, 1] }, vec![1, 1]));
}

#[test]
fn global_pools_are_reductions() {
    let max = Op::Reduce { kind: ReduceKind::Max, axes: vec![2, 3] };
    assert_eq!(only(13, &[1, 2, 3, 4], x_to_y("GlobalMaxPool"), vec![]), (max, vec![1, 2, 1, 1]));
    let norm = Op::Reduce { kind: ReduceKind::L1, axes: vec![2] };
    assert_eq!(only(13, &[1, 2, 3], x_to_y("GlobalLpPool").int("p", 1), vec![]), (norm, vec![1, 2, 1]));
    let cube = import(single(13, &[1, 2, 3, 4], x_to_y("GlobalLpPool").int("p", 3), vec![])).unwrap();
    assert!(names(&cube).contains(&"LpPool"));
    assert!(fault(single(13, &[1, 2], x_to_y("GlobalLpPool"), vec![])).contains("no spatial dimension"));
}

#[test]
fn pools_over_more_dimensions_go_one_after_the_other() {
    let pool = x_to_y("AveragePool").ints("kernel_shape", &[2, 3, 2]).ints("strides", &[1, 2, 1]);
    let graph = import(single(19, &[2, 3, 4, 7, 6], pool, vec![])).unwrap();
    assert_eq!(graph.get(graph.outputs[0]).shape, [2, 3, 3, 3, 5]);
    let windows: Vec<[usize; 2]> = (graph.nodes.iter())
        .filter_map(|n| match &n.op {
            Op::Pool { kind: PoolKind::Average { count_include_pad: false }, window } => Some(window.kernel),
            _ => None,
        })
        .collect();
    assert_eq!(windows, [[3, 2], [2, 1]]);
    let both = model(12)
        .input("x", &[1, 1, 5, 5])
        .node(node("MaxPool", &["x"], &["y", "i"]).ints("kernel_shape", &[2, 2]).int("storage_order", 1))
        .output("y")
        .output("i");
    let graph = import(both).unwrap();
    assert!(graph.nodes.iter().any(|n| matches!(n.op, Op::MaxPoolIndices { column_major: true, .. })));
    assert!(!graph.get(graph.outputs[1]).is_float());
}

#[test]
fn softmaxes_have_their_kin() {
    let rows = |op: &str| only(13, &[2, 3], x_to_y(op), vec![]).0;
    assert_eq!(rows("LogSoftmax"), Op::LogSoftmax { first_axis: 1, last_axis: 2 });
    assert_eq!(rows("Hardmax"), Op::Hardmax { first_axis: 1, last_axis: 2 });
    let matrix = only(11, &[2, 3, 4], x_to_y("LogSoftmax"), vec![]).0;
    assert_eq!(matrix, Op::LogSoftmax { first_axis: 1, last_axis: 3 });
    let composed = import(single(13, &[2, 3, 4, 5], x_to_y("MeanVarianceNormalization"), vec![])).unwrap();
    assert_eq!(composed.nodes.last().unwrap().op.name(), "Div");
    let unit = import(single(13, &[2, 3], x_to_y("LpNormalization").int("p", 1), vec![])).unwrap();
    assert_eq!(names(&unit), ["ReduceL1", "Clip", "Div"]);
    assert!(fault(single(13, &[2], x_to_y("LpNormalization").int("p", 3), vec![])).contains("p is 3"));
}

#[test]
fn narrow_integers_are_pooled_as_floats() {
    let pool = || x_to_y("MaxPool").ints("kernel_shape", &[2]);
    let bytes = |data_type: i64| {
        let m = model(12).input("f", &[1, 1, 4]).node(node("Cast", &["f"], &["x"]).int("to", data_type));
        m.node(pool()).output("y")
    };
    let graph = import(bytes(2)).unwrap();
    assert_eq!(names(&graph), ["Cast", "Cast", "MaxPool", "Cast"]);
    assert!(fault(bytes(6)).contains("pools of int32"));
}
