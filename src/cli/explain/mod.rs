//! `sublet explain`: what a peak is made of, and what would lower it.

mod peak;
mod suggest;

use serde_json::{Value, json};

use super::Output;
use super::error::CliError;
use super::input::{self, InputArgs, Loaded, Model};
use super::plan::{Choice, SearchArgs, StrategyParser};
use crate::graph::Graph;
use crate::plan::report::grouped;
use crate::plan::{Plan, Planner, Problem, Report};
use peak::Peak;
use suggest::Suggestion;

/// Arguments of `sublet explain`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  sublet explain builtin:unet
  sublet explain model.onnx --passes off --max-buffer 256MiB
  sublet explain snapshot.json --json

Every figure under 'what would lower it' is the peak of a plan made for it. Behind a flag stands what
`sublet plan` takes; the others are changes of the network or of the engine.")]
pub(super) struct Args {
    /// Records (.csv), a plan or a memory snapshot (.json), a model, or builtin:NAME.
    #[arg(value_name = "INPUT")]
    input: String,
    /// auto, naive, greedy-by-size, greedy-by-breadth, greedy-in-order or strip-packing.
    #[arg(long, default_value = "auto", value_parser = StrategyParser)]
    strategy: Choice,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    records: InputArgs,
}

/// What is explained: a problem, and the graph behind it where there is one.
struct Subject {
    /// As it came, before any pass.
    graph: Option<Graph>,
    model: Option<Model>,
    problem: Problem,
    plan: Plan,
}

pub(super) fn run(args: &Args) -> Result<Output, CliError> {
    let Loaded { name, problem, model, .. } = input::load_whole(&args.input, &args.records, None)?;
    let graph = match &model {
        Some(_) => Some(input::load_graph(&args.input, &args.records.model)?),
        None => None,
    };
    let plan = planned(&problem, args)?;
    let report = plan.report(&problem).with_layout(args.records.layout.key());
    let subject = Subject { graph, model, problem, plan };
    let peak = Peak::new(&subject);
    let (mut better, useless): (Vec<_>, Vec<_>) =
        suggest::all(&subject, args, peak.as_ref())?.into_iter().partition(|s| s.saves(&report) > 0);
    better.sort_by_key(|s| s.peak_bytes);
    let json = json!({
        "name": name,
        "plan": report,
        "peak": peak.as_ref().map_or(Value::Null, Peak::json),
        "suggestions": better.iter().map(|s| s.json(&report)).collect::<Vec<_>>(),
        "tried": useless.iter().map(|s| s.json(&report)).collect::<Vec<_>>(),
    });
    let mut human = format!("{name}: {}\n", verdict(&report));
    human.push_str(&peak.as_ref().map_or("no tensor has a byte\n".to_owned(), Peak::text));
    human.push_str(&conclusion(&report, &better, &useless));
    Ok(Output { human, json, failure: None })
}

/// The plan of a problem with the arguments' strategy and limits, judged.
fn planned(problem: &Problem, args: &Args) -> Result<Plan, CliError> {
    let planner = args.search.apply(args.strategy.0.map_or_else(Planner::auto, Planner::new));
    let plan = planner.plan(problem)?;
    plan.validate(problem)?;
    Ok(plan)
}

fn verdict(report: &Report) -> String {
    let over = report.peak_bytes - report.max_load_bytes;
    let why = match (&report.proof, over) {
        (Some(proof), 0) => {
            format!("the max load: no plan of these tensors in this order is lower ({proof})")
        }
        (Some(proof), _) => format!("{} bytes over the max load, proven lowest ({proof})", grouped(over)),
        (None, _) => format!("{} bytes over the max load, not proven lowest", grouped(over)),
    };
    let peak = report.peak_bytes as f64 / f64::from(1 << 20);
    format!("peak {peak:.3} MiB, {} bytes: {why}", grouped(report.peak_bytes))
}

fn conclusion(report: &Report, better: &[Suggestion], useless: &[Suggestion]) -> String {
    let mut text = String::new();
    if better.is_empty() {
        let bound = if report.proof.is_some() { "; the peak is at its lower bound" } else { "" };
        text.push_str(&format!("\nnothing that was tried lowers it{bound}\n"));
    } else {
        text.push_str("\nwhat would lower it, each planned anew\n");
    }
    for suggestion in better {
        text.push_str(&suggestion.line(report));
    }
    if !useless.is_empty() {
        let names: Vec<&str> = useless.iter().map(|s| s.what.as_str()).collect();
        text.push_str(&format!("saves nothing: {}\n", names.join("; ")));
    }
    text
}
