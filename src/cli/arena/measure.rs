//! Times of one stream: every way to serve it, and what departures cost.

use std::time::Instant;

use super::peers::{self, BestFit, Nothing, Offset, Peer};
use super::trace::Trace;
use crate::plan::record::{Iteration, Recorder};
use crate::plan::{Alignment, Block, PlanError, Planner};

/// How to measure.
#[derive(Debug)]
pub struct How {
    /// What every offset is a multiple of.
    pub alignment: Alignment,
    /// Passes over the stream.
    pub runs: usize,
    /// Plans what is recorded.
    pub planner: Planner,
}

/// Times of one stream.
#[derive(Debug)]
pub struct Times {
    /// Nanoseconds a pair of the measuring loop, with nobody to serve it; part of all that follow.
    pub loop_ns: f64,
    /// Nanoseconds an allocate and release pair, medians.
    pub replay_ns: f64,
    /// All of it in the recorder's overflow.
    pub overflow_ns: f64,
    /// Crate `offset-allocator`.
    pub offset_ns: f64,
    /// The best-fit pool.
    pub best_fit_ns: f64,
    /// wgpu buffers, where there is an adapter.
    pub buffers_ns: Option<f64>,
    /// Peak of the plan, bytes.
    pub peak_bytes: u64,
    /// Most live bytes.
    pub load_bytes: u64,
    /// Smallest region in which `offset-allocator` finds room.
    pub offset_bytes: Option<u64>,
    /// Bytes that the best-fit pool grows to.
    pub best_fit_bytes: u64,
    /// Seconds of the plan.
    pub plan_seconds: f64,
}

impl Times {
    /// How many times as long as a replay the crate takes, the loop left out of both.
    pub fn net_ratio(&self) -> f64 {
        (self.offset_ns - self.loop_ns) / (self.replay_ns - self.loop_ns)
    }
}

/// What one share of other sizes cost.
#[derive(Debug)]
pub struct Departed {
    /// Share of sizes that are larger than recorded.
    pub percent: u64,
    /// Nanoseconds a pair in the iteration that departs, median.
    pub ns: f64,
    /// Bytes that took overflow in it.
    pub overflowed_bytes: u64,
    /// Seconds to plan anew at its end, median.
    pub plan_seconds: f64,
    /// Nanoseconds a pair in the iterations after, median.
    pub after_ns: f64,
    /// Peak of the new plan.
    pub peak_bytes: u64,
}

/// Nanoseconds for each of `pairs`, median of `runs` calls.
fn median_ns(runs: usize, pairs: usize, mut call: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..runs.max(1))
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64() * 1e9 / pairs.max(1) as f64
        })
        .collect();
    middle(&mut times)
}

/// The median.
pub fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// A recorder, served like the others.
struct Replay<'a> {
    recorder: &'a mut Recorder,
    error: Option<Box<PlanError>>,
}

impl Peer for Replay<'_> {
    type Token = Block;

    #[inline]
    fn allocate(&mut self, size_bytes: u64) -> Option<Block> {
        self.recorder.allocate("tensor", size_bytes).map_err(|error| self.error = Some(error)).ok()
    }

    #[inline]
    fn release(&mut self, block: Block) -> Option<()> {
        self.recorder.release(block).map_err(|error| self.error = Some(error)).ok()
    }
}

/// The stream once, within or without an iteration.
fn serve(recorder: &mut Recorder, trace: &Trace, hands: &mut [Option<Block>]) -> Result<(), PlanError> {
    let mut replay = Replay { recorder, error: None };
    match (peers::run(&mut replay, trace, hands), replay.error) {
        (_, Some(error)) => Err(*error),
        (None, None) => Err(PlanError::Iteration { what: "releases what it does not hold" }),
        (Some(()), None) => Ok(()),
    }
}

/// The stream as an iteration.
fn iterate(
    recorder: &mut Recorder,
    trace: &Trace,
    hands: &mut [Option<Block>],
) -> Result<Iteration, PlanError> {
    recorder.begin(&[])?;
    serve(recorder, trace, hands)?;
    recorder.end()
}

/// A recorder that has recorded the stream.
fn recorded(trace: &Trace, how: &How) -> Result<Recorder, PlanError> {
    let mut recorder = Recorder::new(how.alignment).planner(how.planner.clone());
    iterate(&mut recorder, trace, &mut trace.hands())?;
    Ok(recorder)
}

/// Nanoseconds a pair of a peer.
fn peer_ns<P: Peer>(peer: &mut P, trace: &Trace, runs: usize) -> f64 {
    let mut hands = trace.hands();
    median_ns(runs, trace.pairs, || {
        let room = peers::run(peer, trace, &mut hands);
        assert!(room.is_some(), "the peer was given room for the stream");
    })
}

/// Serves the stream in every way.
///
/// # Errors
/// The planner refuses the stream.
pub fn measure(trace: &Trace, how: &How) -> Result<Times, PlanError> {
    let (unit_bytes, runs, pairs) = (how.alignment.bytes(), how.runs, trace.pairs);
    let mut recorder = recorded(trace, how)?;
    let mut hands = trace.hands();
    let mut failed = None;
    let replay_ns = median_ns(runs, pairs, || {
        failed = iterate(&mut recorder, trace, &mut hands).err().or(failed.take());
    });
    let report = recorder.report();
    assert_eq!(report.on_script as usize, runs.max(1), "every iteration was its profile");
    recorder.pause();
    let overflow_ns = median_ns(runs, pairs, || {
        failed = serve(&mut recorder, trace, &mut hands).err().or(failed.take());
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let offset_bytes = Offset::peak_bytes(trace, unit_bytes);
    let mut offset = offset_bytes.and_then(|bytes| Offset::new(bytes, unit_bytes, trace.slots));
    let offset_ns = offset.as_mut().map_or(f64::NAN, |offset| peer_ns(offset, trace, runs));
    let mut pool = BestFit::new(unit_bytes);
    let grown = peers::run(&mut pool, trace, &mut trace.hands()).map(|()| pool.end_bytes);
    Ok(Times {
        loop_ns: peer_ns(&mut Nothing(0), trace, runs),
        replay_ns,
        overflow_ns,
        offset_ns,
        best_fit_ns: peer_ns(&mut pool, trace, runs),
        buffers_ns: None,
        peak_bytes: report.peak_bytes,
        load_bytes: report.max_load_bytes,
        offset_bytes,
        best_fit_bytes: grown.unwrap_or(0),
        plan_seconds: report.plan_seconds,
    })
}

/// Serves an iteration of which `percent` of the sizes are larger than recorded.
///
/// # Errors
/// The planner refuses the stream.
pub fn depart(trace: &Trace, how: &How, percent: u64) -> Result<Departed, PlanError> {
    let larger = trace.with_larger(percent);
    let (mut ns, mut after_ns, mut plans) = (Vec::new(), Vec::new(), Vec::new());
    let (mut overflowed_bytes, mut peak_bytes) = (0, 0);
    let mut hands = trace.hands();
    for _ in 0..how.runs.clamp(1, 3) {
        let mut recorder = recorded(trace, how)?;
        let planned = recorder.report().plan_seconds;
        let each = |times: &mut Vec<f64>, start: Instant| {
            times.push(start.elapsed().as_secs_f64() * 1e9 / trace.pairs.max(1) as f64);
        };
        let start = Instant::now();
        recorder.begin(&[])?;
        serve(&mut recorder, &larger, &mut hands)?;
        each(&mut ns, start);
        let iteration = recorder.end()?;
        plans.push(recorder.report().plan_seconds - planned);
        for _ in 0..how.runs.max(1) {
            let start = Instant::now();
            iterate(&mut recorder, &larger, &mut hands)?;
            each(&mut after_ns, start);
        }
        overflowed_bytes = iteration.departures.overflowed_bytes;
        peak_bytes = recorder.report().peak_bytes;
    }
    Ok(Departed {
        percent,
        ns: middle(&mut ns),
        overflowed_bytes,
        plan_seconds: middle(&mut plans),
        after_ns: middle(&mut after_ns),
        peak_bytes,
    })
}
