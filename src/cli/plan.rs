//! `sublet plan`: plan, validate, report.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::bar::Bar;
use super::error::CliError;
use super::input::{self, Input, InputArgs};
use super::profiles::{self, ProfileArgs};
use super::{Output, units};
use crate::device::DeviceLimits;
use crate::plan::{Effort, PlanError, Planner, Strategy, csv, file};

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
    /// Does it fit? If not: exit code 1 and a smallest set of tensors that do not fit together.
    #[arg(long, value_name = "BYTES", value_parser = units::bytes)]
    capacity: Option<u64>,
    /// Write the plan to a .json or .csv file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    records: InputArgs,
    #[command(flatten)]
    profile: ProfileArgs,
}

/// How long and within which limits to look for a plan; shared with `draw` and `explain`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SearchArgs {
    /// Return the best plan found after that long (2s, 500ms).
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub deadline: Option<Duration>,
    /// How much to try: fast, balanced or thorough.
    #[arg(long, value_name = "EFFORT", default_value = "balanced", value_parser = units::effort)]
    pub effort: Effort,
    /// Another seed may find another plan, the same one finds the same.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Most threads; the plan is the same whatever their number, unless there is a deadline.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
    /// Largest arena; a larger plan gets several (268435456, 256MiB).
    #[arg(long, value_name = "BYTES", value_parser = units::bytes)]
    pub max_buffer: Option<u64>,
    /// Largest tensor (134217728, 128MiB).
    #[arg(long, value_name = "BYTES", value_parser = units::bytes)]
    pub max_binding: Option<u64>,
}

impl SearchArgs {
    /// The same with these limits and efforts.
    pub fn apply(&self, mut planner: Planner) -> Planner {
        planner = planner.effort(self.effort).seed(self.seed).threads(self.threads);
        if let Some(deadline) = self.deadline {
            planner = planner.deadline(deadline);
        }
        if let Some(bytes) = self.max_buffer {
            planner = planner.max_buffer_bytes(bytes);
        }
        if let Some(bytes) = self.max_binding {
            planner = planner.max_binding_bytes(bytes);
        }
        planner
    }
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

pub(super) fn run(args: &Args, is_quiet: bool) -> Result<Output, CliError> {
    // Before any work, so that a slip in the name costs no time.
    let out = args.out.as_deref().map(|out| format(out).map(|f| (out, f))).transpose()?;
    if args.profile.wants_all() {
        return profiles::table(&args.input, &args.records, || planner(args, None, None));
    }
    let limits = args.profile.limits()?;
    let Input { name, problem } = input::load(&args.input, &args.records, limits.as_ref())?;
    if let Some(limits) = limits.as_ref().filter(|_| input::is_model(&args.input)) {
        // The planner of a model leaves the binding limit to the lowering.
        profiles::lowered(&args.input, &args.records, limits)?;
    }
    let started = Instant::now();
    let bar = (!is_quiet).then(|| Bar::new(args.search.deadline));
    let (plan, failure) = match planner(args, limits.as_ref(), bar.as_ref()).plan(&problem) {
        Err(PlanError::OverCapacity(misfit)) => {
            (misfit.plan.clone(), Some(CliError::from(PlanError::OverCapacity(misfit))))
        }
        plan => (plan?, None),
    };
    drop(bar);
    let seconds = started.elapsed().as_secs_f64();
    plan.validate(&problem)?;
    if let Some((path, format)) = out {
        match format {
            Format::Json => file::save(path, &problem, &plan)?,
            Format::Csv => file::write_atomically(path, csv::write(&problem, &plan).as_bytes())?,
        }
    }
    let report = plan.report(&problem).with_seconds(seconds).with_layout(args.records.layout.key());
    let json = serde_json::to_value(&report).map_err(|e| CliError::input(e.to_string()))?;
    let mut human = format!("{name}\n{report}");
    if let Some((path, _)) = out {
        human.push_str(&format!("{:<14} {}\n", "written to", path.display()));
    }
    Ok(Output { human, json, failure })
}

fn planner(args: &Args, limits: Option<&DeviceLimits>, bar: Option<&Bar>) -> Planner {
    let mut planner = args.strategy.0.map_or_else(Planner::auto, Planner::new);
    if let Some(bar) = bar {
        planner = planner.progress(bar.callback());
    }
    if let Some(limits) = limits {
        planner = profiles::limit(&args.input, &args.records, limits, planner);
    }
    // What is asked for by name goes before what a device offers.
    planner = args.search.apply(planner);
    if let Some(bytes) = args.capacity {
        planner = planner.capacity_bytes(bytes);
    }
    planner
}
