//! ONNX import: folding, inputs, outputs and faults, on models written by hand.
#![cfg(feature = "onnx")]

mod support;

use sublet::graph::{DType, Graph, Op};
use sublet::model::ModelError;
use sublet::model::onnx::{ImportOptions, load, parse};
use support::onnx_encoder::{Dim, Node, floats, ints, model, node, tensor};
use support::single::{fault, import, single, x_to_y};

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
    let shape = import(model(13).input("x", &[2]).node(node("Shape", &["x"], &["y"])).output("y")).unwrap();
    assert_eq!(shape.nodes[0].op, Op::Copy);
    let constant = shape.get(shape.nodes[0].inputs[0]);
    assert_eq!((constant.dtype, constant.i32_data()), (DType::I64, Some(vec![2])));
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
        ..ImportOptions::default()
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
    let integer = import(model(13).open_input("x", 7, &[Dim::Size(1)]).node(x_to_y("Identity")).output("y"));
    assert_eq!(shape(integer.unwrap()), [1]);
}

#[test]
fn all_unknown_operators_are_listed() {
    let m = model(17)
        .import("com.example", 3)
        .input("x", &[1])
        .node(node("StringNormalizer", &["x"], &["a"]))
        .node(node("Relu", &["a"], &["b"]))
        .node(node("Fancy", &["b"], &["c"]).domain("com.example"))
        .node(node("Relu", &["c"], &["d"]).domain("org.other"))
        .node(node("StringNormalizer", &["d"], &["y"]))
        .output("y");
    let text = fault(m);
    for part in [
        "StringNormalizer (ai.onnx opset 17) at 'a_node', 'y_node'",
        "Fancy (com.example opset 3) at 'c_node'",
    ] {
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
fn training_outputs_are_refused() {
    let batch = |n: Node, opset| {
        let one = |name| floats(name, &[2], &[1.0, 1.0]);
        fault(single(opset, &[1, 2], n, vec![one("s"), one("b"), one("m"), one("v")]))
    };
    let norm = || node("BatchNormalization", &["x", "s", "b", "m", "v"], &["y"]);
    assert!(batch(norm().int("spatial", 0), 7).contains("spatial"));
    let mask =
        model(13).input("x", &[1]).node(node("Dropout", &["x"], &["y", "mask"])).output("y").output("mask");
    let mask = import(mask).unwrap();
    assert_eq!(mask.get(mask.nodes[1].inputs[0]).i32_data(), Some(vec![1]), "nothing is dropped");
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

/// Every unknown operator of a model is in one error, with all of its nodes and the operator set.
#[test]
fn operators_that_are_not_there_are_listed_at_once() {
    let m = model(16)
        .input("x", &[1, 1, 4, 4])
        .node(node("GridSample", &["x", "x"], &["a"]))
        .node(node("Relu", &["a"], &["b"]))
        .node(node("Shuffle", &["b"], &["c"]))
        .node(node("GridSample", &["c", "c"], &["y"]))
        .output("y");
    let error = import(m).unwrap_err();
    let text = error.to_string();
    let ModelError::UnknownOperators { operators, .. } = error else { panic!("{text}") };
    let mut ops: Vec<&str> = operators.iter().map(|o| o.op.as_str()).collect();
    ops.sort_unstable();
    ops.dedup();
    assert_eq!(ops, ["GridSample", "Shuffle"]);
    for part in ["'a_node'", "'c_node'", "'y_node'", "opset 16"] {
        assert!(text.contains(part), "{text}");
    }
}
