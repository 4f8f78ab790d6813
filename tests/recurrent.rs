//! LSTM, GRU and RNN from a model to numbers, on the CPU executor, against the operators' equations.
#![cfg(feature = "onnx")]

mod support;

use std::sync::Arc;
use sublet::exec::{CpuNetwork, Program};
use sublet::graph::{Gate, Op};
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner};
use support::onnx_encoder::{Node, floats, ints, model, node};
use support::single::import;

const STEPS: usize = 4;
const BATCH: usize = 2;
const INPUTS: usize = 3;
const HIDDEN: usize = 5;

/// Made-up numbers in -1..1.
fn numbers(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|i| (((i + 13 * seed) * 7919 + 31 * seed) % 401) as f32 / 200.5 - 1.0).collect()
}

/// What a case gives beyond the input and the weights.
#[derive(Clone, Copy)]
struct Extras {
    bias: bool,
    initial: bool,
    peephole: bool,
    lengths: Option<[usize; BATCH]>,
}

const PLAIN: Extras = Extras { bias: true, initial: false, peephole: false, lengths: None };

/// The tensors of a case.
struct Weights {
    gates: usize,
    w: Vec<f32>,
    r: Vec<f32>,
    b: Vec<f32>,
    h: Vec<f32>,
    c: Vec<f32>,
    p: Vec<f32>,
}

impl Weights {
    fn new(gates: usize, directions: usize, extras: Extras) -> Weights {
        let zero_unless = |given: bool, data: Vec<f32>| if given { data } else { vec![0.0; data.len()] };
        let state = directions * BATCH * HIDDEN;
        Weights {
            gates,
            w: numbers(directions * gates * HIDDEN * INPUTS, 1),
            r: numbers(directions * gates * HIDDEN * HIDDEN, 2),
            b: zero_unless(extras.bias, numbers(directions * 2 * gates * HIDDEN, 3)),
            h: zero_unless(extras.initial, numbers(state, 4)),
            c: zero_unless(extras.initial, numbers(state, 5)),
            p: zero_unless(extras.peephole, numbers(directions * 3 * HIDDEN, 6)),
        }
    }

    /// Gate `gate` of cell `k` before its activation: the input's and the state's part, biases included.
    fn gate(&self, d: usize, gate: usize, k: usize, x: &[f64], h: &[f64]) -> (f64, f64) {
        let row = gate * HIDDEN + k;
        let all = self.gates * HIDDEN;
        let dot = |weights: &[f32], values: &[f64]| {
            weights.iter().zip(values).map(|(w, v)| f64::from(*w) * v).sum::<f64>()
        };
        let (w, r) = (&self.w[(d * all + row) * INPUTS..], &self.r[(d * all + row) * HIDDEN..]);
        let bias = |at: usize| f64::from(self.b[d * 2 * all + at]);
        (dot(&w[..INPUTS], x) + bias(row), dot(&r[..HIDDEN], h) + bias(all + row))
    }
}

/// Output and cell state.
type States = (Vec<f64>, Vec<f64>);

/// One step: input, last output, last cell state; the new two.
type Step<'a> = &'a dyn Fn(&Weights, usize, &[f64], &[f64], &[f64]) -> States;

/// Outputs `Y [S, D, B, H]`, `Y_h` and `Y_c [D, B, H]` of the equations.
fn expected(weights: &Weights, reversed: &[bool], extras: Extras, step: Step) -> [Vec<f64>; 3] {
    let x = numbers(STEPS * BATCH * INPUTS, 7);
    let directions = reversed.len();
    let mut y = vec![0.0; STEPS * directions * BATCH * HIDDEN];
    let (mut last_h, mut last_c) = (Vec::new(), Vec::new());
    let wide = |data: &[f32]| data.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
    for (d, reversed) in reversed.iter().enumerate() {
        for b in 0..BATCH {
            let state = (d * BATCH + b) * HIDDEN;
            let mut h = wide(&weights.h[state..state + HIDDEN]);
            let mut c = wide(&weights.c[state..state + HIDDEN]);
            let len = extras.lengths.map_or(STEPS, |lengths| lengths[b]);
            for i in 0..len {
                let t = if *reversed { len - 1 - i } else { i };
                let input = wide(&x[(t * BATCH + b) * INPUTS..][..INPUTS]);
                (h, c) = step(weights, d, &input, &h, &c);
                y[((t * directions + d) * BATCH + b) * HIDDEN..][..HIDDEN].copy_from_slice(&h);
            }
            last_h.extend(h);
            last_c.extend(c);
        }
    }
    [y, last_h, last_c]
}

/// What the model gives, with the steps or the batch first.
fn found(op: Node, weights: &Weights, directions: usize, extras: Extras, outputs: &[&str]) -> Vec<Vec<f32>> {
    let (d, g, h) = (directions as i64, weights.gates as i64, HIDDEN as i64);
    let (s, b, i) = (STEPS as i64, BATCH as i64, INPUTS as i64);
    let mut m = model(14)
        .input("x", &[s, b, i])
        .initializer(floats("w", &[d, g * h, i], &weights.w))
        .initializer(floats("r", &[d, g * h, h], &weights.r))
        .initializer(floats("b", &[d, 2 * g * h], &weights.b))
        .initializer(floats("h", &[d, b, h], &weights.h))
        .initializer(floats("c", &[d, b, h], &weights.c))
        .initializer(floats("p", &[d, 3 * h], &weights.p));
    if let Some(lengths) = extras.lengths {
        m = m.initializer(ints("l", &[b], &lengths.map(|l| l as i64)));
    }
    let m = outputs.iter().fold(m.node(op), |m, output| m.output(output));
    let graph = import(m).unwrap();
    assert!(graph.nodes.iter().all(|n| n.outputs.len() == 1));
    let limits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };
    let program = Program::new(graph, Alignment::new(256).unwrap(), limits).unwrap();
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    let x = numbers(STEPS * BATCH * INPUTS, 7);
    CpuNetwork::new(Arc::new(program), &plan).unwrap().run(&[x]).unwrap()
}

#[track_caller]
fn close(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "element {i}: {found}, {expected} is due");
    }
}

fn names(extras: Extras, inputs: &[&'static str]) -> Vec<&'static str> {
    let given = |name: &&'static str| match *name {
        "b" => extras.bias,
        "h" | "c" => extras.initial,
        "p" => extras.peephole,
        "l" => extras.lengths.is_some(),
        _ => true,
    };
    inputs.iter().map(|name| if given(name) { *name } else { "" }).collect()
}

fn sigmoid(v: f64) -> f64 {
    1.0 / (1.0 + (-v).exp())
}

fn rnn_step(weights: &Weights, d: usize, x: &[f64], h: &[f64], c: &[f64]) -> States {
    let cell = |k: usize| {
        let (a, b) = weights.gate(d, 0, k, x, h);
        (a + b).tanh()
    };
    ((0..HIDDEN).map(cell).collect(), c.to_vec())
}

fn lstm_step(weights: &Weights, d: usize, x: &[f64], h: &[f64], c: &[f64]) -> States {
    let cell = |k: usize| {
        let sum = |gate: usize| {
            let (a, b) = weights.gate(d, gate, k, x, h);
            a + b
        };
        let hole = |i: usize| f64::from(weights.p[(d * 3 + i) * HIDDEN + k]);
        let kept = sigmoid(sum(2) + hole(2) * c[k]) * c[k];
        let state = kept + sigmoid(sum(0) + hole(0) * c[k]) * sum(3).tanh();
        (sigmoid(sum(1) + hole(1) * state) * state.tanh(), state)
    };
    (0..HIDDEN).map(cell).unzip()
}

fn gru_step(late: bool) -> impl Fn(&Weights, usize, &[f64], &[f64], &[f64]) -> States {
    move |weights, d, x, h, c| {
        let opened = |gate: usize, k: usize| {
            let (a, b) = weights.gate(d, gate, k, x, h);
            sigmoid(a + b)
        };
        let reset: Vec<f64> = (0..HIDDEN).map(|k| opened(1, k) * h[k]).collect();
        let cell = |k: usize| {
            let candidate = match late {
                true => {
                    let (a, b) = weights.gate(d, 2, k, x, h);
                    a + opened(1, k) * b
                }
                false => {
                    let (a, b) = weights.gate(d, 2, k, x, &reset);
                    a + b
                }
            };
            let z = opened(0, k);
            (1.0 - z) * candidate.tanh() + z * h[k]
        };
        ((0..HIDDEN).map(cell).collect(), c.to_vec())
    }
}

const EXTRAS: [Extras; 4] = [
    PLAIN,
    Extras { bias: false, initial: true, ..PLAIN },
    Extras { lengths: Some([4, 2]), initial: true, ..PLAIN },
    Extras { lengths: Some([3, 3]), ..PLAIN },
];

const DIRECTIONS: [(&str, &[bool]); 3] =
    [("forward", &[false]), ("reverse", &[true]), ("bidirectional", &[false, true])];

#[test]
fn rnn_follows_its_equation() {
    for extras in EXTRAS {
        for (direction, reversed) in DIRECTIONS {
            let weights = Weights::new(1, reversed.len(), extras);
            let op = node("RNN", &names(extras, &["x", "w", "r", "b", "l", "h"]), &["y", "yh"]);
            let op = op.string("direction", direction).int("hidden_size", HIDDEN as i64);
            let found = found(op, &weights, reversed.len(), extras, &["y", "yh"]);
            let [y, h, _] = expected(&weights, reversed, extras, &rnn_step);
            close(&found[0], &y);
            close(&found[1], &h);
        }
    }
}

#[test]
fn lstm_follows_its_equations() {
    for extras in EXTRAS.into_iter().chain([Extras { peephole: true, initial: true, ..PLAIN }]) {
        for (direction, reversed) in DIRECTIONS {
            let weights = Weights::new(4, reversed.len(), extras);
            let inputs = names(extras, &["x", "w", "r", "b", "l", "h", "c", "p"]);
            let op = node("LSTM", &inputs, &["y", "yh", "yc"]).string("direction", direction);
            let found = found(op, &weights, reversed.len(), extras, &["y", "yh", "yc"]);
            let all = expected(&weights, reversed, extras, &lstm_step);
            found.iter().zip(&all).for_each(|(found, expected)| close(found, expected));
        }
    }
}

#[test]
fn gru_follows_its_equations() {
    for (late, extras) in EXTRAS.into_iter().flat_map(|extras| [(false, extras), (true, extras)]) {
        for (direction, reversed) in DIRECTIONS {
            let weights = Weights::new(3, reversed.len(), extras);
            let op = node("GRU", &names(extras, &["x", "w", "r", "b", "l", "h"]), &["y", "yh"]);
            let op = op.string("direction", direction).int("linear_before_reset", i64::from(late));
            let found = found(op, &weights, reversed.len(), extras, &["y", "yh"]);
            let [y, h, _] = expected(&weights, reversed, extras, &gru_step(late));
            close(&found[0], &y);
            close(&found[1], &h);
        }
    }
}

#[test]
fn activations_are_dealt_in_order() {
    let gates = |activations: &[&str], alphas: &[f32]| {
        let op = node("RNN", &["x", "w", "r"], &["", "y"]).string("direction", "bidirectional");
        let m = model(14)
            .input("x", &[1, 1, 1])
            .initializer(floats("w", &[2, 1, 1], &[1.0; 2]))
            .initializer(floats("r", &[2, 1, 1], &[1.0; 2]))
            .node(
                op.strings("activations", activations).floats("activation_alpha", alphas).float("clip", 2.0),
            )
            .output("y");
        import(m).map(|graph| {
            let gate = |op: &Op| match op {
                Op::Gate { gate, clip } => Some((*gate, *clip)),
                _ => None,
            };
            graph.nodes.iter().filter_map(|n| gate(&n.op)).collect::<Vec<_>>()
        })
    };
    let due = [(Gate::Elu { alpha: 0.5 }, 2.0), (Gate::LeakyRelu { alpha: 0.25 }, 2.0)];
    assert_eq!(gates(&["Elu", "LeakyRelu"], &[0.5, 0.25]).unwrap(), due);
    let due = [(Gate::Softsign, 2.0), (Gate::HardSigmoid { alpha: 0.5, beta: 0.5 }, 2.0)];
    assert_eq!(gates(&["Softsign", "hardsigmoid"], &[0.5]).unwrap(), due);
    assert!(gates(&["Tanh"], &[]).unwrap_err().to_string().contains("1 activations, 2 are due"));
    assert!(gates(&["Tanh", "Sinus"], &[]).unwrap_err().to_string().contains("'sinus'"));
}

#[test]
fn the_batch_may_come_first() {
    let weights = Weights::new(1, 1, PLAIN);
    let plain = node("RNN", &["x", "w", "r", "b"], &["y", "yh"]);
    let steps_first = found(plain, &weights, 1, PLAIN, &["y", "yh"]);
    let x = node("Transpose", &["x"], &["xt"]).ints("perm", &[1, 0, 2]);
    let m = model(14)
        .input("x", &[STEPS as i64, BATCH as i64, INPUTS as i64])
        .initializer(floats("w", &[1, HIDDEN as i64, INPUTS as i64], &weights.w))
        .initializer(floats("r", &[1, HIDDEN as i64, HIDDEN as i64], &weights.r))
        .initializer(floats("b", &[1, 2 * HIDDEN as i64], &weights.b))
        .node(x)
        .node(node("RNN", &["xt", "w", "r", "b"], &["y", "yh"]).int("layout", 1))
        .output("y")
        .output("yh");
    let graph = import(m).unwrap();
    assert_eq!(graph.get(graph.outputs[0]).shape, [BATCH, STEPS, 1, HIDDEN]);
    assert_eq!(graph.get(graph.outputs[1]).shape, [BATCH, 1, HIDDEN]);
    let limits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };
    let program = Program::new(graph, Alignment::new(256).unwrap(), limits).unwrap();
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    let x = numbers(STEPS * BATCH * INPUTS, 7);
    let batch_first = CpuNetwork::new(Arc::new(program), &plan).unwrap().run(&[x]).unwrap();
    assert_eq!(batch_first[1], steps_first[1]);
    for (t, b) in (0..STEPS).flat_map(|t| (0..BATCH).map(move |b| (t, b))) {
        let row = |data: &[f32], row: usize| data[row * HIDDEN..(row + 1) * HIDDEN].to_vec();
        assert_eq!(row(&batch_first[0], b * STEPS + t), row(&steps_first[0], t * BATCH + b));
    }
}
