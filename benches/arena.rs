//! What an allocation and its release cost: by profile, in an offset allocator, in a best-fit pool.

#[allow(dead_code, unused_imports, reason = "its tests run with the program's, and so does its empty peer")]
#[path = "../src/cli/arena/peers.rs"]
mod peers;
#[allow(dead_code, unused_imports, reason = "departures are measured by the program alone")]
#[path = "../src/cli/arena/trace.rs"]
mod trace;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use peers::{BestFit, Offset, Peer};
use sublet::plan::{Alignment, Block, Recorder, Synthetic};
use trace::Trace;

const TENSORS: usize = 10_000;
const ALIGNMENT: Alignment = Alignment::PORTABLE;

fn stream(shape: Synthetic) -> Trace {
    let problem = shape.problem(TENSORS, 7).expect("a problem holds that many");
    let records: Vec<_> =
        problem.tensors().iter().map(|t| (t.size_bytes(), t.first(), problem.last(t))).collect();
    Trace::new(&records)
}

struct Replay<'a>(&'a mut Recorder);

impl Peer for Replay<'_> {
    type Token = Block;

    #[inline]
    fn allocate(&mut self, size_bytes: u64) -> Option<Block> {
        self.0.allocate("tensor", size_bytes).ok()
    }

    #[inline]
    fn release(&mut self, block: Block) -> Option<()> {
        self.0.release(block).ok()
    }
}

fn iterate(recorder: &mut Recorder, trace: &Trace, hands: &mut [Option<Block>]) {
    recorder.begin(&[]).expect("the one before has ended");
    serve(&mut Replay(recorder), trace, hands);
    recorder.end().expect("it began");
}

fn serve<P: Peer>(peer: &mut P, trace: &Trace, hands: &mut [Option<P::Token>]) {
    peers::run(peer, black_box(trace), hands).expect("it was given room");
}

fn pairs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pairs");
    group.sample_size(20).throughput(Throughput::Elements(TENSORS as u64));
    for shape in Synthetic::ALL {
        let trace = stream(*shape);
        let mut recorder = Recorder::new(ALIGNMENT);
        let mut hands = trace.hands();
        iterate(&mut recorder, &trace, &mut hands);
        group.bench_function(BenchmarkId::new("replay", shape.key()), |bencher| {
            bencher.iter(|| iterate(&mut recorder, &trace, &mut hands));
        });
        let report = recorder.report();
        assert_eq!(report.on_script + 1, report.iterations, "a replay is one");
        let bytes = Offset::peak_bytes(&trace, ALIGNMENT.bytes()).expect("units of 32 bits are enough");
        let mut offset = Offset::new(bytes, ALIGNMENT.bytes(), trace.slots).expect("they are");
        let mut hands = trace.hands();
        group.bench_function(BenchmarkId::new("offset_allocator", shape.key()), |bencher| {
            bencher.iter(|| serve(&mut offset, &trace, &mut hands));
        });
        let mut pool = BestFit::new(ALIGNMENT.bytes());
        let mut hands = trace.hands();
        group.bench_function(BenchmarkId::new("best_fit", shape.key()), |bencher| {
            bencher.iter(|| serve(&mut pool, &trace, &mut hands));
        });
    }
    group.finish();
}

criterion_group!(benches, pairs);
criterion_main!(benches);
