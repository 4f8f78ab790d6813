//! ONNX import: attributes, operator sets and faults, on models written by hand.
#![cfg(feature = "onnx")]

mod support;

use sublet::graph::{BinaryOp, Graph, Op, PadMode, PoolKind, UnaryOp, Window};
use sublet::model::ModelError;
use sublet::model::onnx::{ImportOptions, load, parse};
use support::onnx_encoder::{Dim, Message, Model, Node, floats, ints, model, node, tensor};

fn import(model: Model) -> Result<Graph, ModelError> {
    parse(&model.bytes(), "test", &ImportOptions::default())
}

fn fault(model: Model) -> String {
    import(model).unwrap_err().to_string()
}

/// A model of one node that reads the float input x (and initializers) and writes the output y.
fn single(opset: i64, x: &[i64], node: Node, initializers: Vec<Message>) -> Model {
    let m = model(opset).input("x", x).node(node).output("y");
    initializers.into_iter().fold(m, Model::initializer)
}

/// Operator and output shape of the only node.
fn only(opset: i64, x: &[i64], node: Node, initializers: Vec<Message>) -> (Op, Vec<usize>) {
    let graph = import(single(opset, x, node, initializers)).unwrap();
    assert_eq!(graph.nodes.len(), 1);
    (graph.nodes[0].op.clone(), graph.get(graph.outputs[0]).shape.clone())
}

fn x_to_y(op: &str) -> Node {
    node(op, &["x"], &["y"])
}

fn conv_window(x: &[i64], w: &[i64], edit: impl Fn(Node) -> Node) -> (Window, Vec<usize>) {
    let weights = floats("w", w, &vec![0.0; w.iter().product::<i64>() as usize]);
    match only(13, x, edit(node("Conv", &["x", "w"], &["y"])), vec![weights]) {
        (Op::Conv { window, groups: 1, activation: None }, shape) => (window, shape),
        other => panic!("{other:?}"),
    }
}

#[test]
fn auto_pad_becomes_pads() {
    // From ONNX Runtime 1.32: kernel 3 x 4, stride 2.
    for (auto, size, due) in [
        ("SAME_UPPER", 5, [3, 3]),
        ("SAME_UPPER", 6, [3, 3]),
        ("SAME_UPPER", 7, [4, 4]),
        ("SAME_LOWER", 6, [3, 3]),
        ("VALID", 5, [2, 1]),
        ("VALID", 7, [3, 2]),
    ] {
        let edit = |n: Node| n.string("auto_pad", auto).ints("strides", &[2, 2]);
        let (_, shape) = conv_window(&[1, 1, size, size], &[1, 1, 3, 4], edit);
        assert_eq!(shape[2..], due, "{auto} {size}");
    }
    let same = |auto: &'static str| {
        move |n: Node| n.string("auto_pad", auto).ints("strides", &[2, 2]).ints("dilations", &[1, 2])
    };
    // Height 6: 3 windows reach 7 cells. Width 6: reach 7 each, 3 windows cover 11.
    let upper = conv_window(&[1, 1, 6, 6], &[1, 1, 3, 4], same("SAME_UPPER"));
    assert_eq!((upper.0.pads, upper.1), ([0, 2, 1, 3], vec![1, 1, 3, 3]));
    let lower = conv_window(&[1, 1, 6, 6], &[1, 1, 3, 4], same("SAME_LOWER"));
    assert_eq!(lower.0.pads, [1, 3, 0, 2]);
    let both = x_to_y("MaxPool").ints("kernel_shape", &[2]).ints("pads", &[1, 0]).string("auto_pad", "VALID");
    assert!(fault(single(13, &[1, 1, 4], both, vec![])).contains("exclude each other"));
}

#[test]
fn conv_reads_every_attribute() {
    let edit = |n: Node| n.ints("pads", &[1, 2, 3, 4]).ints("strides", &[2, 3]).ints("dilations", &[2, 1]);
    let (window, shape) = conv_window(&[2, 3, 9, 10], &[4, 3, 3, 2], edit);
    let due = Window { kernel: [3, 2], strides: [2, 3], pads: [1, 2, 3, 4], dilations: [2, 1] };
    assert_eq!((window, shape), (due, vec![2, 4, 5, 5]));
    // One dimension is the second of two.
    let edit = |n: Node| n.ints("pads", &[1, 2]).ints("strides", &[3]).ints("dilations", &[2]);
    let (window, shape) = conv_window(&[1, 1, 10], &[1, 1, 3], edit);
    let due = Window { kernel: [1, 3], strides: [1, 3], pads: [0, 1, 0, 2], dilations: [1, 2] };
    assert_eq!((window, shape), (due, vec![1, 1, 3]));
}

#[test]
fn conv_faults_name_node_and_numbers() {
    let conv = |x: &[i64], w: &[i64], edit: &dyn Fn(Node) -> Node| {
        let weights = floats("w", w, &vec![0.0; w.iter().product::<i64>() as usize]);
        fault(single(13, x, edit(node("Conv", &["x", "w"], &["y"])), vec![weights]))
    };
    let plain = |n: Node| n;
    let three = conv(&[1, 1, 4, 4, 4], &[1, 1, 1, 1, 1], &plain);
    assert!(three.contains("'y_node' (Conv)") && three.contains("5 dimensions"), "{three}");
    assert!(conv(&[1, 3, 4, 4], &[1, 2, 1, 1], &plain).contains("3 channels"));
    assert!(conv(&[1, 4, 4, 4], &[3, 2, 1, 1], &|n| n.int("group", 2)).contains("3 output channels"));
    assert!(conv(&[1, 1, 4, 4], &[1, 1, 5, 1], &plain).contains("window of 5 does not fit into 4"));
    assert!(conv(&[1, 1, 4, 4], &[1, 1, 3, 3], &|n| n.ints("strides", &[0, 1])).contains("holds 0"));
    assert!(
        conv(&[1, 1, 4, 4], &[1, 1, 3, 3], &|n| n.ints("strides", &[1])).contains("1 numbers, 2 are due")
    );
    assert!(conv(&[1, 1, 4, 4], &[1, 1, 3, 3], &|n| n.ints("pads", &[0, 0, -1, 0])).contains("-1"));
    assert!(conv(&[1, 1, 4, 4], &[1, 1, 3, 3], &|n| n.ints("pads", &[i64::MAX; 4])).contains("pads"));
    assert!(conv(&[1, 1, 4, 4], &[1, 1, 3, 3], &|n| n.ints("kernel_shape", &[3, 2])).contains("[3, 2]"));
    assert!(conv(&[1, 1, 4, 4], &[1, 1, 3, 3], &|n| n.string("auto_pad", "SOME")).contains("'SOME'"));
}

#[test]
fn ceil_mode_counts_windows_as_onnx_runtime_does() {
    // Kernel, stride, pads; number of windows over 4 to 11 elements, from ONNX Runtime 1.32.
    let table: [(i64, i64, [i64; 2], [usize; 8]); 10] = [
        (3, 2, [0, 0], [2, 2, 3, 3, 4, 4, 5, 5]),
        (3, 2, [1, 1], [3, 3, 4, 4, 5, 5, 6, 6]),
        (3, 2, [1, 0], [2, 3, 3, 4, 4, 5, 5, 6]),
        (3, 2, [0, 1], [2, 3, 3, 4, 4, 5, 5, 6]),
        (2, 2, [0, 0], [2, 3, 3, 4, 4, 5, 5, 6]),
        (3, 3, [1, 1], [2, 2, 3, 3, 3, 4, 4, 4]),
        (2, 3, [0, 0], [2, 2, 2, 3, 3, 3, 4, 4]),
        (2, 3, [1, 1], [2, 2, 3, 3, 3, 4, 4, 4]),
        (3, 4, [2, 2], [2, 2, 2, 3, 3, 3, 3, 4]),
        (1, 2, [0, 0], [2, 3, 3, 4, 4, 5, 5, 6]),
    ];
    for (kernel, stride, pads, due) in table {
        for (size, due) in (4..).zip(due) {
            let pool = x_to_y("MaxPool")
                .ints("kernel_shape", &[kernel])
                .ints("strides", &[stride])
                .ints("pads", &pads)
                .int("ceil_mode", 1);
            // Padding as large as the window is refused, so a window never sees padding alone.
            let (_, shape) = only(13, &[1, 1, size], pool, vec![]);
            assert_eq!(shape[2], due, "kernel {kernel} stride {stride} pads {pads:?} size {size}");
        }
    }
}

#[test]
fn pools_keep_their_kind() {
    let pool = |n: Node| only(13, &[1, 2, 5, 5], n.ints("kernel_shape", &[2, 2]), vec![]).0;
    assert!(matches!(pool(x_to_y("MaxPool")), Op::Pool { kind: PoolKind::Max, .. }));
    let average = |flag| Op::Pool {
        kind: PoolKind::Average { count_include_pad: flag },
        window: Window { kernel: [2; 2], strides: [1; 2], pads: [0; 4], dilations: [1; 2] },
    };
    assert_eq!(pool(x_to_y("AveragePool")), average(false));
    assert_eq!(pool(x_to_y("AveragePool").int("count_include_pad", 1)), average(true));
    let (op, shape) = only(13, &[1, 2, 5, 5], x_to_y("GlobalAveragePool"), vec![]);
    assert_eq!((op, shape), (Op::ReduceMean { axes: vec![2, 3] }, vec![1, 2, 1, 1]));
    let indices = model(13)
        .input("x", &[1, 1, 4, 4])
        .node(node("MaxPool", &["x"], &["y", "i"]).ints("kernel_shape", &[2, 2]))
        .output("y")
        .output("i");
    assert!(fault(indices).contains("Indices"));
    let wide = x_to_y("MaxPool").ints("kernel_shape", &[2]).ints("pads", &[2, 0]);
    assert!(fault(single(13, &[1, 1, 4], wide, vec![])).contains("not smaller than the window of 2"));
}

#[test]
fn softmax_before_13_normalises_the_rest_together() {
    let softmax = |opset, x: &[i64], axis: Option<i64>| {
        let n = x_to_y("Softmax");
        only(opset, x, axis.into_iter().fold(n, |n, a| n.int("axis", a)), vec![]).0
    };
    let range = |first_axis, last_axis| Op::Softmax { first_axis, last_axis };
    assert_eq!(softmax(9, &[2, 3, 4], None), range(1, 3));
    assert_eq!(softmax(9, &[2, 3, 4], Some(2)), range(2, 3));
    assert_eq!(softmax(12, &[2, 3, 4], Some(-2)), range(1, 3));
    assert_eq!(softmax(13, &[2, 3, 4], None), range(2, 3));
    assert_eq!(softmax(13, &[2, 3, 4], Some(1)), range(1, 2));
    assert!(fault(single(13, &[2, 3], x_to_y("Softmax").int("axis", 2), vec![])).contains("axis 2"));
}

#[test]
fn clip_bounds_are_attributes_then_inputs() {
    let clip = |min, max| Op::Unary(UnaryOp::Clip { min, max });
    let attributes = x_to_y("Clip").float("min", 0.0).float("max", 6.0);
    assert_eq!(only(9, &[3], attributes, vec![]).0, clip(0.0, 6.0));
    assert_eq!(only(9, &[3], x_to_y("Clip"), vec![]).0, clip(f32::MIN, f32::MAX));
    let max_only = node("Clip", &["x", "", "max"], &["y"]);
    assert_eq!(only(13, &[3], max_only, vec![floats("max", &[], &[2.5])]).0, clip(f32::MIN, 2.5));
    let runtime = node("Clip", &["x", "x"], &["y"]);
    assert!(fault(single(13, &[1], runtime, vec![])).contains("one constant float"));
}

#[test]
fn slices() {
    // Starts, ends, axes, steps and the output of a 5 x 7 input, from ONNX Runtime 1.32.
    let table = [
        ([-1, i64::MIN, 0, -1], [4, 0], [-1, 1], [5, 7]),
        ([-9, i64::MIN, 0, -1], [0, 0], [1, 1], [1, 7]),
        ([4, 0, 0, -3], [4, 0], [-3, 1], [2, 7]),
        ([2, 1 << 62, 1, 2], [0, 2], [1, 2], [5, 3]),
        ([9, 0, 0, -2], [4, 0], [-2, 1], [2, 7]),
        ([5, 9, 0, 1], [5, 0], [1, 1], [0, 7]),
    ];
    for ([start, end, axis, step], starts, steps, shape) in table {
        let list = |name, x| ints(name, &[1], &[x]);
        let n = node("Slice", &["x", "s", "e", "a", "p"], &["y"]);
        let initializers = vec![list("s", start), list("e", end), list("a", axis), list("p", step)];
        let due = Op::Slice { starts: starts.to_vec(), steps: steps.to_vec() };
        assert_eq!(only(13, &[5, 7], n, initializers), (due, shape.to_vec()), "{start} {end} {axis} {step}");
    }
    let old = x_to_y("Slice").ints("starts", &[1, -3]).ints("ends", &[3, 1000]);
    let due = Op::Slice { starts: vec![1, 4], steps: vec![1, 1] };
    assert_eq!(only(9, &[5, 7], old, vec![]), (due, vec![2, 3]));
}

#[test]
fn axes_are_attributes_then_inputs() {
    let shape = |opset, x: &[i64], n: Node, i: Vec<Message>| only(opset, x, n, i).1;
    let with_axes = |op: &str| node(op, &["x", "axes"], &["y"]);
    let axes = |list: &[i64]| vec![ints("axes", &[list.len() as i64], list)];
    assert_eq!(shape(11, &[1, 3, 1], x_to_y("Squeeze").ints("axes", &[-1]), vec![]), [1, 3]);
    assert_eq!(shape(13, &[1, 3, 1], with_axes("Squeeze"), axes(&[0])), [3, 1]);
    assert_eq!(shape(13, &[1, 3, 1], x_to_y("Squeeze"), vec![]), [3]);
    assert_eq!(shape(11, &[3], x_to_y("Unsqueeze").ints("axes", &[0, 2]), vec![]), [1, 3, 1]);
    assert_eq!(shape(13, &[3], with_axes("Unsqueeze"), axes(&[-1, 0])), [1, 3, 1]);
    let mean = |axes: &[usize]| Op::ReduceMean { axes: axes.to_vec() };
    let old = x_to_y("ReduceMean").ints("axes", &[-1, 0]).int("keepdims", 0);
    assert_eq!(only(13, &[2, 3, 4], old, vec![]), (mean(&[0, 2]), vec![3]));
    assert_eq!(only(18, &[2, 3], with_axes("ReduceMean"), axes(&[1])), (mean(&[1]), vec![2, 1]));
    assert_eq!(only(18, &[2, 3], x_to_y("ReduceMean"), vec![]), (mean(&[0, 1]), vec![1, 1]));
    let noop = x_to_y("ReduceMean").int("noop_with_empty_axes", 1);
    assert_eq!(only(18, &[2, 3], noop, vec![]), (Op::Copy, vec![2, 3]));
    assert!(fault(single(13, &[2, 3], with_axes("Squeeze"), axes(&[1]))).contains("not 1"));
    assert!(fault(single(13, &[2, 3], with_axes("Squeeze"), axes(&[5]))).contains("axis 5"));
    assert!(fault(single(13, &[1, 3], with_axes("Squeeze"), axes(&[0, -2]))).contains("twice"));
}

#[test]
fn pads() {
    let due = |mode| Op::Pad { mode, before: vec![1, -1] };
    let old = x_to_y("Pad").ints("pads", &[1, -1, 0, 2]).float("value", 0.5);
    assert_eq!(only(10, &[2, 3], old, vec![]), (due(PadMode::Constant(0.5)), vec![3, 4]));
    let list = ints("p", &[4], &[1, -1, 0, 2]);
    let new = node("Pad", &["x", "p", "v"], &["y"]);
    let value = floats("v", &[], &[2.0]);
    assert_eq!(only(13, &[2, 3], new, vec![list, value]).0, due(PadMode::Constant(2.0)));
    let axes = node("Pad", &["x", "p", "", "a"], &["y"]).string("mode", "edge");
    let initializers = vec![ints("p", &[2], &[1, 1]), ints("a", &[1], &[-1])];
    let due = Op::Pad { mode: PadMode::Edge, before: vec![0, 1] };
    assert_eq!(only(18, &[2, 3], axes, initializers), (due, vec![2, 5]));
    let reflect = x_to_y("Pad").ints("pads", &[0, 3, 0, 0]).string("mode", "reflect");
    assert!(fault(single(10, &[2, 3], reflect, vec![])).contains("3 elements"));
    let cropped = x_to_y("Pad").ints("pads", &[-3, 0, 0, 0]);
    assert!(fault(single(10, &[2, 3], cropped, vec![])).contains("-3"));
}

#[test]
fn reshapes_are_copies() {
    let reshape = |shape: &[i64], allow: i64| {
        let n = node("Reshape", &["x", "s"], &["y"]).int("allowzero", allow);
        single(14, &[2, 3, 4], n, vec![ints("s", &[shape.len() as i64], shape)])
    };
    let graph = import(reshape(&[0, -1], 0)).unwrap();
    assert_eq!((&graph.nodes[0].op, &graph.get(graph.outputs[0]).shape[..]), (&Op::Copy, &[2, 12][..]));
    assert!(fault(reshape(&[5, -1], 0)).contains("[5, -1]"));
    assert!(fault(reshape(&[0, 24], 1)).contains("element counts"));
    assert_eq!(only(13, &[2, 3, 4], x_to_y("Flatten").int("axis", 0), vec![]).1, [1, 24]);
    assert_eq!(only(13, &[2, 3, 4], x_to_y("Flatten").int("axis", -1), vec![]).1, [6, 4]);
    assert_eq!(only(13, &[2], x_to_y("Identity"), vec![]).0, Op::Copy);
    assert_eq!(only(9, &[2], x_to_y("Dropout").float("ratio", 0.5), vec![]).0, Op::Copy);
    assert_eq!(only(13, &[2], x_to_y("Cast").int("to", 1), vec![]).0, Op::Copy);
    assert!(fault(single(13, &[2], x_to_y("Cast").int("to", 7), vec![])).contains("int64 at run time"));
}

#[test]
fn products() {
    let matmul = |a: &[i64], b: &[i64]| {
        let count = b.iter().product::<i64>() as usize;
        single(13, a, node("MatMul", &["x", "b"], &["y"]), vec![floats("b", b, &vec![0.0; count])])
    };
    for (a, b, due) in [
        (vec![2, 3], vec![3, 4], vec![2, 4]),
        (vec![5, 1, 2, 3], vec![6, 3, 4], vec![5, 6, 2, 4]),
        (vec![3], vec![3, 4], vec![4]),
        (vec![2, 3], vec![3], vec![2]),
        (vec![3], vec![3], vec![]),
    ] {
        let graph = import(matmul(&a, &b)).unwrap();
        assert_eq!(graph.get(graph.outputs[0]).shape, due, "{a:?} {b:?}");
    }
    assert!(fault(matmul(&[2, 3], &[4, 2])).contains("3 columns meet 4 rows"));
    let gemm = node("Gemm", &["x", "b", "c"], &["y"]).int("transA", 1).int("transB", 1).float("alpha", 0.5);
    let weights = || floats("b", &[4, 2], &[0.0; 8]);
    let due = Op::Gemm { alpha: 0.5, beta: 1.0, trans_a: true, trans_b: true };
    assert_eq!(only(11, &[2, 3], gemm, vec![weights(), floats("c", &[4], &[0.0; 4])]), (due, vec![3, 4]));
    let gemm = node("Gemm", &["x", "b", "c"], &["y"]).int("transB", 1);
    let bad = single(11, &[3, 2], gemm, vec![weights(), floats("c", &[3], &[0.0; 3])]);
    assert!(fault(bad).contains("[3] does not broadcast to [3, 4]"));
}

#[test]
fn element_wise_shapes() {
    let add = |b: &[i64]| {
        let count = b.iter().product::<i64>() as usize;
        single(13, &[2, 1, 4], node("Add", &["x", "b"], &["y"]), vec![floats("b", b, &vec![0.0; count])])
    };
    let graph = import(add(&[3, 1])).unwrap();
    assert_eq!(graph.get(graph.outputs[0]).shape, [2, 3, 4]);
    assert_eq!(graph.nodes[0].op, Op::Binary(BinaryOp::Add));
    let text = fault(add(&[3]));
    assert!(text.contains("'y_node' (Add)") && text.contains("4 meets 3"), "{text}");
    let integer = single(13, &[2], node("Mul", &["x", "n"], &["y"]), vec![ints("n", &[1], &[2])]);
    let text = fault(integer);
    assert!(text.contains("'n'") && text.contains("int64"), "{text}");
    let square = single(13, &[2], node("Pow", &["x", "n"], &["y"]), vec![ints("n", &[], &[2])]);
    let graph = import(square).unwrap();
    assert_eq!(graph.get(graph.nodes[0].inputs[1]).f32_data().unwrap(), [2.0]);
    let wide = single(13, &[1], node("PRelu", &["x", "s"], &["y"]), vec![floats("s", &[2], &[0.0; 2])]);
    assert!(fault(wide).contains("does not broadcast to [1]"));
    let three = model(13)
        .input("x", &[2, 1])
        .input("z", &[3])
        .node(node("Sum", &["x", "z", "x"], &["y"]))
        .output("y");
    assert_eq!(import(three).unwrap().nodes[0].op, Op::Sum);
}

/// `((i*7919 + off) % 1000) * scale + bias` from nodes, where the products pass 2^32.
#[test]
fn weights_that_compute_themselves_fold_exactly() {
    let m = model(13)
        .input("x", &[2, 3])
        .initializer(ints("start", &[], &[102_000_000]))
        .initializer(ints("limit", &[], &[102_000_006]))
        .initializer(ints("one", &[], &[1]))
        .initializer(ints("mul", &[], &[7919]))
        .initializer(ints("off", &[], &[262]))
        .initializer(ints("mod", &[], &[1000]))
        .initializer(floats("scale", &[], &[0.000_612_372_4]))
        .initializer(floats("bias", &[], &[-0.305_880_04]))
        .initializer(ints("shape", &[2], &[2, 3]))
        .node(node("Range", &["start", "limit", "one"], &["i"]))
        .node(node("Mul", &["i", "mul"], &["m"]))
        .node(node("Add", &["m", "off"], &["a"]))
        .node(node("Mod", &["a", "mod"], &["r"]))
        .node(node("Cast", &["r"], &["f"]).int("to", 1))
        .node(node("Mul", &["f", "scale"], &["s"]))
        .node(node("Add", &["s", "bias"], &["b"]))
        .node(node("Reshape", &["b", "shape"], &["w"]))
        .node(node("Mul", &["x", "w"], &["y"]))
        .output("y");
    let graph = import(m).unwrap();
    assert_eq!((graph.nodes.len(), graph.values.len()), (1, 3));
    let w = graph.get(graph.nodes[0].inputs[1]);
    let due: Vec<f32> = (102_000_000i64..102_000_006)
        .map(|i| ((i * 7919 + 262) % 1000) as f32 * 0.000_612_372_4 + -0.305_880_04)
        .collect();
    assert_eq!((w.name.as_str(), &w.shape[..], w.f32_data().unwrap()), ("w", &[2, 3][..], &due[..]));
}

#[test]
fn shape_arithmetic_folds() {
    // y = reshape(x, [shape(x)[0] / 2, -1])
    let m = model(13)
        .input("x", &[4, 3])
        .initializer(ints("zero", &[1], &[0]))
        .initializer(ints("two", &[], &[2]))
        .initializer(ints("rest", &[1], &[-1]))
        .node(node("Shape", &["x"], &["dims"]))
        .node(node("Gather", &["dims", "zero"], &["n"]))
        .node(node("Div", &["n", "two"], &["half"]))
        .node(node("Concat", &["half", "rest"], &["target"]).int("axis", 0))
        .node(node("Reshape", &["x", "target"], &["y"]))
        .output("y");
    let graph = import(m).unwrap();
    assert_eq!(graph.get(graph.outputs[0]).shape, [2, 6]);
    assert_eq!((graph.nodes.len(), graph.values.len()), (1, 2));
    let zero = model(13)
        .input("x", &[4])
        .initializer(ints("n", &[1], &[0]))
        .node(node("Div", &["n", "n"], &["q"]))
        .node(node("Reshape", &["x", "q"], &["y"]))
        .output("y");
    assert!(fault(zero).contains("divided by 0"));
}

#[test]
fn run_time_gather_and_split_are_slices() {
    let graph = import(single(
        13,
        &[2, 5],
        node("Gather", &["x", "i"], &["y"]).int("axis", 1),
        vec![ints("i", &[], &[-1])],
    ))
    .unwrap();
    assert_eq!(graph.nodes[0].op, Op::Slice { starts: vec![0, 4], steps: vec![1, 1] });
    assert_eq!(graph.get(graph.outputs[0]).shape, [2]);
    let uneven = node("Gather", &["x", "i"], &["y"]).int("axis", 1);
    assert!(
        fault(single(13, &[2, 5], uneven, vec![ints("i", &[3], &[0, 1, 3])])).contains("equal distances")
    );
    let outside = node("Gather", &["x", "i"], &["y"]);
    assert!(fault(single(13, &[2, 5], outside, vec![ints("i", &[1], &[2])])).contains("index 2"));
    let split = model(13)
        .input("x", &[2, 5])
        .initializer(ints("sizes", &[2], &[1, 4]))
        .node(node("Split", &["x", "sizes"], &["a", "b"]).int("axis", 1))
        .output("a")
        .output("b");
    let graph = import(split).unwrap();
    assert_eq!(graph.nodes[1].op, Op::Slice { starts: vec![0, 1], steps: vec![1, 1] });
    assert_eq!(graph.get(graph.outputs[1]).shape, [2, 4]);
}

#[test]
fn outputs_are_written_by_nodes() {
    let m = model(13)
        .input("x", &[2])
        .initializer(floats("c", &[1], &[3.0]))
        .node(node("Relu", &["x"], &["y"]))
        .output("x")
        .output("c")
        .output("y")
        .output("y");
    let graph = import(m).unwrap();
    assert_eq!(graph.outputs.len(), 4);
    let copies = graph.nodes.iter().filter(|n| n.op == Op::Copy).count();
    assert_eq!(copies, 3);
    let names: Vec<&str> = graph.outputs.iter().map(|id| graph.get(*id).name.as_str()).collect();
    assert_eq!(names, ["x/copy", "c", "y", "y/copy"]);
    let shape = model(13).input("x", &[2]).node(node("Shape", &["x"], &["y"])).output("y");
    assert!(fault(shape).contains("int64"));
}

#[test]
fn what_nobody_needs_is_dropped() {
    let m = model(13)
        .input("x", &[2])
        .input("unused", &[9])
        .initializer(floats("c", &[2], &[1.0, 2.0]))
        .node(node("Add", &["x", "c"], &["dead"]))
        .node(node("Exp", &["dead"], &["dead2"]))
        .node(node("Relu", &["x"], &["y"]))
        .output("y");
    let graph = import(m).unwrap();
    assert_eq!((graph.nodes.len(), graph.values.len(), graph.inputs.len()), (1, 3, 2));
}

#[test]
fn shared_constants_are_held_once() {
    let m = model(13)
        .input("x", &[2])
        .initializer(floats("c", &[2], &[1.0, 2.0]))
        .node(node("Identity", &["c"], &["d"]))
        .node(node("Add", &["x", "c"], &["a"]))
        .node(node("Add", &["a", "d"], &["y"]))
        .output("y");
    let graph = import(m).unwrap();
    assert_eq!(graph.constant_bytes(), 8);
    assert_eq!(graph.nodes[0].inputs[1], graph.nodes[1].inputs[1]);
}

#[test]
fn element_types_of_initializers() {
    let f16 = [0x00, 0x3c, 0x00, 0xc0]; // 1, -2
    let f64s: Vec<u8> = [1.0f64, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    for (data_type, raw) in
        [(10, f16.to_vec()), (11, f64s), (3, vec![1, 0xfe]), (6, vec![1, 0, 0, 0, 0xfe, 255, 255, 255])]
    {
        let m = model(13)
            .input("x", &[2])
            .initializer(tensor("c", data_type, &[2], &raw))
            .node(node("Cast", &["c"], &["f"]).int("to", 1))
            .node(node("Add", &["x", "f"], &["y"]))
            .output("y");
        let graph = import(m).unwrap();
        assert_eq!(graph.get(graph.nodes[0].inputs[1]).f32_data().unwrap(), [1.0, -2.0], "type {data_type}");
    }
    let short = single(13, &[2], node("Add", &["x", "c"], &["y"]), vec![tensor("c", 1, &[3], &[0; 8])]);
    assert!(fault(short).contains("3 elements of 4 bytes are due, the file holds 8"));
    let huge =
        single(13, &[2], node("Add", &["x", "c"], &["y"]), vec![tensor("c", 1, &[1 << 40, 1 << 40], &[])]);
    assert!(fault(huge).contains("'c'"));
    let text = single(13, &[2], node("Add", &["x", "c"], &["y"]), vec![tensor("c", 8, &[1], &[])]);
    assert!(fault(text).contains("STRING"));
    let external = tensor("c", 1, &[2], &[]).int(14, 1);
    assert!(fault(single(13, &[2], node("Add", &["x", "c"], &["y"]), vec![external])).contains("outside"));
}

#[test]
fn a_short_file_cannot_ask_for_much() {
    let shape = |dims: &[i64]| {
        model(13)
            .input("x", &[1])
            .initializer(ints("s", &[dims.len() as i64], dims))
            .node(node("ConstantOfShape", &["s"], &["c"]))
            .node(node("Add", &["x", "c"], &["y"]))
            .output("y")
    };
    assert!(fault(shape(&[1 << 35])).contains("more than"));
    assert!(fault(shape(&[1 << 40, 1 << 40])).contains("more than"));
    assert!(fault(shape(&[-1])).contains("negative"));
    let range = model(13)
        .input("x", &[1])
        .initializer(ints("a", &[], &[i64::MIN]))
        .initializer(ints("b", &[], &[i64::MAX]))
        .initializer(ints("c", &[], &[1]))
        .node(node("Range", &["a", "b", "c"], &["r"]))
        .node(node("Reshape", &["x", "r"], &["y"]))
        .output("y");
    assert!(fault(range).contains("more than"));
    assert!(fault(single(13, &[1 << 30, 1 << 30], x_to_y("Relu"), vec![])).contains("'x'"));
    // Empty tensors do not excuse the other dimensions.
    assert!(fault(single(13, &[0, i64::MAX, 4], x_to_y("Flatten"), vec![])).contains("'x'"));
    let hidden = node("Reshape", &["x", "s"], &["y"]).int("allowzero", 1);
    let target = ints("s", &[3], &[0, 1 << 62, 1 << 62]);
    assert!(fault(single(14, &[0], hidden, vec![target])).contains("more than"));
}

#[test]
fn inputs_left_open() {
    let open = |dims: &[Dim]| model(13).open_input("x", 1, dims).node(x_to_y("Relu")).output("y");
    let with = |shapes: &[(&str, &[usize])], dims: &[(&str, usize)]| ImportOptions {
        shapes: shapes.iter().map(|(n, s)| (n.to_string(), s.to_vec())).collect(),
        dims: dims.iter().map(|(n, d)| (n.to_string(), *d)).collect(),
    };
    let named = [Dim::Name("batch"), Dim::Size(3), Dim::Name("width")];
    let run = |options| parse(&open(&named).bytes(), "test", &options);
    let shape = |graph: Graph| graph.get(graph.inputs[0]).shape.clone();
    let text = run(with(&[], &[])).unwrap_err().to_string();
    assert!(text.contains("'x'") && text.contains("'width'") && text.contains("x=1x3x?"), "{text}");
    assert_eq!(shape(run(with(&[], &[("width", 7)])).unwrap()), [1, 3, 7]);
    assert_eq!(shape(run(with(&[("x", &[2, 3, 5])], &[])).unwrap()), [2, 3, 5]);
    let text = |options| run(options).unwrap_err().to_string();
    assert!(text(with(&[("x", &[2, 4, 5])], &[])).contains("fixes it to 3"));
    assert!(text(with(&[("x", &[2, 3])], &[])).contains("2 dimensions given"));
    assert!(text(with(&[("z", &[2])], &[])).contains("its inputs are x"));
    assert!(text(with(&[], &[("height", 2)])).contains("batch, width"));
    assert!(text(with(&[("x", &[2, 3, 5])], &[("width", 6)])).contains("5 here and 6 elsewhere"));
    let batch = import(open(&[Dim::Nothing, Dim::Size(2)])).unwrap();
    assert_eq!(shape(batch), [1, 2]);
    assert_eq!(shape(import(open(&[Dim::Size(-1), Dim::Size(2)])).unwrap()), [1, 2]);
    let text = fault(open(&[Dim::Size(1), Dim::Nothing]));
    assert!(text.contains("dimension 1 (unnamed)"), "{text}");
    let integer = model(13).open_input("x", 7, &[Dim::Size(1)]).node(x_to_y("Identity")).output("y");
    assert!(fault(integer).contains("'x' is int64"));
}

#[test]
fn all_unknown_operators_are_listed() {
    let m = model(17)
        .import("com.example", 3)
        .input("x", &[1])
        .node(node("Erf", &["x"], &["a"]))
        .node(node("Relu", &["a"], &["b"]))
        .node(node("Fancy", &["b"], &["c"]).domain("com.example"))
        .node(node("Relu", &["c"], &["d"]).domain("org.other"))
        .node(node("Erf", &["d"], &["y"]))
        .output("y");
    let text = fault(m);
    for part in ["Erf (ai.onnx opset 17) at 'a_node', 'y_node'", "Fancy (com.example opset 3) at 'c_node'"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(text.contains("Relu (org.other opset not imported) at 'd_node'") && !text.contains("'b_node'"));
}

#[test]
fn graphs_that_make_no_sense() {
    let relu = || x_to_y("Relu");
    assert!(fault(model(13).input("x", &[1])).contains("no output"));
    assert!(fault(model(6).input("x", &[1]).node(relu()).output("y")).contains("operator set 6"));
    assert!(fault(model(13).input("x", &[1]).node(relu()).output("z")).contains("'z'"));
    assert!(fault(model(13).node(relu()).output("y")).contains("reads 'x'"));
    let cycle = model(13)
        .input("x", &[1])
        .node(node("Add", &["x", "b"], &["a"]))
        .node(node("Relu", &["a"], &["b"]))
        .output("b");
    assert!(fault(cycle).contains("cycle"));
    let twice = model(13).input("x", &[1]).node(relu()).node(node("Exp", &["x"], &["y"])).output("y");
    assert!(fault(twice).contains("as 'y_node' does"));
    let input = model(13).input("x", &[1]).node(node("Relu", &["x"], &["x"])).output("x");
    assert!(fault(input).contains("is an input"));
    assert!(
        fault(model(13).input("x", &[1]).node(node("Add", &["x"], &["y"])).output("y")).contains("input 1")
    );
    // Out of order, but sound.
    let late = model(13)
        .input("x", &[1])
        .node(node("Relu", &["a"], &["y"]))
        .node(node("Exp", &["x"], &["a"]))
        .output("y");
    let ops: Vec<&str> = import(late).unwrap().nodes.iter().map(|n| n.op.name()).collect();
    assert_eq!(ops, ["Exp", "Relu"]);
    let empty = parse(&[], "empty", &ImportOptions::default()).unwrap_err().to_string();
    assert!(empty.contains("empty") && empty.contains("no graph"), "{empty}");
}

#[test]
fn training_is_refused() {
    let batch = |n: Node, opset| {
        let one = |name| floats(name, &[2], &[1.0, 1.0]);
        fault(single(opset, &[1, 2], n, vec![one("s"), one("b"), one("m"), one("v")]))
    };
    let norm = || node("BatchNormalization", &["x", "s", "b", "m", "v"], &["y"]);
    assert!(batch(norm().int("training_mode", 1), 14).contains("training_mode"));
    assert!(batch(norm().int("spatial", 0), 7).contains("spatial"));
    let mask =
        model(13).input("x", &[1]).node(node("Dropout", &["x"], &["y", "mask"])).output("y").output("mask");
    assert!(fault(mask).contains("mask"));
}

/// A file cut at any byte, and a file with any one byte changed, is an error or a graph, never a panic.
#[test]
fn damaged_files_never_panic() {
    let bytes =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tiny_resnet_se_64.onnx")).unwrap();
    let small = single(
        13,
        &[1, 1, 4, 4],
        node("Conv", &["x", "w"], &["y"]).ints("pads", &[1, 1, 1, 1]),
        vec![floats("w", &[1, 1, 3, 3], &[0.5; 9])],
    )
    .bytes();
    for cut in 0..small.len() {
        assert!(parse(&small[..cut], "cut", &ImportOptions::default()).is_err(), "{cut} bytes");
    }
    for cut in (0..bytes.len()).step_by(97) {
        assert!(parse(&bytes[..cut], "cut", &ImportOptions::default()).is_err(), "{cut} bytes");
    }
    for at in 0..small.len() {
        for bit in 0..8 {
            let mut changed = small.clone();
            changed[at] ^= 1 << bit;
            if let Ok(graph) = parse(&changed, "changed", &ImportOptions::default()) {
                graph.check().unwrap();
            }
        }
    }
}

#[test]
fn files_that_are_not_there() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in [folder.join("tests/data/none.onnx"), folder.join("tests")] {
        let error = load(&path, &ImportOptions::default()).unwrap_err();
        assert!(matches!(error, ModelError::Io { .. }));
        assert!(error.to_string().contains(&path.display().to_string()));
    }
}
