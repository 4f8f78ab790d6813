//! Import of TFLite files that the tests write themselves: what is refused and how, damaged bytes.
#![cfg(feature = "tflite")]

mod support;

use sublet::graph::Op;
use sublet::model::tflite::parse;
use sublet::model::{ImportOptions, ModelError};
use support::tflite_encoder::{Field, INT8, Model};

const ADD: i32 = 0;
const CONV_2D: i32 = 3;
const FULLY_CONNECTED: i32 = 9;
const RELU: i32 = 19;
const RESHAPE: i32 = 22;
const PAD: i32 = 34;
const RFFT2D: i32 = 131;

fn import(model: &Model) -> Result<sublet::graph::Graph, ModelError> {
    parse(&model.bytes(), "test", &ImportOptions::default())
}

fn ops(graph: &sublet::graph::Graph) -> Vec<&'static str> {
    graph.nodes.iter().map(|n| n.op.name()).collect()
}

/// A convolution, a reshape across channels, a matrix.
fn small() -> Model {
    let mut m = Model::default();
    let x = m.input("x", &[1, 4, 3, 2]);
    let w = m.floats("w", &[5, 1, 1, 2], &(0..10).map(|x| x as f32).collect::<Vec<_>>());
    let bias = m.floats("bias", &[5], &[1.0; 5]);
    let y = m.value("y", &[1, 4, 3, 5]);
    m.op(CONV_2D, &[x, w, bias], &[y], &[(1, Field::Int(1)), (2, Field::Int(1)), (3, Field::Byte(1))]);
    let shape = m.ints("shape", &[2], &[1, -1]);
    let flat = m.value("flat", &[1, 60]);
    m.op(RESHAPE, &[y, shape], &[flat], &[]);
    let matrix = m.quantised("matrix", &[2, 60], &[1; 120], &[0.5, 2.0]);
    let out = m.value("out", &[1, 2]);
    m.op(FULLY_CONNECTED, &[flat, matrix, -1], &[out], &[]);
    m.outputs.push(out);
    m
}

#[test]
fn elements_move_once_and_weights_become_floats() {
    let graph = import(&small()).unwrap();
    // The input's channels are brought to the front; the flattened image keeps its order.
    assert_eq!(ops(&graph), ["Transpose", "Conv", "Copy", "Gemm"]);
    let matrix = graph.values.iter().find(|v| v.name == "matrix").unwrap();
    assert_eq!(matrix.f32_data().unwrap()[59..61], [0.5, 2.0]);
    assert_eq!(graph.get(graph.outputs[0]).name, "out");
}

#[test]
fn columns_follow_a_flattened_image() {
    let mut m = Model::default();
    let x = m.input("x", &[1, 2, 2, 2]);
    let w = m.floats("w", &[2, 1, 1, 2], &[1.0, 0.0, 0.0, 1.0]);
    let y = m.value("y", &[1, 2, 2, 2]);
    m.op(CONV_2D, &[x, w, -1], &[y], &[]);
    let matrix = m.floats("matrix", &[1, 8], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let out = m.value("out", &[1, 1]);
    m.op(FULLY_CONNECTED, &[y, matrix, -1], &[out], &[]);
    m.outputs.push(out);
    let graph = import(&m).unwrap();
    let matrix = graph.values.iter().find(|v| v.name == "matrix").unwrap();
    assert_eq!(matrix.f32_data().unwrap(), [0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0]);
}

/// Zeros around an image that a convolution alone reads are its own padding; for other readers they are
/// written.
#[test]
fn padding_is_left_to_a_convolution() {
    let padded = |also_read: bool| {
        let mut m = Model::default();
        let x = m.input("x", &[1, 4, 4, 1]);
        let pads = m.ints("pads", &[4, 2], &[0, 0, 1, 2, 0, 3, 0, 0]);
        let y = m.value("y", &[1, 7, 7, 1]);
        m.op(PAD, &[x, pads], &[y], &[]);
        let w = m.floats("w", &[2, 3, 3, 1], &[1.0; 18]);
        let z = m.value("z", &[1, 5, 5, 2]);
        m.op(CONV_2D, &[y, w, -1], &[z], &[(0, Field::Byte(1))]);
        m.outputs.push(z);
        if also_read {
            m.outputs.push(y);
        }
        import(&m).unwrap()
    };
    let alone = padded(false);
    // One channel: the input is only looked at as [1, 1, 4, 4].
    assert_eq!(ops(&alone), ["Copy", "Conv", "Transpose"]);
    let Op::Conv { window, .. } = &alone.nodes[1].op else { panic!("{:?}", alone.nodes[1]) };
    assert_eq!(window.pads, [1, 0, 2, 3]);
    assert_eq!(alone.get(alone.nodes[1].outputs[0]).shape, [1, 2, 5, 5]);
    assert!(ops(&padded(true)).contains(&"Pad"));
}

#[test]
fn every_unknown_operator_is_listed() {
    let mut m = Model::default();
    let x = m.input("x", &[2, 4]);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| m.value(name, &[2, 4]));
    m.op(RFFT2D, &[x], &[a], &[]);
    m.op(RELU, &[a], &[b], &[]);
    m.custom("Sharpen", &[b], &[c]);
    m.op(RFFT2D, &[c], &[d], &[]);
    m.outputs.push(d);
    let error = import(&m).unwrap_err();
    let due = "test: operators that sublet does not have: RFFT2D (TFLite version 1) at 'a', 'd'; \
               Sharpen (TFLite custom version 1) at 'c'";
    assert_eq!(error.to_string(), due);
}

#[test]
fn open_dimensions_are_the_callers() {
    let mut m = Model::default();
    let x = m.input("x", &[1, 1, 2]);
    m.change(x, 0, &[-1, -1, 2], &[]);
    let y = m.value("y", &[1, 1, 2]);
    m.op(RELU, &[x], &[y], &[]);
    m.outputs.push(y);
    let error = import(&m).unwrap_err().to_string();
    assert_eq!(
        error,
        "input 'x': dimension 1 (unnamed) of [?, ?, 2] is open; give --shape x=?x?x2 with a size for each '?'"
    );
    let mut options = ImportOptions::default();
    options.shapes.insert("x".into(), vec![3, 5, 2]);
    let graph = parse(&m.bytes(), "test", &options).unwrap();
    assert_eq!(graph.get(graph.outputs[0]).shape, [3, 5, 2]);
    options.shapes.insert("x".into(), vec![3, 5, 4]);
    let error = parse(&m.bytes(), "test", &options).unwrap_err().to_string();
    assert_eq!(error, "input 'x': dimension 2 is 4, the model fixes it to 2");
    options.shapes.insert("z".into(), vec![1]);
    let error = parse(&m.bytes(), "test", &options).unwrap_err().to_string();
    assert_eq!(error, "the model has no input 'z'; its inputs are x");
}

#[test]
fn quantised_activations_are_refused_by_name() {
    let mut m = Model::default();
    let x = m.input("x", &[1, 2]);
    m.change(x, INT8, &[], &[0.5]);
    let y = m.value("y", &[1, 2]);
    m.op(RELU, &[x], &[y], &[]);
    m.outputs.push(y);
    let error = import(&m).unwrap_err().to_string();
    assert!(error.starts_with("tensor 'x': is quantised to int8 at run time"), "{error}");
}

#[test]
fn nodes_that_break_a_rule_are_named_with_both_numbers() {
    let refused = |build: fn(&mut Model, i32, i32), due: &str| {
        let mut m = Model::default();
        let (x, y) = (m.input("x", &[1, 4, 4, 6]), m.value("y", &[]));
        build(&mut m, x, y);
        m.outputs.push(y);
        assert_eq!(import(&m).unwrap_err().to_string(), due);
    };
    refused(
        |m, x, y| {
            let w = m.floats("w", &[2, 1, 1, 4], &[0.0; 8]);
            m.op(CONV_2D, &[x, w, -1], &[y], &[]);
        },
        "node 'y' (CONV_2D): the input has 6 channels, the weights read 4",
    );
    refused(
        |m, x, y| {
            let w = m.floats("w", &[2, 5, 1, 6], &[0.0; 60]);
            m.op(CONV_2D, &[x, w, -1], &[y], &[(0, Field::Byte(1))]);
        },
        "node 'y' (CONV_2D): a window of 5 does not fit into 4 without padding",
    );
    refused(
        |m, x, y| {
            let w = m.floats("w", &[2, 2, 1, 6], &[0.0; 23]);
            m.op(CONV_2D, &[x, w, -1], &[y], &[]);
        },
        "node 'y' (CONV_2D): shape [2, 2, 1, 6] needs 24 elements of 4 bytes, the file holds 92 bytes",
    );
    refused(
        |m, x, y| m.op(RESHAPE, &[x], &[y], &[(0, Field::Ints(vec![5, -1]))]),
        "node 'y' (RESHAPE): [1, 4, 4, 6] cannot be reshaped to [5, -1]: the element counts differ",
    );
    refused(|m, x, y| m.op(ADD, &[x], &[y], &[(0, Field::Float(0.0))]), "node 'y' (ADD): input 1 is missing");
    refused(|m, _, y| m.op(RELU, &[y], &[y], &[]), "node 'y' (RELU): reads 'y', which nothing has written");
}

/// Any byte of a good file changed, and any prefix of it: a graph or an error, never a panic.
#[test]
fn damaged_files_are_errors() {
    let good = small().bytes();
    assert!(parse(&good, "good", &ImportOptions::default()).is_ok());
    let (mut refused, mut read) = (0, 0);
    let mut try_it = |bytes: &[u8]| match parse(bytes, "damaged", &ImportOptions::default()) {
        Ok(graph) => {
            graph.check().unwrap();
            read += 1;
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            refused += 1;
        }
    };
    for at in 0..good.len() {
        try_it(&good[..at]);
        for value in [0, 1, 2, 4, 9, 64, 127, 128, 253, 255, good[at].wrapping_add(1)] {
            let mut bytes = good.clone();
            bytes[at] = value;
            try_it(&bytes);
        }
    }
    assert!(refused > 1000 && read > 1000, "{refused} refused, {read} read");
}
