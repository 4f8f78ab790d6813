//! `sublet draw`: plans as pictures.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Output;
use super::error::CliError;
use super::input::{self, InputArgs, Loaded};
use super::plan::{Choice, SearchArgs, StrategyParser};
use crate::draw::{Picture, html, svg, term, trace};
use crate::plan::report::grouped;
use crate::plan::{Plan, Planner, Problem, file};

/// Arguments of `sublet draw`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sublet draw builtin:mobilenet_v2                                 in the terminal
  sublet draw network.csv -o map.svg
  sublet draw model.onnx --strategy auto,greedy-in-order,naive -o map.html
  sublet draw before.onnx after.onnx -o map.html                   side by side, with the difference
  sublet draw model.onnx -o trace.json                             for ui.perfetto.dev or chrome://tracing

A plan file (.json) is drawn as it is; with --strategy it is planned anew.")]
pub(super) struct Args {
    /// Records (.csv), plans or memory snapshots (.json), models, or builtin:NAME; two stand side by side.
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    /// A .svg, .html or .json (trace) file; `-` is this terminal.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// What to write whatever the name: svg, html, trace or term.
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,
    /// auto or a strategy; several, separated by commas, are drawn one after the other.
    #[arg(long, value_delimiter = ',', value_name = "NAME", value_parser = StrategyParser)]
    strategy: Vec<Choice>,
    /// Columns of a picture in the terminal (the terminal's, else 100).
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Rows of a picture in the terminal.
    #[arg(long, value_name = "N", default_value_t = term::Options::default().rows)]
    rows: usize,
    /// Colours in the terminal: auto, always or never.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    colour: When,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    records: InputArgs,
}

/// What a picture is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Svg,
    Html,
    Trace,
    Term,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// The format that the name of a file asks for.
pub(super) fn format_of(path: &Path) -> Result<Format, CliError> {
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        _ if path.as_os_str() == "-" => Ok(Format::Term),
        Some("svg") => Ok(Format::Svg),
        Some("html" | "htm") => Ok(Format::Html),
        Some("json") => Ok(Format::Trace),
        Some("txt") => Ok(Format::Term),
        _ => Err(CliError::input(format!(
            "{}: the name must end in .svg, .html, .json (a trace) or .txt, or be '-'",
            path.display()
        ))),
    }
}

/// Pictures as the text of a file.
pub(super) fn render(pictures: &[Picture], format: Format, options: term::Options) -> String {
    match format {
        Format::Svg => svg::write(pictures),
        Format::Html => html::write(pictures),
        Format::Trace => trace::write(pictures),
        Format::Term => term::write(pictures, options),
    }
}

pub(super) fn run(args: &Args, is_json: bool) -> Result<Output, CliError> {
    // Before any work, so that a slip in the name costs no time.
    let format = args.format.map_or_else(|| format_of(&args.out), Ok)?;
    let mut pictures = Vec::new();
    for input in &args.inputs {
        pictures.extend(of_input(input, args)?);
    }
    let to_stdout = args.out.as_os_str() == "-";
    let text = render(&pictures, format, terminal(args, to_stdout && !is_json));
    let mut json = json!({
        "pictures": pictures.iter().map(summary).collect::<Vec<_>>(),
        "format": format!("{format:?}").to_ascii_lowercase(),
        "bytes": text.len(),
        "file": if to_stdout { Value::Null } else { json!(args.out) },
    });
    let human = if to_stdout {
        json["picture"] = json!(text);
        text
    } else {
        file::write_atomically(&args.out, text.as_bytes())?;
        let count = pictures.len();
        format!(
            "{}: {count} picture{}, {} bytes\n",
            args.out.display(),
            if count == 1 { "" } else { "s" },
            grouped(text.len() as u64)
        )
    };
    Ok(Output { human, json, failure: None })
}

fn summary(picture: &Picture) -> Value {
    json!({
        "title": picture.title,
        "tensors": picture.report.tensors,
        "steps": picture.report.steps,
        "strategy": picture.report.strategy,
        "peak_bytes": picture.report.peak_bytes,
        "max_load_bytes": picture.report.max_load_bytes,
    })
}

fn terminal(args: &Args, on_stdout: bool) -> term::Options {
    let is_terminal = on_stdout && std::io::stdout().is_terminal();
    let own =
        || is_terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    let width = args.width.or_else(own).unwrap_or(term::Options::default().width);
    let colour = match args.colour {
        When::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none(),
        When::Always => true,
        When::Never => false,
    };
    term::Options { width, rows: args.rows, colour }
}

/// The pictures of one input: one a strategy.
fn of_input(input: &str, args: &Args) -> Result<Vec<Picture>, CliError> {
    let Loaded { name, problem, plan, model } = input::load_whole(input, &args.records, None)?;
    let plans = match plan {
        // What somebody kept is drawn as it is, unless told otherwise.
        Some(plan) if args.strategy.is_empty() && plan.fingerprint() == problem.fingerprint() => vec![plan],
        _ => planned(&problem, args)?,
    };
    let several = plans.len() > 1;
    let mut pictures = Vec::new();
    for (at, plan) in plans.iter().enumerate() {
        let title = match args.strategy.get(at) {
            Some(Choice(strategy)) if several => {
                format!("{name}, {}", strategy.map_or("auto", |s| s.key()))
            }
            _ => name.clone(),
        };
        let mut picture = Picture::new(title, &problem, plan)?.with_layout(args.records.layout.key());
        if let Some(model) = &model {
            picture = picture.with_graph(&model.graph, &model.usage);
        }
        pictures.push(picture);
    }
    Ok(pictures)
}

fn planned(problem: &Problem, args: &Args) -> Result<Vec<Plan>, CliError> {
    let auto = [Choice::default()];
    let choices = if args.strategy.is_empty() { &auto[..] } else { &args.strategy[..] };
    let one = |choice: &Choice| {
        let planner = args.search.apply(choice.0.map_or_else(Planner::auto, Planner::new));
        let plan = planner.plan(problem)?;
        plan.validate(problem)?;
        Ok(plan)
    };
    choices.iter().map(one).collect()
}
