//! Operators that the importer writes out in others, run on the twins: Einsum, quantisation, branches.
#![cfg(feature = "onnx")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use sublet::exec::{CpuNetwork, Program, default_input};
use sublet::graph::{DType, Graph, word_int};
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner};
use support::onnx_encoder::{Dim, Model, Node, floats, ints, model, node, tensor};
use support::single::{fault, import};

/// Runs a graph on the default inputs; returns inputs and outputs as words.
fn run(graph: Graph) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let limits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
    let program = Arc::new(Program::new(graph, Alignment::new(256).unwrap(), limits).unwrap());
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    let inputs: Vec<_> =
        program.graph.inputs.iter().map(|id| default_input(program.graph.get(*id))).collect();
    let outputs = CpuNetwork::new(program, &plan).unwrap().run(&inputs).unwrap();
    (inputs, outputs)
}

/// The sum over every assignment of sizes to labels, straight from the definition; the output's labels are
/// given.
fn einsum(operands: &[(&str, &[usize], &[f32])], output: &str) -> Vec<f64> {
    let mut sizes: BTreeMap<char, usize> = BTreeMap::new();
    for (labels, shape, _) in operands {
        for (label, size) in labels.chars().zip(*shape) {
            let known = sizes.entry(label).or_insert(*size);
            *known = (*known).max(*size);
        }
    }
    let flat = |labels: &str, shape: &dyn Fn(usize, char) -> usize, at: &BTreeMap<char, usize>| {
        labels.chars().enumerate().fold(0, |flat, (d, label)| {
            let size = shape(d, label);
            flat * size + if size == 1 { 0 } else { at[&label] }
        })
    };
    let mut out = vec![0.0; output.chars().map(|label| sizes[&label]).product()];
    let mut assignments = vec![BTreeMap::new()];
    for (label, size) in &sizes {
        assignments = (assignments.into_iter())
            .flat_map(|at| {
                (0..*size).map(move |i| [at.clone(), [(*label, i)].into()].into_iter().flatten().collect())
            })
            .collect();
    }
    for at in &assignments {
        let factors =
            operands.iter().map(|(labels, shape, data)| f64::from(data[flat(labels, &|d, _| shape[d], at)]));
        out[flat(output, &|_, label| sizes[&label], at)] += factors.product::<f64>();
    }
    out
}

/// An equation, the operands' shapes, and the labels of operands and output with the ellipsis spelled out.
type Equation = (&'static str, &'static [&'static [i64]], &'static [&'static str], &'static str);

#[test]
fn einsum_is_the_sum_over_all_indices() {
    let table: &[Equation] = &[
        ("ij,jk->ik", &[&[2, 3], &[3, 4]], &["ij", "jk"], "ik"),
        ("ij,jk", &[&[2, 3], &[3, 4]], &["ij", "jk"], "ik"),
        ("ba", &[&[2, 3]], &["ba"], "ab"),
        ("ij->", &[&[2, 3]], &["ij"], ""),
        ("ij->j", &[&[2, 3]], &["ij"], "j"),
        ("ii->i", &[&[3, 3]], &["ii"], "i"),
        ("ii", &[&[3, 3]], &["ii"], ""),
        ("bii->ib", &[&[2, 3, 3]], &["bii"], "ib"),
        ("iji->j", &[&[3, 2, 3]], &["iji"], "j"),
        ("i,j->ij", &[&[2], &[3]], &["i", "j"], "ij"),
        ("i,i->", &[&[4], &[4]], &["i", "i"], ""),
        ("bij,bjk->bik", &[&[2, 3, 4], &[2, 4, 5]], &["bij", "bjk"], "bik"),
        ("bhid,bhjd->bhij", &[&[2, 2, 3, 4], &[2, 2, 5, 4]], &["bhid", "bhjd"], "bhij"),
        ("ij,jk,kl->il", &[&[2, 3], &[3, 4], &[4, 2]], &["ij", "jk", "kl"], "il"),
        ("ij,ij,ik->jk", &[&[2, 3], &[2, 3], &[2, 4]], &["ij", "ij", "ik"], "jk"),
        ("... i j , ... j k -> ... i k", &[&[2, 3, 4], &[2, 4, 5]], &["Aij", "Ajk"], "Aik"),
        ("...ij,...jk", &[&[2, 1, 3, 4], &[5, 4, 2]], &["ABij", "Bjk"], "ABik"),
        ("i...->...", &[&[2, 3, 4]], &["iAB"], "AB"),
        ("a...a->...a", &[&[3, 2, 3]], &["aAa"], "Aa"),
        ("ab,ac->cb", &[&[1, 2], &[3, 4]], &["ab", "ac"], "cb"),
    ];
    for (equation, shapes, labels, output) in table {
        let names: Vec<String> = (0..shapes.len()).map(|i| format!("x{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut m = model(12).node(node("Einsum", &names, &["y"]).string("equation", equation)).output("y");
        for (name, shape) in names.iter().zip(*shapes) {
            m = m.input(name, shape);
        }
        let (inputs, outputs) = run(import(m).unwrap());
        let dims: Vec<Vec<usize>> = shapes.iter().map(|s| s.iter().map(|d| *d as usize).collect()).collect();
        let operands: Vec<_> =
            labels.iter().zip(&dims).zip(&inputs).map(|((l, d), x)| (*l, &d[..], &x[..])).collect();
        let due = einsum(&operands, output);
        assert_eq!(outputs[0].len(), due.len(), "{equation}");
        for (found, due) in outputs[0].iter().zip(due) {
            assert!(
                (f64::from(*found) - due).abs() <= 1e-5 * due.abs().max(1.0),
                "{equation}: {found} {due}"
            );
        }
    }
}

#[test]
fn wrong_equations_are_refused() {
    let of = |equation: &str, shape: &[i64]| {
        let einsum = node("Einsum", &["x"], &["y"]).string("equation", equation);
        fault(model(12).input("x", shape).node(einsum).output("y"))
    };
    assert!(of("ij,jk->ik", &[2, 3]).contains("2 operands, 1 are given"));
    assert!(of("ijk->i", &[2, 3]).contains("does not fit"));
    assert!(of("ij->k", &[2, 3]).contains("in no operand"));
    assert!(of("ij->ii", &[2, 3]).contains("twice"));
    assert!(of("ii->i", &[2, 3]).contains("2 and 3 long"));
    assert!(of("i1->i", &[2, 3]).contains("'1'"));
}

fn bytes(name: &str, values: &[u8]) -> support::onnx_encoder::Message {
    tensor(name, 2, &[values.len() as i64], values)
}

#[test]
fn quantisation_rounds_moves_and_saturates() {
    let m = model(13)
        .input("x", &[2, 3])
        .initializer(floats("s", &[3], &[0.5, 0.001, 0.25]))
        .initializer(bytes("z", &[3, 128, 255]))
        .node(node("QuantizeLinear", &["x", "s", "z"], &["q"]).int("axis", -1))
        .node(node("DequantizeLinear", &["q", "s", "z"], &["y"]).int("axis", 1))
        .output("q")
        .output("y");
    let graph = import(m).unwrap();
    assert_eq!(graph.get(graph.outputs[0]).dtype, DType::U8);
    let (inputs, outputs) = run(graph);
    let (scale, zero) = ([0.5, 0.001, 0.25], [3.0, 128.0, 255.0]);
    for (i, x) in inputs[0].iter().enumerate() {
        let quantised = ((x / scale[i % 3]).round_ties_even() + zero[i % 3]).clamp(0.0, 255.0);
        assert_eq!(word_int(outputs[0][i]), quantised as i32, "element {i}");
        assert_eq!(outputs[1][i], (quantised - zero[i % 3]) * scale[i % 3], "element {i}");
    }
}

/// `x + c` or `x * c`, of a constant around the branches.
fn branches(condition: &[u8]) -> Model {
    let inner = |op: &str, out: &str| model(13).node(node(op, &["x", "c"], &[out])).output(out);
    let choice: Node = node("If", &["condition"], &["y"])
        .graph("then_branch", inner("Add", "sum"))
        .graph("else_branch", inner("Mul", "product"));
    model(13)
        .input("x", &[3])
        .initializer(floats("c", &[], &[4.0]))
        .initializer(tensor("condition", 9, &[], condition))
        .node(node("Relu", &["y"], &["z"]))
        .node(choice)
        .output("z")
        .output("y")
}

/// `total += x * step` and a list of totals, so many rounds.
fn rounds(count: i64, stops_after: i64) -> Model {
    let body = model(13)
        .open_input("i", 7, &[])
        .open_input("on", 9, &[])
        .input("total", &[3])
        .initializer(ints("last", &[], &[stops_after]))
        .node(node("Cast", &["i"], &["step"]).int("to", 1))
        .node(node("Mul", &["x", "step"], &["term"]))
        .node(node("Add", &["total", "term"], &["sum"]))
        .node(node("Less", &["i", "last"], &["goes_on"]))
        .node(node("Identity", &["sum"], &["listed"]))
        .output("goes_on")
        .output("sum")
        .output("listed");
    model(13)
        .input("x", &[3])
        .initializer(ints("count", &[], &[count]))
        .initializer(floats("zero", &[3], &[0.0; 3]))
        .node(node("Loop", &["count", "", "zero"], &["y", "all"]).graph("body", body))
        .output("y")
        .output("all")
}

#[test]
fn loops_of_a_known_number_of_rounds_are_written_out() {
    for (count, stops_after, rounds_run) in [(4, 100, 4), (10, 2, 3), (1, 0, 1)] {
        let graph = import(rounds(count, stops_after)).unwrap();
        let mut names: Vec<_> = graph.values.iter().map(|v| v.name.clone()).collect();
        names.sort();
        assert!(names.windows(2).all(|w| w[0] != w[1]), "{names:?}");
        let (inputs, outputs) = run(graph);
        let total = |n: usize, x: f32| (0..n).fold(0.0, |sum, i| sum + x * i as f32);
        let due: Vec<f32> = inputs[0].iter().map(|x| total(rounds_run, *x)).collect();
        assert_eq!(outputs[0], due);
        let all: Vec<f32> =
            (1..=rounds_run).flat_map(|n| inputs[0].iter().map(move |x| total(n, *x))).collect();
        assert_eq!(outputs[1], all);
    }
    assert!(fault(rounds(0, 5)).contains("no round computes"));
    assert!(fault(rounds(i64::MAX, i64::MAX)).contains("more than 1000 rounds"));
}

#[test]
fn the_branch_that_is_taken_is_inlined() {
    for (condition, due) in [(1, [4.0, 4.919, 4.838]), (0, [0.0, 3.676, 3.352])] {
        let graph = import(branches(&[condition])).unwrap();
        assert_eq!(graph.get(graph.outputs[1]).name, "y");
        let (_, outputs) = run(graph);
        assert_eq!(outputs, [due.to_vec(), due.to_vec()]);
    }
    let open = model(13)
        .open_input("condition", 9, &[Dim::Size(1)])
        .input("x", &[1])
        .node(node("If", &["condition"], &["y"]).graph("then_branch", model(13).output("x")))
        .output("y");
    assert!(fault(open).contains("must be known at import"));
    let missing = model(13)
        .input("x", &[1])
        .initializer(ints("condition", &[], &[1]))
        .node(node("If", &["condition"], &["y"]).graph("else_branch", model(13).output("x")))
        .output("y");
    assert!(fault(missing).contains("'then_branch'"));
}
