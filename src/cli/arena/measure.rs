//! Times of one stream: every way to serve it, and what departures cost.

use std::time::Instant;

use super::peers::{self, BestFit, Offset, Peer};
use super::trace::{Event, Trace};
use crate::plan::record::Recorder;
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

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// One iteration of the stream with a recorder; blocks wait in `blocks`.
fn iterate(recorder: &mut Recorder, trace: &Trace, blocks: &mut [Option<Block>]) -> Result<(), PlanError> {
    for event in &trace.events {
        match event {
            Event::Allocate(i) => {
                blocks[*i as usize] = Some(recorder.allocate("tensor", trace.sizes[*i as usize])?);
            }
            Event::Release(i) => {
                if let Some(block) = blocks[*i as usize].take() {
                    recorder.release(block)?;
                }
            }
        }
    }
    Ok(())
}

fn blocks(trace: &Trace) -> Vec<Option<Block>> {
    trace.sizes.iter().map(|_| None).collect()
}

/// A recorder that has recorded the stream.
fn recorded(trace: &Trace, how: &How) -> Result<Recorder, PlanError> {
    let mut recorder = Recorder::new(how.alignment).planner(how.planner.clone());
    recorder.begin(&[])?;
    iterate(&mut recorder, trace, &mut blocks(trace))?;
    recorder.end()?;
    Ok(recorder)
}

/// Nanoseconds a pair of a peer.
fn peer_ns<P: Peer>(peer: &mut P, trace: &Trace, runs: usize) -> f64 {
    let mut tokens = vec![P::Token::default(); trace.sizes.len()];
    median_ns(runs, trace.sizes.len(), || {
        let room = peers::run(peer, trace, &mut tokens);
        assert!(room.is_some(), "the peer was given room for the stream");
    })
}

/// Serves the stream in every way.
///
/// # Errors
/// The planner refuses the stream.
pub fn measure(trace: &Trace, how: &How) -> Result<Times, PlanError> {
    let (unit_bytes, runs) = (how.alignment.bytes(), how.runs);
    let pairs = trace.sizes.len();
    let mut recorder = recorded(trace, how)?;
    let mut held = blocks(trace);
    let mut failed = None;
    let replay_ns = median_ns(runs, pairs, || {
        let once = recorder.begin(&[]).and_then(|()| iterate(&mut recorder, trace, &mut held));
        failed = once.and_then(|()| recorder.end()).err().or(failed.take());
    });
    let report = recorder.report();
    assert_eq!(report.on_script as usize, runs.max(1), "every iteration was its profile");
    recorder.pause();
    let overflow_ns = median_ns(runs, pairs, || {
        failed = iterate(&mut recorder, trace, &mut held).err().or(failed.take());
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let offset_bytes = Offset::peak_bytes(trace, unit_bytes);
    let mut offset = offset_bytes.and_then(|bytes| Offset::new(bytes, unit_bytes, pairs));
    let offset_ns = offset.as_mut().map_or(f64::NAN, |offset| peer_ns(offset, trace, runs));
    let mut pool = BestFit::new(unit_bytes);
    let mut tokens = vec![Default::default(); pairs];
    let grown = peers::run(&mut pool, trace, &mut tokens).map(|()| pool.end_bytes);
    Ok(Times {
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
    let mut held = blocks(trace);
    for _ in 0..how.runs.clamp(1, 3) {
        let mut recorder = recorded(trace, how)?;
        let planned = recorder.report().plan_seconds;
        let each = |times: &mut Vec<f64>, start: Instant| {
            times.push(start.elapsed().as_secs_f64() * 1e9 / trace.sizes.len().max(1) as f64);
        };
        let start = Instant::now();
        recorder.begin(&[])?;
        iterate(&mut recorder, &larger, &mut held)?;
        each(&mut ns, start);
        let iteration = recorder.end()?;
        plans.push(recorder.report().plan_seconds - planned);
        for _ in 0..how.runs.max(1) {
            let start = Instant::now();
            recorder.begin(&[])?;
            iterate(&mut recorder, &larger, &mut held)?;
            recorder.end()?;
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
