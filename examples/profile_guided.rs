//! Profile-guided allocation for an engine without a graph: the first iteration is recorded, planned, and
//! from then on replayed. Needs no feature and no GPU; `device::DeviceRecorder` puts buffers behind it.
//!
//! cargo run --release --no-default-features --example profile_guided

use std::time::Instant;
use sublet::plan::record::{Block, Recorder, Role};
use sublet::plan::{Alignment, PlanError};

/// One training step of a made-up engine: forward activations wait for their backward step.
/// `batch` changes from step to step; the engine knows nothing of what comes next.
fn step(recorder: &mut Recorder, batch: u64) -> Result<u64, PlanError> {
    let (mut waiting, mut naive): (Vec<Block>, u64) = (Vec::new(), 0);
    let mut take = |recorder: &mut Recorder, label: &str, bytes: u64| {
        naive += bytes;
        recorder.allocate(label, bytes)
    };
    for layer in 0..24 {
        let width = 512 << (layer % 3);
        let scratch = take(recorder, "scratch", batch * width * 16)?;
        waiting.push(take(recorder, "activation", batch * width * 4)?);
        recorder.release(scratch)?;
    }
    let mut gradient = take(recorder, "loss", batch * 4)?;
    while let Some(activation) = waiting.pop() {
        let next = take(recorder, "gradient", activation.size_bytes())?;
        recorder.release(activation)?;
        recorder.release(std::mem::replace(&mut gradient, next))?;
    }
    recorder.release(gradient)?;
    Ok(naive)
}

/// Public, so that a test can run it.
pub fn main() -> Result<(), PlanError> {
    let mut recorder = Recorder::new(Alignment::PORTABLE);
    println!("step  batch  ns/allocation  planned  overflow      arenas  overflow held  what happened");
    let batches = [32, 32, 32, 40, 40, 24, 40, 32];
    let mut naive = 0;
    for (i, batch) in batches.into_iter().enumerate() {
        recorder.begin(&[])?;
        let start = Instant::now();
        naive = naive.max(step(&mut recorder, batch)?);
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9;
        let iteration = recorder.end()?;
        let departures = iteration.departures;
        let overflowed = if iteration.recorded { iteration.allocations } else { departures.overflowed };
        let bytes = |role| recorder.regions().filter(|r| r.role == role).map(|r| r.bytes).sum::<u64>();
        println!(
            "{i:>4} {batch:>6} {:>14.1} {:>8} {overflowed:>9} {:>11} {:>14}  {}",
            nanoseconds / iteration.allocations as f64,
            iteration.allocations - overflowed,
            bytes(Role::Arena),
            bytes(Role::Overflow),
            match (iteration.recorded, departures.overflowed, departures.smaller) {
                (true, ..) => "recorded, then planned",
                (_, 1.., _) => "larger sizes took overflow; planned anew",
                (_, _, 1..) => "smaller sizes took their places",
                _ => "replayed",
            }
        );
    }
    let report = recorder.report();
    println!(
        "\nwithout reuse {naive} bytes, most live at once {}, planned {}: {:.1} times less than without",
        report.max_load_bytes,
        report.peak_bytes,
        naive as f64 / report.peak_bytes as f64
    );
    println!(
        "{} plans in {} steps, {:.2} ms in all",
        report.plans,
        report.iterations,
        report.plan_seconds * 1e3
    );
    Ok(())
}
