//! `sublet validate`: the judge alone.

use serde_json::json;

use super::Output;
use super::error::CliError;
use super::input::{self, InputArgs};
use crate::plan::report::grouped;
use crate::plan::{Plan, Problem};

/// Arguments of `sublet validate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sublet validate plan.json
  sublet validate plan.json network.csv
  sublet validate solved.csv          a .csv with a column 'offset', from any planner")]
pub(super) struct Args {
    /// A plan file (.json), or records with offsets (.csv).
    #[arg(value_name = "PLAN")]
    plan: String,
    /// The problem it must be a plan of; without it, the records in PLAN.
    #[arg(value_name = "INPUT")]
    input: Option<String>,
    #[command(flatten)]
    records: InputArgs,
}

pub(super) fn run(args: &Args) -> Result<Output, CliError> {
    let (own, plan) = input::load_plan(&args.plan, &args.records)?;
    let (problem, plan) = match &args.input {
        None => (own, plan),
        Some(input) => {
            // The alignment is no part of the records: where none is asked for, the plan's own counts.
            let align = args.records.align.or(Some(own.alignment()));
            let problem = input::load(input, &InputArgs { align, ..args.records.clone() }, None)?.problem;
            let plan = if is_csv(&args.plan) { transfer(&args.plan, &own, &plan, &problem)? } else { plan };
            (problem, plan)
        }
    };
    let failure = plan.validate(&problem).err().map(CliError::from);
    let verdict = match &failure {
        None => format!(
            "valid: no two of {} tensors share a byte at any of {} steps\n",
            problem.len(),
            problem.steps()
        ),
        Some(_) => "not valid\n".to_owned(),
    };
    let human = format!(
        "{verdict}peak {} bytes in {} arena{}, lower bound {} bytes, naive total {} bytes\n",
        grouped(plan.peak_bytes()),
        plan.arenas().len(),
        if plan.arenas().len() == 1 { "" } else { "s" },
        grouped(plan.lower_bound_bytes()),
        grouped(problem.naive_bytes())
    );
    let json = json!({
        "valid": failure.is_none(),
        "tensors": problem.len(),
        "steps": problem.steps(),
        "peak_bytes": plan.peak_bytes(),
        "lower_bound_bytes": plan.lower_bound_bytes(),
        "naive_bytes": problem.naive_bytes(),
        "arenas": plan.arenas().iter().map(|bytes| json!({ "bytes": bytes })).collect::<Vec<_>>(),
    });
    Ok(Output { human, json, failure })
}

fn is_csv(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".csv")
}

/// The places of a CSV plan as a plan of `problem`, matched by label: a CSV names no problem it belongs to.
fn transfer(file: &str, own: &Problem, plan: &Plan, problem: &Problem) -> Result<Plan, CliError> {
    if own.len() != problem.len() {
        let (placed, tensors) = (own.len(), problem.len());
        return Err(CliError::input(format!("{file} places {placed} tensors, the problem has {tensors}")));
    }
    let places = problem.tensors().iter().map(|tensor| {
        own.lookup(tensor.label()).and_then(|id| plan.place(id)).ok_or_else(|| CliError {
            tensor: Some(tensor.label().into()),
            ..CliError::input(format!("{file} has no offset for tensor '{}'", tensor.label()))
        })
    });
    let places = places.collect::<Result<Vec<_>, CliError>>()?;
    Ok(Plan::given(problem, plan.strategy(), places, plan.arenas().to_vec()))
}
