//! `sublet plan`: plan, validate, report.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::CliError;
use super::input::{self, Input, InputArgs};
use super::{Output, units};
use crate::plan::report::grouped;
use crate::plan::{Plan, Planner, Problem, Strategy, bound, csv, file};

/// Arguments of `sublet plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sublet plan network.csv
  sublet plan network.csv --strategy strip-packing --align 256 --max-buffer 256MiB --out plan.json
  sublet plan network.csv --capacity 8MiB --json")]
pub(super) struct Args {
    /// Records (.csv), a plan (.json) to plan anew, a model, or builtin:NAME.
    #[arg(value_name = "INPUT")]
    input: String,
    /// auto, naive, greedy-by-size, greedy-by-breadth, greedy-in-order or strip-packing.
    #[arg(long, default_value = "auto", value_parser = StrategyParser)]
    strategy: Choice,
    /// Try no further strategy after that long (2s, 500ms).
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    deadline: Option<Duration>,
    /// Largest arena; a larger plan gets several (268435456, 256MiB).
    #[arg(long, value_name = "BYTES", value_parser = units::bytes)]
    max_buffer: Option<u64>,
    /// Largest tensor (134217728, 128MiB).
    #[arg(long, value_name = "BYTES", value_parser = units::bytes)]
    max_binding: Option<u64>,
    /// Does it fit? If not: exit code 1 and tensors that cannot live together.
    #[arg(long, value_name = "BYTES", value_parser = units::bytes)]
    capacity: Option<u64>,
    /// Write the plan to a .json or .csv file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    records: InputArgs,
}

/// `auto` or one strategy.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Choice(pub Option<Strategy>);

#[derive(Clone)]
pub(super) struct StrategyParser;

impl clap::builder::TypedValueParser for StrategyParser {
    type Value = Choice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Choice, clap::Error> {
        let parse = |text: &str| units::strategy(text).map(Choice);
        clap::builder::TypedValueParser::parse_ref(&parse, command, arg, value)
    }
}

/// How to write the plan.
#[derive(Clone, Copy)]
enum Format {
    Json,
    Csv,
}

fn format(out: &Path) -> Result<Format, CliError> {
    match out.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("json") => Ok(Format::Json),
        Some("csv") => Ok(Format::Csv),
        _ => Err(CliError::input(format!("--out {}: the name must end in .json or .csv", out.display()))),
    }
}

pub(super) fn run(args: &Args) -> Result<Output, CliError> {
    // Before any work, so that a slip in the name costs no time.
    let out = args.out.as_deref().map(|out| format(out).map(|f| (out, f))).transpose()?;
    let Input { name, problem } = input::load(&args.input, &args.records)?;
    let started = Instant::now();
    let plan = planner(args).plan(&problem)?;
    let seconds = started.elapsed().as_secs_f64();
    plan.validate(&problem)?;
    if let Some((path, format)) = out {
        match format {
            Format::Json => file::save(path, &problem, &plan)?,
            Format::Csv => file::write_atomically(path, csv::write(&problem, &plan).as_bytes())?,
        }
    }
    let report = plan.report(&problem).with_seconds(seconds);
    let json = serde_json::to_value(&report).map_err(|e| CliError::input(e.to_string()))?;
    let failure = args.capacity.and_then(|capacity| misfit(&problem, &plan, capacity));
    let mut human = format!("{name}\n{report}");
    if let Some((path, _)) = out {
        human.push_str(&format!("{:<14} {}\n", "written to", path.display()));
    }
    Ok(Output { human, json, failure })
}

fn planner(args: &Args) -> Planner {
    let mut planner = args.strategy.0.map_or_else(Planner::auto, Planner::new);
    if let Some(deadline) = args.deadline {
        planner = planner.deadline(deadline);
    }
    if let Some(bytes) = args.max_buffer {
        planner = planner.max_buffer_bytes(bytes);
    }
    if let Some(bytes) = args.max_binding {
        planner = planner.max_binding_bytes(bytes);
    }
    planner
}

/// The answer to "does it fit?" where it does not; says whether another plan might.
fn misfit(problem: &Problem, plan: &Plan, capacity: u64) -> Option<CliError> {
    let peak = plan.peak_bytes();
    if peak <= capacity {
        return None;
    }
    let mut message = format!("the plan needs {} bytes, {} are there", grouped(peak), grouped(capacity));
    let crowd = bound::peak(problem).filter(|_| bound::max_load(problem) > capacity);
    let step = crowd.as_ref().map(|(step, _)| step.index() as u32);
    let mut largest = None;
    match crowd {
        None if plan.lower_bound_bytes() > capacity => {
            message.push_str(&format!("; no plan needs less than {}", grouped(plan.lower_bound_bytes())));
        }
        None => message.push_str("; a better plan might fit"),
        Some((step, live)) => {
            // Largest first: the fewest tensors of that step that exceed the capacity.
            let mut sum = 0;
            let mut names = Vec::new();
            for tensor in live.iter().filter_map(|id| problem.get(*id)) {
                sum += tensor.size_bytes();
                names.push(tensor.label());
                if sum > capacity {
                    break;
                }
            }
            largest = names.first().map(|name| (*name).into());
            message.push_str(&format!(
                "; no plan can fit, since these live together at step {step} and take {} bytes: {}",
                grouped(sum),
                names.join(", ")
            ));
        }
    }
    Some(CliError {
        tensor: largest,
        step,
        limit: Some("capacity"),
        needed: Some(peak),
        available: Some(capacity),
        ..CliError::check("capacity", message)
    })
}
