//! `sublet compare`: every strategy side by side, as in the papers' tables; with `--paper`, those tables.

use serde_json::{Map, Value, json};

use super::Output;
use super::error::CliError;
use super::input::{self, Input, InputArgs};
use super::papers::{self, Paper, TrainingArgs};
use crate::plan::report::{grouped, mib};
use crate::plan::{Planner, Problem, Proof, SharedStrategy, Strategy};

/// Arguments of `sublet compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sublet compare networks/*.csv
  sublet compare --paper pisarchyk
  sublet compare --paper sekiyama --batch 64 --budget 12GiB

Shared objects are whole buffers that tensors take in turns; alignments, pins and in-place permissions
mean nothing to them.")]
pub(super) struct Args {
    /// Records, plans, models or builtin:NAME.
    #[arg(value_name = "INPUT", required_unless_present = "paper", conflicts_with = "paper")]
    inputs: Vec<String>,
    /// The tables of a paper, computed from built-in networks.
    #[arg(long, value_name = "NAME")]
    paper: Option<Paper>,
    #[command(flatten)]
    training: TrainingArgs,
    #[command(flatten)]
    records: InputArgs,
}

/// Time grows with the cube of the number of tensors: beyond this many, minutes.
const MOST_FOR_FLOW: usize = 4_000;

/// Names and bytes of one table column; `None` is not computed.
pub(super) type Column = Vec<(&'static str, Option<u64>)>;

/// Both columns of one problem.
pub(super) struct Compared {
    /// Peaks, the bound first.
    pub offsets: Column,
    /// Why the lowest peak is the lowest, where that is proven.
    pub proof: Option<Proof>,
    /// Totals, the bound first.
    pub shared: Column,
    /// Whether no total can be less than that of the search.
    pub shared_proven: bool,
}

pub(super) fn run(args: &Args) -> Result<Output, CliError> {
    if let Some(paper) = args.paper {
        return papers::run(paper, &args.training);
    }
    // All inputs are read before the first is computed: a bad one should not waste the others' time.
    let inputs = args
        .inputs
        .iter()
        .map(|i| input::load(i, &args.records, None))
        .collect::<Result<Vec<_>, CliError>>()?;
    let (mut human, mut objects) = (String::new(), Vec::new());
    for Input { name, problem } in &inputs {
        let compared = compare(problem)?;
        human.push_str(&table(name, problem, &compared.offsets, &compared.shared));
        human.push_str(&verdict(compared.proof, compared.shared_proven));
        objects.push(compared.json(name, problem.len(), problem.naive_bytes()));
    }
    Ok(Output { human, json: json!({ "inputs": objects }), failure: None })
}

/// Every strategy on one problem, each answer judged.
pub(super) fn compare(problem: &Problem) -> Result<Compared, CliError> {
    let ((offsets, proof), (shared, shared_proven)) = (offsets(problem)?, shared_objects(problem)?);
    Ok(Compared { offsets, proof, shared, shared_proven })
}

impl Compared {
    pub(super) fn json(&self, name: &str, tensors: usize, naive_bytes: u64) -> Value {
        json!({
            "name": name,
            "tensors": tensors,
            "naive_bytes": naive_bytes,
            "offsets": object(&self.offsets),
            "offsets_proof": self.proof.map(Proof::key),
            "shared_objects": object(&self.shared),
            "shared_objects_proven": self.shared_proven,
        })
    }
}

/// Peaks of all strategies, and the proof of the last one.
fn offsets(problem: &Problem) -> Result<(Column, Option<Proof>), CliError> {
    let auto = Planner::auto().plan(problem)?;
    auto.validate(problem)?;
    let mut column = vec![("lower_bound", Some(auto.lower_bound_bytes()))];
    for strategy in Strategy::ALL {
        let plan = Planner::new(*strategy).plan(problem)?;
        plan.validate(problem)?;
        column.push((strategy.key(), Some(plan.peak_bytes())));
    }
    column.push(("auto", Some(auto.peak_bytes())));
    Ok((column, auto.proof()))
}

/// Totals of all strategies, and whether that of the search is proven to be the least.
fn shared_objects(problem: &Problem) -> Result<(Column, bool), CliError> {
    let searched = problem.shared_objects(SharedStrategy::Search);
    searched.validate(problem)?;
    let mut column = vec![("lower_bound", Some(searched.lower_bound_bytes()))];
    for strategy in SharedStrategy::ALL {
        let too_many = *strategy == SharedStrategy::MinCostFlow && problem.len() > MOST_FOR_FLOW;
        let bytes = if too_many {
            log::warn!("min_cost_flow is left out: {} tensors, at most {MOST_FOR_FLOW}", problem.len());
            None
        } else if *strategy == SharedStrategy::Search {
            Some(searched.total_bytes())
        } else {
            let plan = problem.shared_objects(*strategy);
            plan.validate(problem)?;
            Some(plan.total_bytes())
        };
        column.push((strategy.key(), bytes));
    }
    Ok((column, searched.is_optimal()))
}

fn object(column: &Column) -> Value {
    Value::Object(column.iter().map(|(key, bytes)| ((*key).to_owned(), json!(bytes))).collect::<Map<_, _>>())
}

fn table(name: &str, problem: &Problem, offsets: &Column, shared: &Column) -> String {
    let mut text =
        format!("{name}: {} tensors, naive total {} bytes\n", problem.len(), grouped(problem.naive_bytes()));
    for (title, column) in [("offsets", offsets), ("shared objects", shared)] {
        let bound = column.first().and_then(|(_, bytes)| *bytes).unwrap_or(0);
        text.push_str(&format!("  {title}\n"));
        for (key, bytes) in column {
            let cells = match bytes {
                None => "           left out: too many tensors".to_owned(),
                Some(bytes) if bound == 0 => mib(*bytes),
                Some(bytes) => format!("{}  {:>8.4}", mib(*bytes), *bytes as f64 / bound as f64),
            };
            text.push_str(&format!("    {key:<24}{cells}\n"));
        }
    }
    text
}

fn verdict(proof: Option<Proof>, shared_proven: bool) -> String {
    let auto = proof.map_or("not proven lowest".to_owned(), |proof| format!("proven lowest ({proof})"));
    let search = if shared_proven { "proven least" } else { "not proven least" };
    format!("  auto: {auto}; search: {search}\n\n")
}
