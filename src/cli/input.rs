//! INPUT: which kind of file it is, and the planning problem in it.

use std::path::Path;

use super::error::CliError;
use crate::plan::{Alignment, Plan, PlanError, Problem, csv, file, nearest};

/// What is known of the records before they are read.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct InputArgs {
    /// Alignment of every tensor that has none of its own, bytes (records: 1, models: 256).
    #[arg(long, value_name = "BYTES", value_parser = alignment)]
    pub align: Option<Alignment>,
    /// Records: `upper` is the last step itself, not one past it.
    #[arg(long)]
    pub inclusive: bool,
    /// A tensor that must survive the run (repeatable).
    #[arg(long, value_name = "NAME")]
    pub keep: Vec<String>,
}

fn alignment(text: &str) -> Result<Alignment, String> {
    let bytes = text.parse().map_err(|_| "not a number of bytes".to_owned())?;
    Alignment::new(bytes).map_err(|e: PlanError| e.to_string())
}

/// A problem with the name of what it came from.
pub(super) struct Input {
    /// File name without its extension, or the built-in's name.
    pub name: String,
    pub problem: Problem,
}

enum Kind<'a> {
    Records(&'a Path),
    PlanFile(&'a Path),
    Model,
}

fn kind(input: &str) -> Result<Kind<'_>, CliError> {
    if input.starts_with("builtin:") {
        return Ok(Kind::Model);
    }
    let path = Path::new(input);
    if path.is_dir() {
        return Err(CliError::input(format!("cannot read {input}: it is a directory")));
    }
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("csv") => Ok(Kind::Records(path)),
        Some("json") => Ok(Kind::PlanFile(path)),
        Some("onnx" | "tflite") => Ok(Kind::Model),
        _ => Err(CliError::input(format!(
            "cannot tell what {input} is: use .csv, .json, .onnx, .tflite or builtin:NAME"
        ))),
    }
}

/// Reads the planning problem of any kind of input.
pub(super) fn load(input: &str, args: &InputArgs) -> Result<Input, CliError> {
    let mut problem = match kind(input)? {
        Kind::Records(path) => csv::read(path, csv_options(args))?,
        Kind::PlanFile(path) => file::load(path)?.0,
        Kind::Model => load_graph(input, args)?,
    };
    for name in &args.keep {
        let id = problem.lookup(name).ok_or_else(|| unknown_tensor(name, &problem))?;
        problem.keep(id)?;
    }
    Ok(Input { name: name_of(input), problem })
}

/// Reads a plan and the records that come with it.
pub(super) fn load_plan(input: &str, args: &InputArgs) -> Result<(Problem, Plan), CliError> {
    match kind(input)? {
        Kind::PlanFile(path) => Ok(file::load(path)?),
        Kind::Records(path) => {
            let text = file::read_text(path)?;
            Ok(csv::parse_placed(&text, input, csv_options(args))?)
        }
        Kind::Model => Err(CliError::input(format!("{input} is a model, not a plan: use .json or .csv"))),
    }
}

/// The planning problem of a model: `.onnx`, `.tflite` or `builtin:NAME`.
fn load_graph(input: &str, _args: &InputArgs) -> Result<Problem, CliError> {
    Err(CliError::input(format!("cannot read {input}: this program plans records and plan files only")))
}

fn csv_options(args: &InputArgs) -> csv::Options {
    csv::Options { inclusive: args.inclusive, alignment: args.align.unwrap_or(Alignment::ONE) }
}

fn name_of(input: &str) -> String {
    match input.strip_prefix("builtin:") {
        Some(name) => name.to_owned(),
        None => Path::new(input)
            .file_stem()
            .map_or_else(|| input.to_owned(), |s| s.to_string_lossy().into_owned()),
    }
}

fn unknown_tensor(name: &str, problem: &Problem) -> CliError {
    let known = problem.tensors().iter().map(|t| t.label());
    let hint = nearest(name, known).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
    CliError { tensor: Some(name.into()), ..CliError::input(format!("there is no tensor '{name}'{hint}")) }
}
