//! INPUT: which kind of file it is, and the planning problem in it.

use std::path::Path;

use super::error::CliError;
use super::passes::PassArgs;
use crate::device::DeviceLimits;
use crate::exec::Layout;
use crate::graph::{Graph, Usage, usage};
use crate::model::{ImportOptions, onnx, tflite, zoo};
use crate::plan::{Alignment, Plan, PlanError, Problem, csv, file, nearest, snapshot};

/// What is known of the records before they are read.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct InputArgs {
    /// Alignment of every tensor that has none of its own, bytes (records: 1, models: 256).
    #[arg(long, value_name = "BYTES", value_parser = alignment)]
    pub align: Option<Alignment>,
    /// Records: `upper` is the last step itself, not one past it.
    #[arg(long)]
    pub inclusive: bool,
    /// Records: a column `offset` is somebody's answer, not a demand.
    #[arg(long)]
    pub ignore_offsets: bool,
    /// A tensor that must survive the run (repeatable).
    #[arg(long, value_name = "NAME")]
    pub keep: Vec<String>,
    /// Memory snapshots: whose trace (the first device that has one).
    #[arg(long, value_name = "N")]
    pub trace_device: Option<usize>,
    /// shared, ping-pong (models only) or packed.
    #[arg(long, default_value = "shared", value_name = "NAME")]
    pub layout: Layout,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub passes: PassArgs,
}

/// Shapes that a model leaves open.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct ModelArgs {
    /// Shape of a model's input that it leaves open (repeatable).
    #[arg(long, value_name = "NAME=1x3x224x224", value_parser = shape)]
    shape: Vec<(String, Vec<usize>)>,
    /// Size of a named dimension that a model leaves open (repeatable).
    #[arg(long, value_name = "NAME=N", value_parser = dimension)]
    dim: Vec<(String, usize)>,
}

fn named(text: &str) -> Result<(String, &str), String> {
    // Names may hold '=', sizes may not.
    let (name, value) = text.rsplit_once('=').ok_or("not NAME=VALUE")?;
    Ok((name.to_owned(), value))
}

fn shape(text: &str) -> Result<(String, Vec<usize>), String> {
    let (name, dims) = named(text)?;
    let size = |d: &str| d.trim().parse::<usize>().map_err(|_| format!("'{d}' is not a size"));
    let dims = dims.split(['x', ',']).filter(|d| !d.is_empty()).map(size).collect::<Result<_, _>>()?;
    Ok((name, dims))
}

fn dimension(text: &str) -> Result<(String, usize), String> {
    let (name, size) = named(text)?;
    Ok((name, size.parse().map_err(|_| format!("'{size}' is not a size"))?))
}

pub(super) fn alignment(text: &str) -> Result<Alignment, String> {
    let bytes = text.parse().map_err(|_| "not a number of bytes".to_owned())?;
    Alignment::new(bytes).map_err(|e: PlanError| e.to_string())
}

/// A problem with the name of what it came from.
pub(super) struct Input {
    /// File name without its extension, or the built-in's name.
    pub name: String,
    pub problem: Problem,
}

/// All that an input tells.
pub(super) struct Loaded {
    /// File name without its extension, or the built-in's name.
    pub name: String,
    pub problem: Problem,
    /// The plan of a plan file.
    pub plan: Option<Plan>,
    /// What a model is beyond its problem.
    pub model: Option<Model>,
}

/// A network as it is planned.
pub(super) struct Model {
    /// After the passes.
    pub graph: Graph,
    /// Its problem, nothing kept.
    pub usage: Usage,
}

enum Kind<'a> {
    Records(&'a Path),
    /// A plan file or a memory snapshot.
    Json(&'a Path),
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
        Some("json") => Ok(Kind::Json(path)),
        Some("onnx" | "tflite") => Ok(Kind::Model),
        Some("pickle" | "pkl") => Err(CliError::input(format!(
            "{input} is pickled, and reading it would run what is in it. As JSON, if you trust it: \
             python3 -c \"import json, pickle, sys; json.dump(pickle.load(open('{input}', 'rb')), \
             sys.stdout)\" > snapshot.json"
        ))),
        _ => Err(CliError::input(format!(
            "cannot tell what {input} is: use .csv, .json, .onnx, .tflite or builtin:NAME"
        ))),
    }
}

/// Reads the planning problem of any kind of input.
///
/// A model is aligned as the layout asks on a device of these limits (256 where none are given).
pub(super) fn load(input: &str, args: &InputArgs, limits: Option<&DeviceLimits>) -> Result<Input, CliError> {
    let Loaded { name, problem, .. } = load_whole(input, args, limits)?;
    Ok(Input { name, problem })
}

/// Like [`load`], with what the input tells beyond its problem.
pub(super) fn load_whole(
    input: &str,
    args: &InputArgs,
    limits: Option<&DeviceLimits>,
) -> Result<Loaded, CliError> {
    if args.layout == Layout::PingPong && !is_model(input) {
        return Err(CliError::input(format!(
            "{input}: records do not say what a step reads; --layout ping-pong takes a model"
        )));
    }
    let (mut problem, plan, model) = match kind(input)? {
        Kind::Records(path) => (csv::read(path, csv_options(args))?, None, None),
        Kind::Json(path) => {
            let text = file::read_text(path)?;
            if snapshot::is_snapshot(&text) {
                let alignment = args.align.unwrap_or(Alignment::ONE);
                let options = snapshot::Options { alignment, device: args.trace_device };
                (snapshot::parse(&text, input, options)?, None, None)
            } else {
                let (problem, plan) = file::from_json(&text, input)?;
                (problem, Some(plan), None)
            }
        }
        Kind::Model => {
            let graph = load_graph(input, &args.model)?;
            let device_bytes = limits.map_or(Alignment::PORTABLE.bytes(), |l| l.storage_alignment_bytes);
            let model = model(graph, args, &args.passes, device_bytes)?;
            (model.usage.problem.clone(), None, Some(model))
        }
    };
    keep(&mut problem, &args.keep)?;
    Ok(Loaded { name: name_of(input), problem, plan, model })
}

/// A graph after its passes, with its planning problem.
pub(super) fn model(
    graph: Graph,
    args: &InputArgs,
    passes: &PassArgs,
    device_bytes: u64,
) -> Result<Model, CliError> {
    let alignment = args.align.map_or_else(|| args.layout.alignment(device_bytes), Ok)?;
    let (graph, sharing) = passes.apply(graph, args.layout)?;
    let mut usage = usage(&graph, alignment, &sharing)?;
    args.layout.constrain(&graph, &sharing, &mut usage)?;
    Ok(Model { graph, usage })
}

/// Demands that the tensors of these names survive.
pub(super) fn keep(problem: &mut Problem, names: &[String]) -> Result<(), CliError> {
    for name in names {
        let id = problem.lookup(name).ok_or_else(|| unknown_tensor(name, problem))?;
        problem.keep(id)?;
    }
    Ok(())
}

/// Whether the input is a model, by its name.
pub(super) fn is_model(input: &str) -> bool {
    matches!(kind(input), Ok(Kind::Model))
}

/// Reads a plan and the records that come with it.
pub(super) fn load_plan(input: &str, args: &InputArgs) -> Result<(Problem, Plan), CliError> {
    match kind(input)? {
        Kind::Json(path) => Ok(file::load(path)?),
        Kind::Records(path) => {
            let text = file::read_text(path)?;
            Ok(csv::parse_placed(&text, input, csv_options(args))?)
        }
        Kind::Model => Err(CliError::input(format!("{input} is a model, not a plan: use .json or .csv"))),
    }
}

/// The graph of a model: `.onnx`, `.tflite` or `builtin:NAME`.
pub(super) fn load_graph(input: &str, args: &ModelArgs) -> Result<Graph, CliError> {
    if let Some(name) = input.strip_prefix("builtin:") {
        return zoo::build(name).ok_or_else(|| {
            let hint = nearest(name, zoo::names().iter().copied());
            let hint = hint.map(|n| format!("; did you mean 'builtin:{n}'?")).unwrap_or_default();
            CliError::input(format!("there is no built-in network '{name}'{hint}"))
        });
    }
    match kind(input)? {
        Kind::Model => {
            let shapes = args.shape.iter().cloned().collect();
            let dims = args.dim.iter().cloned().collect();
            let options = ImportOptions { shapes, dims, ..ImportOptions::default() };
            let load =
                if input.to_ascii_lowercase().ends_with(".tflite") { tflite::load } else { onnx::load };
            Ok(load(Path::new(input), &options)?)
        }
        _ => Err(CliError::input(format!("{input} is not a model: use .onnx, .tflite or builtin:NAME"))),
    }
}

fn csv_options(args: &InputArgs) -> csv::Options {
    let alignment = args.align.unwrap_or(Alignment::ONE);
    csv::Options { inclusive: args.inclusive, alignment, ignore_offsets: args.ignore_offsets }
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
