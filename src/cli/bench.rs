//! `sublet bench`: what the parts of the crate cost on this machine.

use std::time::Instant;

use serde_json::{Value, json};

use super::error::CliError;
use super::input::{self, Input, InputArgs};
use super::record::{self, Record, all, report};
use super::{Output, arena, layouts, units};
use crate::device::resident_peak_bytes;
use crate::plan::report::grouped;
use crate::plan::{Effort, Planner, Problem, Proof, Synthetic};

/// Arguments of `sublet bench`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  sublet bench --all                      plan, layouts, run and memory on the best adapter, as a record
  sublet bench --all --adapter nvidia --machine workstation --note 'nothing else ran'
  sublet bench report -o bench.html       every record in benches/record, side by side"
)]
pub(super) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    all: all::Args,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Plans records and reports peaks, seconds and memory.
    Plan(PlanArgs),
    /// Allocates by profile, and in other ways: nanoseconds, peaks, what departures cost.
    Arena(arena::Args),
    /// What each layout costs on a model: peak, arenas, bindings, barriers, encode and run time.
    Layouts(layouts::Args),
    /// Records as one page.
    Report(report::Args),
}

/// Arguments of `sublet bench plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sublet bench plan networks/*.csv
  sublet bench plan --scale --record my-laptop

Every plan is judged before its line is printed. Resident memory is the most since the program began, so
it never falls from one line to the next.")]
struct PlanArgs {
    /// Records, plans, models or builtin:NAME.
    #[arg(value_name = "INPUT", required_unless_present = "scale")]
    inputs: Vec<String>,
    /// Also plan made-up records: three shapes, 10,000, 100,000 and 1,000,000 tensors of each.
    #[arg(long)]
    scale: bool,
    /// Seed of the made-up records.
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// fast, balanced or thorough.
    #[arg(long, default_value = "balanced", value_parser = units::effort)]
    effort: Effort,
    /// Threads; the plans do not depend on them.
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Also write a record to benches/record/MACHINE/<date>.json below the current folder.
    #[arg(long, value_name = "MACHINE", value_parser = record::machine)]
    record: Option<String>,
    #[command(flatten)]
    records: InputArgs,
}

/// Numbers of made-up records.
const SCALES: &[usize] = &[10_000, 100_000, 1_000_000];

pub(super) fn run(args: &Args) -> Result<Output, CliError> {
    match &args.what {
        Some(What::Plan(args)) => plan(args),
        Some(What::Arena(args)) => arena::run(args),
        Some(What::Layouts(args)) => layouts::run(args),
        Some(What::Report(args)) => report::run(args),
        None if args.all.all => all::run(&args.all),
        None => Err(CliError::usage("bench needs --all, or plan, arena, layouts or report")),
    }
}

fn plan(args: &PlanArgs) -> Result<Output, CliError> {
    let record = args.record.as_deref().map(|machine| Record::new(machine, None, None));
    let mut rows = Vec::new();
    for input in &args.inputs {
        let Input { name, problem } = input::load(input, &args.records, None)?;
        rows.push(measure(name, &problem, args)?);
    }
    // From small to large, since the memory of a large one would hide that of the next.
    for tensors in SCALES.iter().filter(|_| args.scale) {
        for shape in Synthetic::ALL {
            let problem = shape.problem(*tensors, args.seed)?;
            rows.push(measure(format!("{} {}", shape.key(), grouped(*tensors as u64)), &problem, args)?);
        }
    }
    let object = json!({ "plan": rows.iter().map(Row::json).collect::<Vec<_>>(), "threads": args.threads });
    let mut human = table(&rows);
    if let Some(mut record) = record {
        rows.iter().for_each(|row| row.record(&mut record));
        record.finish();
        let path = record.path();
        record.write(&path)?;
        human.push_str(&format!("written to {}\n", path.display()));
    }
    Ok(Output { human, json: object, failure: None })
}

/// What one input gave.
struct Row {
    name: String,
    tensors: usize,
    max_load_bytes: u64,
    lower_bound_bytes: u64,
    peak_bytes: u64,
    proof: Option<Proof>,
    strategy: &'static str,
    seconds: f64,
    rss_peak_bytes: Option<u64>,
}

fn measure(name: String, problem: &Problem, args: &PlanArgs) -> Result<Row, CliError> {
    let planner = Planner::auto().effort(args.effort).threads(args.threads);
    let started = Instant::now();
    let plan = planner.plan(problem)?;
    let seconds = started.elapsed().as_secs_f64();
    plan.validate(problem)?;
    Ok(Row {
        name,
        tensors: problem.len(),
        max_load_bytes: crate::plan::bound::max_load(problem),
        lower_bound_bytes: plan.lower_bound_bytes(),
        peak_bytes: plan.peak_bytes(),
        proof: plan.proof(),
        strategy: plan.strategy().key(),
        seconds,
        rss_peak_bytes: resident_peak_bytes(),
    })
}

impl Row {
    /// Peak over max load; 1 where nothing lives at all.
    fn ratio(&self) -> f64 {
        if self.max_load_bytes == 0 { 1.0 } else { self.peak_bytes as f64 / self.max_load_bytes as f64 }
    }

    fn record(&self, record: &mut Record) {
        let mut push = |metric: &str, value: f64| record.push("plan", &self.name, metric, Some(value), 1);
        push("max_load_bytes", self.max_load_bytes as f64);
        push("peak_bytes", self.peak_bytes as f64);
        push("plan_s", self.seconds);
    }

    fn json(&self) -> Value {
        json!({
            "instance": self.name,
            "tensors": self.tensors,
            "max_load_bytes": self.max_load_bytes,
            "lower_bound_bytes": self.lower_bound_bytes,
            "peak_bytes": self.peak_bytes,
            "ratio": self.ratio(),
            "optimal": self.proof.is_some(),
            "proof": self.proof.map(Proof::key),
            "strategy": self.strategy,
            "seconds": self.seconds,
            "rss_peak_bytes": self.rss_peak_bytes,
        })
    }
}

fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|r| r.name.len()).max().unwrap_or(0).max("instance".len());
    let mut text = format!(
        "{:<width$} {:>9} {:>20} {:>20} {:>9} {:>9} {:>12}  strategy, proof\n",
        "instance", "tensors", "max load", "peak", "ratio", "seconds", "resident"
    );
    for row in rows {
        text.push_str(&format!(
            "{:<width$} {:>9} {:>20} {:>20} {:>9.6} {:>9.4} {:>12}  {}, {}\n",
            row.name,
            grouped(row.tensors as u64),
            grouped(row.max_load_bytes),
            grouped(row.peak_bytes),
            row.ratio(),
            row.seconds,
            row.rss_peak_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{} MiB", bytes >> 20)),
            row.strategy,
            row.proof.map_or("not proven", Proof::key),
        ));
    }
    text
}
