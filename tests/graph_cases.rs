//! People's reports about whole networks, each with its right answer.

mod support;

use sublet::graph::passes::Passes;
use sublet::graph::{Graph, Op, Sharing, UnaryOp, Window, usage};
use sublet::plan::{Alignment, Planner, Problem, SharedStrategy};
use support::graphs::Builder;

fn plain(graph: &Graph, alignment: u64) -> Problem {
    usage(graph, Alignment::new(alignment).unwrap(), &Sharing::default()).unwrap().problem
}

/// Case 15: a convolution of 128 channels at 512 x 512, 134,217,728 bytes a tensor, and its twin in half
/// precision, side by side: half of every byte, and the report says which tensors set the peak.
#[test]
fn case_15_half_precision_halves_the_peak_and_the_report_names_what_sets_it() {
    let window = Window { kernel: [3, 3], strides: [1, 1], pads: [1; 4], dilations: [1, 1] };
    let shape = [1, 128, 512, 512];
    let mut b = Builder::new("image");
    let x = b.input("x", &shape);
    let w = b.constant("w", &[128, 128, 3, 3], vec![0.0; 128 * 128 * 9]);
    let op = || Op::Conv { window, groups: 1, activation: None };
    let first = b.op("first", op(), &[x, w], &shape);
    let second = b.op("second", op(), &[first, w], &shape);
    let end = b.op("end", Op::ReduceMean { axes: vec![2, 3] }, &[second], &[1, 128]);
    let full = plain(&b.output(&[end]), 256);
    let mut half = Problem::new(Alignment::new(256).unwrap());
    for tensor in full.tensors() {
        half.tensor(tensor.label(), tensor.size_bytes() / 2, tensor.first()..=tensor.last()).unwrap();
    }
    let report = |problem: &Problem| Planner::auto().plan(problem).unwrap().report(problem);
    let (full, half) = (report(&full), report(&half));
    assert_eq!((full.peak_bytes, half.peak_bytes), (2 * 134_217_728, 134_217_728));
    assert_eq!(full.peak_tensors, ["first", "second"]);
    assert_eq!((full.peak_step, half.peak_step), (Some(1), Some(1)));
}

/// Case 16: 64 tensors of keys and values, 2,048 bytes for each token so far. Planned once for the most
/// tokens, they keep their offsets at every step, the peak stays, and nothing is copied.
#[test]
fn case_16_a_growing_cache_is_reserved_by_its_bound_and_stays_where_it_is() {
    let (most_tokens, layers) = (512u64, 32u32);
    let cache = |problem: &mut Problem, tokens: u64| {
        for layer in 0..layers {
            for part in ["keys", "values"] {
                let id = problem.tensor(format!("{part}{layer}"), 2048 * tokens, 0..=2 * layers).unwrap();
                problem.keep(id).unwrap();
            }
            // What a layer computes of one token and hands on.
            let steps = 2 * layer..=2 * layer + 2;
            problem.tensor(format!("hidden{layer}"), 16_384, steps).unwrap();
            problem.tensor(format!("scores{layer}"), 128 * tokens, 2 * layer + 1..=2 * layer + 1).unwrap();
        }
    };
    let mut bound = Problem::new(Alignment::new(256).unwrap());
    cache(&mut bound, most_tokens);
    let plan = Planner::auto().plan(&bound).unwrap();
    plan.validate(&bound).unwrap();
    let reserved = 64 * 2048 * most_tokens;
    assert!(
        plan.peak_bytes() >= reserved && plan.peak_bytes() < reserved + (1 << 20),
        "{}",
        plan.peak_bytes()
    );
    for tokens in [1, 7, 100, 511, 512] {
        let mut now = Problem::new(Alignment::new(256).unwrap());
        cache(&mut now, tokens);
        // The same offsets hold whatever the number of tokens: every tensor, at every step, has its bytes to
        // itself.
        let live = |step: u32| {
            let here = now.ids().filter(|id| {
                let (first, last) = steps(&now, *id);
                first <= step && step <= last
            });
            let mut ranges: Vec<(u64, u64)> = here
                .map(|id| (plan.offset_bytes(id), now.get(id).unwrap().size_bytes()))
                .map(|(offset, size)| (offset, offset + size))
                .collect();
            ranges.sort_unstable();
            ranges
        };
        for step in 0..now.steps() {
            let ranges = live(step);
            assert!(ranges.windows(2).all(|w| w[0].1 <= w[1].0), "{tokens} tokens, step {step}");
            assert!(ranges.last().is_none_or(|r| r.1 <= plan.peak_bytes()));
        }
    }
}

fn steps(problem: &Problem, id: sublet::plan::TensorId) -> (u32, u32) {
    let tensor = problem.get(id).unwrap();
    (tensor.first(), problem.last(tensor))
}

/// Case 17: of the MNIST graph's six buffers two are enough, and SqueezeNet needs less than its naive total
/// by more than 3.19 times.
#[test]
#[cfg(feature = "onnx")]
fn case_17_mnist_needs_two_buffers_and_squeezenet_a_third() {
    use sublet::model::onnx::{ImportOptions, load};
    let mnist = load("tests/data/rten_mnist.onnx".as_ref(), &ImportOptions::default()).unwrap();
    let problem = plain(&mnist, 1);
    assert!(problem.len() >= 6, "{} intermediates", problem.len());
    let objects = problem.shared_objects(SharedStrategy::GreedyBySizeImproved);
    objects.validate(&problem).unwrap();
    assert_eq!(objects.objects().len(), 2);

    let path = std::path::Path::new("../shared/models/light_squeezenet.onnx");
    if !path.exists() {
        eprintln!("nothing tested of SqueezeNet: {} is missing", path.display());
        return;
    }
    let squeezenet = load(path, &ImportOptions::default()).unwrap();
    let naive = plain(&squeezenet, 256).naive_bytes();
    let (graph, sharing) = Passes::ALL.apply(squeezenet).unwrap();
    let problem = usage(&graph, Alignment::new(256).unwrap(), &sharing).unwrap().problem;
    let peak = Planner::auto().plan(&problem).unwrap().peak_bytes();
    assert!(naive as f64 / peak as f64 > 3.19, "{naive} against {peak}");
}

/// Case 27: what a kernel needs beside its inputs and outputs is a tensor of its step, so the plan has it and
/// the peak counts it.
#[test]
fn case_27_scratch_is_a_planned_tensor_and_counts_in_the_peak() {
    let build = |scratch: Option<usize>| {
        let mut b = Builder::new("scratch");
        let x = b.input("x", &[64]);
        let t = b.op("t", Op::Unary(UnaryOp::Tanh), &[x], &[64]);
        let u = b.op("u", Op::Unary(UnaryOp::Relu), &[t], &[64]);
        let v = b.op("v", Op::ReduceMean { axes: vec![0] }, &[u], &[1]);
        if let Some(len) = scratch {
            let id = b.0.value(sublet::graph::Value::f32("workspace", [len]));
            b.0.nodes[1].outputs.push(id);
        }
        b.output(&[v])
    };
    let peak = |graph: &Graph| Planner::auto().plan(&plain(graph, 4)).unwrap().peak_bytes();
    assert_eq!(peak(&build(None)), 512);
    let with = build(Some(100));
    assert_eq!(peak(&with), 512 + 400);
    let report = Planner::auto().plan(&plain(&with, 4)).unwrap().report(&plain(&with, 4));
    assert_eq!(report.peak_tensors, ["workspace", "t", "u"]);
}
