//! What an allocation and its release cost: by profile, in an offset allocator, in a best-fit pool.

#[allow(unused_imports, reason = "its tests run with the program's")]
#[path = "../src/cli/arena/peers.rs"]
mod peers;
#[allow(dead_code, unused_imports, reason = "departures are measured by the program alone")]
#[path = "../src/cli/arena/trace.rs"]
mod trace;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use peers::{BestFit, Offset, Peer};
use sublet::plan::{Alignment, Block, Recorder, Synthetic};
use trace::{Event, Trace};

const TENSORS: usize = 10_000;
const ALIGNMENT: Alignment = Alignment::PORTABLE;

fn stream(shape: Synthetic) -> Trace {
    let problem = shape.problem(TENSORS, 7).expect("a problem holds that many");
    let records: Vec<_> =
        problem.tensors().iter().map(|t| (t.size_bytes(), t.first(), problem.last(t))).collect();
    Trace::new(&records)
}

fn iterate(recorder: &mut Recorder, trace: &Trace, blocks: &mut [Option<Block>]) {
    recorder.begin(&[]).expect("the one before has ended");
    for event in &trace.events {
        match event {
            Event::Allocate(i) => {
                blocks[*i as usize] = recorder.allocate("tensor", trace.sizes[*i as usize]).ok();
            }
            Event::Release(i) => {
                let block = blocks[*i as usize].take().expect("it was allocated");
                recorder.release(block).expect("it is this recorder's");
            }
        }
    }
    recorder.end().expect("it began");
}

fn serve<P: Peer>(peer: &mut P, trace: &Trace, tokens: &mut [P::Token]) {
    peers::run(peer, black_box(trace), tokens).expect("it was given room");
}

fn pairs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pairs");
    group.sample_size(20).throughput(Throughput::Elements(TENSORS as u64));
    for shape in Synthetic::ALL {
        let trace = stream(*shape);
        let mut recorder = Recorder::new(ALIGNMENT);
        let mut blocks: Vec<Option<Block>> = trace.sizes.iter().map(|_| None).collect();
        iterate(&mut recorder, &trace, &mut blocks);
        group.bench_function(BenchmarkId::new("replay", shape.key()), |bencher| {
            bencher.iter(|| iterate(&mut recorder, black_box(&trace), &mut blocks));
        });
        let report = recorder.report();
        assert_eq!(report.on_script + 1, report.iterations, "a replay is one");
        let bytes = Offset::peak_bytes(&trace, ALIGNMENT.bytes()).expect("units of 32 bits are enough");
        let mut offset = Offset::new(bytes, ALIGNMENT.bytes(), TENSORS).expect("they are");
        let mut tokens = vec![Default::default(); TENSORS];
        group.bench_function(BenchmarkId::new("offset_allocator", shape.key()), |bencher| {
            bencher.iter(|| serve(&mut offset, &trace, &mut tokens));
        });
        let mut pool = BestFit::new(ALIGNMENT.bytes());
        let mut tokens = vec![Default::default(); TENSORS];
        group.bench_function(BenchmarkId::new("best_fit", shape.key()), |bencher| {
            bencher.iter(|| serve(&mut pool, &trace, &mut tokens));
        });
    }
    group.finish();
}

criterion_group!(benches, pairs);
criterion_main!(benches);
