//! How long planning takes: networks that come with the sources, and made-up records.
//!
//! Every plan is judged once before it is timed, and has to be at its lower bound.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sublet::plan::{Planner, Problem, Strategy, Synthetic, csv};

const NETWORKS: &[&str] = &["paper_mobilenet_v2_224", "paper_inception_v3_299", "onnx_ppocr_cls_48x192"];

fn network(name: &str) -> Problem {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/networks/{name}.csv"));
    csv::read(&path, csv::Options::default()).expect("the network comes with the sources")
}

fn check(problem: &Problem) {
    let plan = Planner::auto().plan(problem).expect("no limit is set");
    plan.validate(problem).expect("a plan is valid");
    assert_eq!(plan.peak_bytes(), plan.lower_bound_bytes());
}

fn networks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("network");
    for name in NETWORKS {
        let problem = network(name);
        check(&problem);
        group.bench_with_input(BenchmarkId::new("auto", name), &problem, |bencher, problem| {
            bencher.iter(|| Planner::auto().plan(black_box(problem)));
        });
        group.bench_with_input(BenchmarkId::new("greedy_by_size", name), &problem, |bencher, problem| {
            bencher.iter(|| Planner::new(Strategy::GreedyBySize).plan(black_box(problem)));
        });
    }
    group.finish();
}

fn scale(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scale");
    group.sample_size(10);
    for shape in Synthetic::ALL {
        for tensors in [1_000, 10_000, 100_000] {
            let problem = shape.problem(tensors, 7).expect("a problem holds that many");
            check(&problem);
            group.throughput(Throughput::Elements(tensors as u64));
            group.bench_with_input(BenchmarkId::new(shape.key(), tensors), &problem, |bencher, problem| {
                bencher.iter(|| Planner::auto().plan(black_box(problem)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, networks, scale);
criterion_main!(benches);
