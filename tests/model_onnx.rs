//! ONNX import: operators with their attributes and operator sets, on models written by hand.
#![cfg(feature = "onnx")]

mod support;

use sublet::graph::{BinaryOp, Op, PadMode, PoolKind, UnaryOp, Window};
use support::onnx_encoder::{Message, Node, floats, ints, model, node};
use support::single::{fault, import, only, single, x_to_y};

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
    let four = conv(&[1, 1, 4, 4, 4, 4], &[1, 1, 1, 1, 1, 1], &plain);
    assert!(four.contains("'y_node' (Conv)") && four.contains("6 dimensions"), "{four}");
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
    assert_eq!(only(13, &[1], runtime, vec![]).0, Op::Binary(BinaryOp::Max));
    let wide = node("Clip", &["x", "x"], &["y"]);
    assert!(fault(single(13, &[2], wide, vec![])).contains("one number"));
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
    assert_eq!(only(13, &[2], x_to_y("Cast").int("to", 7), vec![]).0, Op::Cast);
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
    let due = Op::Gemm { alpha: 0.5, beta: 1.0, trans_a: true, trans_b: true, activation: None };
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
    let (op, shape) = only(13, &[2, 5], uneven, vec![ints("i", &[3], &[0, 1, 3])]);
    assert_eq!((op, &shape[..]), (Op::Gather { axis: 1 }, &[2, 3][..]));
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
