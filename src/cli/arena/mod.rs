//! `sublet bench arena`: what an allocation costs by profile, in an offset allocator, in a best-fit pool and
//! as a buffer of its own; what departures from the profile cost, and what another shape does.

mod buffers;
mod measure;
mod peers;
mod shapes;
mod trace;

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::error::CliError;
use super::input::{self, Input, InputArgs};
use super::{Output, adapter, units};
use crate::plan::report::grouped;
use crate::plan::{Alignment, Effort, Planner, Problem, Synthetic};
use measure::{Departed, How, Times};
use shapes::Shapes;
use trace::Trace;

/// Shares of sizes that are other than recorded, per cent.
const SHARES: [u64; 3] = [1, 10, 50];
/// Tensors of each made-up stream.
const SYNTHETIC_TENSORS: usize = 10_000;

/// Arguments of `sublet bench arena`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sublet bench arena
  sublet bench arena traces/*.csv --runs 301

Records are allocated and released in the order of their steps; without INPUT three made-up streams are.
Times are medians, in nanoseconds an allocation and its release. Every offset is a multiple of --align
(256 by default); offset-allocator counts in units of it.")]
pub(super) struct Args {
    /// Records, plans, models or builtin:NAME.
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Passes over each stream, of which the median counts.
    #[arg(long, value_name = "N", default_value_t = 101)]
    runs: usize,
    /// Seed of the made-up records.
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Longest that one plan may take.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::duration)]
    deadline: Duration,
    /// Leave out creating wgpu buffers.
    #[arg(long)]
    no_buffers: bool,
    /// Create them on the adapter whose name contains this.
    #[arg(long, value_name = "NAME", conflicts_with = "no_buffers")]
    adapter: Option<String>,
    #[command(flatten)]
    records: InputArgs,
}

impl Args {
    /// Made-up streams, or a network's; buffers on an adapter, or none.
    pub(super) fn of(inputs: Vec<String>, adapter: Option<String>, no_buffers: bool, runs: usize) -> Self {
        let (seed, deadline, records) = (7, Duration::from_secs(1), InputArgs::default());
        Args { inputs, runs, seed, deadline, no_buffers, adapter, records }
    }
}

/// What one stream gave.
struct Row {
    name: String,
    pairs: usize,
    times: Times,
    departed: Vec<Departed>,
    shapes: Shapes,
}

pub(super) fn run(args: &Args) -> Result<Output, CliError> {
    let mut problems = Vec::new();
    for input in &args.inputs {
        let Input { name, problem } = input::load(input, &args.records, None)?;
        problems.push((name, problem));
    }
    if args.inputs.is_empty() {
        for shape in Synthetic::ALL {
            let problem = shape.problem(SYNTHETIC_TENSORS, args.seed)?;
            problems.push((format!("{} {}", shape.key(), grouped(SYNTHETIC_TENSORS as u64)), problem));
        }
    }
    let gpu = if args.no_buffers { None } else { adapter::open(args.adapter.as_deref())? };
    let how = How {
        alignment: args.records.align.unwrap_or(Alignment::PORTABLE),
        runs: args.runs,
        planner: Planner::auto().effort(Effort::Fast).deadline(args.deadline),
    };
    let mut rows = Vec::new();
    for (name, problem) in problems {
        let trace = stream(&problem);
        let mut times = measure::measure(&trace, &how)?;
        times.buffers_ns = gpu.as_ref().map(|gpu| buffers::measure(gpu, &trace)).transpose()?;
        let depart = |percent: &u64| measure::depart(&trace, &how, *percent);
        let departed = SHARES.iter().map(depart).collect::<Result<_, _>>()?;
        let shapes = shapes::measure(&problem, &how)?;
        rows.push(Row { name, pairs: trace.pairs, times, departed, shapes });
    }
    let json = json!({
        "arena": rows.iter().map(Row::json).collect::<Vec<_>>(),
        "alignment": how.alignment.bytes(),
        "runs": args.runs,
        "adapter": gpu.as_ref().map(|gpu| gpu.info.name.clone()),
    });
    Ok(Output { human: text(&rows), json, failure: None })
}

/// Records as they are allocated and released. Views have no bytes of their own.
fn stream(problem: &Problem) -> Trace {
    let own = problem.tensors().iter().filter(|tensor| tensor.alias().is_none());
    let records: Vec<_> = own.map(|t| (t.size_bytes(), t.first(), problem.last(t))).collect();
    Trace::new(&records)
}

impl Row {
    fn json(&self) -> Value {
        let Times { peak_bytes, load_bytes, .. } = self.times;
        let departed = self.departed.iter().map(|d| {
            json!({
                "percent": d.percent,
                "ns": d.ns,
                "overflowed_bytes": d.overflowed_bytes,
                "plan_seconds": d.plan_seconds,
                "after_ns": d.after_ns,
                "peak_bytes": d.peak_bytes,
            })
        });
        json!({
            "instance": self.name,
            "pairs": self.pairs,
            "max_load_bytes": load_bytes,
            "loop": { "ns": self.times.loop_ns },
            "replay": { "ns": self.times.replay_ns, "peak_bytes": peak_bytes },
            "overflow": { "ns": self.times.overflow_ns },
            "offset_allocator": { "ns": self.times.offset_ns, "peak_bytes": self.times.offset_bytes },
            "best_fit": { "ns": self.times.best_fit_ns, "peak_bytes": self.times.best_fit_bytes },
            "wgpu_buffers": { "ns": self.times.buffers_ns },
            "plan_seconds": self.times.plan_seconds,
            "departed": departed.collect::<Vec<_>>(),
            "shapes": {
                "view_ns": self.shapes.view_ns,
                "views_seconds": self.shapes.views_seconds,
                "plan_seconds": self.shapes.plan_seconds,
                "bound_peak_bytes": self.shapes.bound_peak_bytes,
                "half_peak_bytes": self.shapes.half_peak_bytes,
            },
        })
    }
}

fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|r| r.name.len()).max().unwrap_or(0).max("stream".len());
    [times, peaks, departures, other_shapes].map(|table| table(rows, width)).join("\n")
}

// Writing to a string cannot fail, in all four.
fn times(rows: &[Row], width: usize) -> String {
    let mut out = format!(
        "nanoseconds a pair, the loop included\n\
         {:<width$} {:>9} {:>6} {:>8} {:>8} {:>8} {:>8} {:>12} {:>14} {:>16}\n",
        "stream",
        "pairs",
        "loop",
        "replay",
        "overflow",
        "offset",
        "best fit",
        "wgpu buffer",
        "offset/replay",
        "without the loop"
    );
    for Row { name, pairs, times, .. } in rows {
        let buffers = times.buffers_ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
        let _ = writeln!(
            out,
            "{name:<width$} {:>9} {:>6.2} {:>8.2} {:>8.1} {:>8.1} {:>8.1} {buffers:>12} {:>14.1} {:>16.1}",
            grouped(*pairs as u64),
            times.loop_ns,
            times.replay_ns,
            times.overflow_ns,
            times.offset_ns,
            times.best_fit_ns,
            times.offset_ns / times.replay_ns,
            times.net_ratio(),
        );
    }
    out
}

fn peaks(rows: &[Row], width: usize) -> String {
    let mut out = format!(
        "peak bytes\n{:<width$} {:>16} {:>16} {:>16} {:>16}\n",
        "stream", "max load", "replay", "offset", "best fit"
    );
    for Row { name, times, .. } in rows {
        let _ = writeln!(
            out,
            "{name:<width$} {:>16} {:>16} {:>16} {:>16}",
            grouped(times.load_bytes),
            grouped(times.peak_bytes),
            times.offset_bytes.map_or_else(|| "-".to_owned(), grouped),
            grouped(times.best_fit_bytes),
        );
    }
    out
}

fn departures(rows: &[Row], width: usize) -> String {
    let mut out = format!(
        "sizes other than recorded\n{:<width$} {:>7} {:>9} {:>16} {:>10} {:>9} {:>16}\n",
        "stream", "share", "ns a pair", "overflow, sum", "plan, ms", "ns after", "new peak"
    );
    for Row { name, departed, .. } in rows {
        for d in departed {
            let _ = writeln!(
                out,
                "{name:<width$} {:>5} % {:>9.2} {:>16} {:>10.2} {:>9.2} {:>16}",
                d.percent,
                d.ns,
                grouped(d.overflowed_bytes),
                d.plan_seconds * 1e3,
                d.after_ns,
                grouped(d.peak_bytes),
            );
        }
    }
    out
}

fn other_shapes(rows: &[Row], width: usize) -> String {
    let mut out = format!(
        "another shape within the bounds of one plan, against a plan for it\n\
         {:<width$} {:>12} {:>14} {:>13} {:>16} {:>16}\n",
        "stream", "ns a view", "all views, ms", "plan anew, ms", "peak at bounds", "alone at half"
    );
    for Row { name, shapes, .. } in rows {
        let _ = writeln!(
            out,
            "{name:<width$} {:>12.2} {:>14.4} {:>13.2} {:>16} {:>16}",
            shapes.view_ns,
            shapes.views_seconds * 1e3,
            shapes.plan_seconds * 1e3,
            grouped(shapes.bound_peak_bytes),
            grouped(shapes.half_peak_bytes),
        );
    }
    out
}
