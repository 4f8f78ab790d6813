//! Integers and bools at run time: words that only move, ranges, faults by name.
#![cfg(feature = "onnx")]

mod support;

use std::sync::Arc;
use sublet::exec::{CpuHost, CpuNetwork, Program, audit};
use sublet::graph::{BinaryOp, DType, Graph, Op, UnaryOp, Value, int_word, word_int};
use sublet::kernel::LowerLimits;
use sublet::model::npy::{Array, Data};
use sublet::model::onnx::{ImportOptions, parse, tensor};
use sublet::plan::{Alignment, Planner};
use support::block_on;
use support::onnx_encoder::{self as encoder, Dim, floats, ints, model, node};
use support::single::{fault, import};

const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };

/// Compiles, audits on the default inputs and runs on `inputs`.
fn run(graph: Graph, inputs: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let program = Arc::new(Program::new(graph, Alignment::new(256).unwrap(), LIMITS).unwrap());
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    let found =
        block_on(audit(&CpuHost(program.clone()), &plan, &program.default_inputs(), &CpuHost::LIMITS));
    assert!(found.as_ref().is_ok_and(|audit| audit.ok()), "{found:?}");
    CpuNetwork::new(program, &plan).unwrap().run(inputs).unwrap()
}

fn words(ints: &[i32]) -> Vec<f32> {
    ints.iter().map(|int| int_word(*int)).collect()
}

#[test]
fn integers_keep_their_bits_through_a_planned_run() {
    let graph = import(
        model(13)
            .open_input("x", 7, &[Dim::Size(2), Dim::Size(3)])
            .initializer(ints("c", &[1, 3], &[-1, i64::from(i32::MIN), 0x7f80_0001]))
            .initializer(ints("pads", &[4], &[0, 1, 0, 0]))
            .initializer(ints("fill", &[], &[-7]))
            .node(node("Concat", &["x", "c"], &["joined"]).int("axis", 0))
            .node(node("Pad", &["joined", "pads", "fill"], &["padded"]))
            .node(node("Transpose", &["padded"], &["y"]))
            .output("y"),
    )
    .unwrap();
    let output = graph.get(graph.outputs[0]);
    assert_eq!((output.dtype, &output.shape[..], output.size_bytes()), (DType::I64, &[4, 3][..], 48));
    let y = run(graph, &[words(&[1, -2, 3, i32::MAX, -1, 0x7fc0_0000])]);
    let y: Vec<i32> = y[0].iter().map(|word| word_int(*word)).collect();
    let due = [-7, -7, -7, 1, i32::MAX, -1, -2, -1, i32::MIN, 3, 0x7fc0_0000, 0x7f80_0001];
    assert_eq!(y, due);
}

#[test]
fn what_does_not_fit_is_named() {
    let wide = model(13)
        .open_input("x", 7, &[Dim::Size(1)])
        .initializer(ints("c", &[1], &[1 << 40]))
        .node(node("Concat", &["x", "c"], &["y"]).int("axis", 0))
        .output("y");
    let text = fault(wide);
    assert!(text.contains("'c'") && text.contains("1099511627776") && text.contains("2147483647"), "{text}");
    let mixed = model(13)
        .open_input("x", 7, &[Dim::Size(1)])
        .initializer(floats("c", &[1], &[1.0]))
        .node(node("Concat", &["x", "c"], &["y"]).int("axis", 0))
        .output("y");
    assert!(fault(mixed).contains("'c' is float32"));
    let mut graph = Graph::new("g");
    let x = graph.value(Value::new("x", DType::I32, [2]));
    let y = graph.value(Value::f32("y", [2]));
    graph.inputs = vec![x];
    graph.outputs = vec![y];
    graph.node("n", Op::Binary(BinaryOp::Prelu), vec![x, x], vec![y]);
    let text = graph.check().unwrap_err().to_string();
    assert!(text.contains("node 'n' (PRelu)") && text.contains("'y' is float32"), "{text}");
    let mut short = Value::i32_constant("c", [3], &[1, 2]);
    short.shape = vec![3];
    graph.values.push(short);
    let c = sublet::graph::ValueId(2);
    let z = graph.value(Value::new("z", DType::I32, [3]));
    graph.node("copy", Op::Copy, vec![c], vec![z]);
    graph.nodes.swap_remove(0);
    assert!(graph.check().unwrap_err().to_string().contains("holds 2 elements"));
}

#[test]
fn inputs_given_at_import_are_constants() {
    let bytes = model(13)
        .input("x", &[2, 3])
        .open_input("shape", 7, &[Dim::Name("rank")])
        .node(node("Reshape", &["x", "shape"], &["y"]))
        .output("y")
        .bytes();
    let with = |name: &str, shape: &[usize], data: Data| {
        let dtype = if matches!(data, Data::Ints(_)) { DType::I64 } else { DType::F32 };
        let array = Array { dtype, shape: shape.to_vec(), data };
        let constants = [(name.to_owned(), array)].into();
        parse(&bytes, "test", &ImportOptions { constants, ..ImportOptions::default() })
    };
    let graph = with("shape", &[2], Data::Ints(vec![3, -1])).unwrap();
    assert_eq!((graph.inputs.len(), &graph.get(graph.outputs[0]).shape[..]), (1, &[3, 2][..]));
    let text = |result: Result<Graph, sublet::model::ModelError>| result.unwrap_err().to_string();
    assert!(text(with("nothing", &[2], Data::Ints(vec![3, -1]))).contains("'nothing'"));
    assert!(text(with("shape", &[1, 2], Data::Ints(vec![3, -1]))).contains("2 dimensions"));
    assert!(text(with("shape", &[2], Data::Floats(vec![3.0, 2.0]))).contains("declares int64"));
}

#[test]
fn bounds_of_integers_are_held_to_what_a_run_holds() {
    let graph = import(
        model(13)
            .open_input("x", 7, &[Dim::Size(2)])
            .initializer(ints("least", &[], &[-3]))
            .initializer(ints("most", &[], &[i64::MAX]))
            .node(node("Clip", &["x", "least", "most"], &["y"]))
            .output("y"),
    )
    .unwrap();
    assert_eq!(graph.nodes[0].op, Op::Unary(UnaryOp::ClipInt { min: -3, max: i32::MAX }));
    let y = run(graph, &[words(&[-9, i32::MAX])]);
    assert_eq!(y[0].iter().map(|word| word_int(*word)).collect::<Vec<_>>(), [-3, i32::MAX]);
}

#[test]
fn tensor_files_are_read() {
    let (name, array) = tensor(&ints("t", &[2], &[5, -6]).0, "file").unwrap();
    assert_eq!(name, "t");
    assert_eq!(array, Array { dtype: DType::I64, shape: vec![2], data: Data::Ints(vec![5, -6]) });
    let half = encoder::tensor("h", 16, &[1], &[0xc0, 0xbf]);
    assert_eq!(tensor(&half.0, "file").unwrap().1.numbers(), [-1.5]);
    let bytes = ints("t", &[2], &[5, -6]).0;
    for cut in 0..bytes.len() {
        assert!(tensor(&bytes[..cut], "file").is_err(), "{cut} bytes");
    }
}

#[test]
fn default_inputs_follow_the_type_and_the_name() {
    let value = |name: &str, dtype| Value::new(name, dtype, [3]);
    let default = |name: &str, dtype| sublet::exec::default_input(&value(name, dtype));
    assert_eq!(default("x", DType::F32), [0.0, 0.919, 0.838]);
    assert_eq!(default("x", DType::I64), words(&[0, 919 % 256, 838 % 256]));
    assert_eq!(default("x", DType::Bool), words(&[0, 1, 0]));
    assert_eq!(default("my_State", DType::F32), [0.0; 3]);
}
