//! `sublet run`, and `sublet` alone: plan, execute, verify, measure.

use super::Output;
use super::audit;
use super::draw;
use super::error::CliError;
use super::format::{seconds, shape};
use super::input::{ModelArgs, load_graph};
use super::passes::PassArgs;
use super::plan::{Choice, StrategyParser};
use super::target::{Compiled, Target};
use super::tensors::{Comparison, NamedFile, compare_words, expected, inputs, numbers, save};
use crate::device::MemoryReport;
use crate::draw::{Picture, term};
use crate::exec::{Layout, Program};
use crate::graph::{DType, Graph};
use crate::plan::{Alignment, Plan, Planner, Report, file};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

/// Default of `--rtol`.
const RTOL: f64 = 1e-3;
/// Default of `--atol`.
const ATOL: f64 = 1e-5;
/// Default of `--runs`.
const RUNS: usize = 3;

/// Where to run and how to plan; shared by `run` and `audit`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TargetArgs {
    /// Take the adapter whose name contains this
    #[arg(long, value_name = "NAME", conflicts_with = "cpu")]
    pub adapter: Option<String>,
    /// Run on the CPU executor
    #[arg(long)]
    pub cpu: bool,
    /// auto, naive, greedy-by-size, greedy-by-breadth, greedy-in-order or strip-packing
    #[arg(long, default_value = "auto", value_parser = StrategyParser)]
    pub strategy: Choice,
    /// shared, ping-pong or packed
    #[arg(long, default_value = "shared", value_name = "NAME")]
    pub layout: Layout,
    /// Alignment of offsets in bytes (default: the device's, 4 when packed)
    #[arg(long, value_name = "BYTES", value_parser = super::input::alignment)]
    pub align: Option<Alignment>,
    /// Input from a .npy file, by name or position (repeatable)
    #[arg(long, value_name = "NAME=FILE")]
    pub input: Vec<NamedFile>,
    #[command(flatten)]
    pub passes: PassArgs,
}

/// Arguments of `run`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  sublet run builtin:mobilenet_v1
  sublet run model.onnx --shape x=1x3x48x192 --input x=in.npy --expect 0=out.npy --json
  sublet run model.onnx --cpu --save outputs")]
pub struct Args {
    /// The network: an .onnx or .tflite file, or builtin:NAME
    #[arg(value_name = "MODEL")]
    pub model: String,
    #[command(flatten)]
    pub shapes: ModelArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Expected output from a .npy file, by name or position (repeatable)
    #[arg(long, value_name = "NAME=FILE")]
    pub expect: Vec<NamedFile>,
    /// Allowed difference relative to the largest expected value
    #[arg(long, default_value_t = RTOL)]
    pub rtol: f64,
    /// Allowed absolute difference
    #[arg(long, default_value_t = ATOL)]
    pub atol: f64,
    /// Write the outputs as .npy files into this folder
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Draw the plan into a .svg, .html, .json (trace) or .txt file
    #[arg(long, value_name = "FILE")]
    pub draw: Option<PathBuf>,
    /// Timed runs after the first
    #[arg(long, default_value_t = RUNS, value_name = "N")]
    pub runs: usize,
}

/// A planned and compiled network with its inputs.
pub struct Ready<'a> {
    /// The network.
    pub compiled: Compiled<'a>,
    /// Its plan.
    pub plan: Plan,
    /// The plan in numbers.
    pub report: Report,
    /// Inputs of every run.
    pub inputs: Vec<Vec<f32>>,
    /// Seconds to plan.
    pub plan_s: f64,
    /// Seconds to allocate and build.
    pub compile_s: f64,
}

/// Plans and compiles a graph.
pub fn prepare<'a>(graph: Graph, args: &TargetArgs, target: &'a Target) -> Result<Ready<'a>, CliError> {
    let program = target.program(graph, &args.passes, args.layout, args.align)?;
    let inputs = inputs(&program, &args.input)?;
    let start = Instant::now();
    let planner = target.limit(args.strategy.0.map_or_else(Planner::auto, Planner::new), args.layout);
    let plan = planner.plan(&program.usage.problem)?;
    plan.validate(&program.usage.problem)?;
    let plan_s = start.elapsed().as_secs_f64();
    let report = plan.report(&program.usage.problem).with_seconds(plan_s).with_layout(args.layout.key());
    let start = Instant::now();
    let compiled = target.compile(program, &plan)?;
    let compile_s = start.elapsed().as_secs_f64();
    Ok(Ready { compiled, plan, report, inputs, plan_s, compile_s })
}

/// What the runs of a network gave.
struct Outcome {
    outputs: Vec<Vec<f32>>,
    comparisons: Vec<Option<Comparison>>,
    first_run_s: f64,
    run_s: f64,
    encode_s: f64,
    /// Later runs gave the same bits as the first.
    repeatable: bool,
}

impl Outcome {
    fn ok(&self) -> bool {
        self.repeatable && self.comparisons.iter().flatten().all(|c| c.ok)
    }

    /// What is wrong, naming the first output that is not as expected.
    fn complaint(&self, ready: &Ready) -> String {
        let graph = &ready.compiled.program().graph;
        let bad =
            graph.outputs.iter().zip(&self.comparisons).find_map(|(id, c)| Some((id, c.filter(|c| !c.ok)?)));
        match bad {
            Some((id, comparison)) => format!("output '{}' is {comparison}", graph.get(*id).name),
            None => "a later run gave other bits than the first".to_owned(),
        }
    }
}

fn execute(args: &Args, ready: &mut Ready) -> Result<Outcome, CliError> {
    let graph = &ready.compiled.program().graph;
    let want = expected(graph, &args.expect)?;
    let dtypes: Vec<DType> = graph.outputs.iter().map(|id| graph.get(*id).dtype).collect();
    let start = Instant::now();
    let outputs = ready.compiled.run(&ready.inputs)?;
    let first_run_s = start.elapsed().as_secs_f64();
    let mut times = Vec::with_capacity(args.runs);
    let mut repeatable = true;
    for _ in 0..args.runs {
        let start = Instant::now();
        let again = ready.compiled.run(&ready.inputs)?;
        times.push(start.elapsed().as_secs_f64());
        repeatable &= same_bits(&outputs, &again);
    }
    times.sort_by(f64::total_cmp);
    let run_s = times.get(times.len() / 2).copied().unwrap_or(first_run_s);
    let start = Instant::now();
    let encode_s = ready.compiled.encode().map_or(0.0, |()| start.elapsed().as_secs_f64());
    let pairs = outputs.iter().zip(&want).zip(&dtypes);
    let one = |((got, want), dtype): ((&Vec<f32>, &Option<Vec<f32>>), &DType)| {
        Some(compare_words(*dtype, got, want.as_ref()?, args.rtol, args.atol))
    };
    let comparisons = pairs.map(one).collect();
    Ok(Outcome { comparisons, outputs, first_run_s, run_s, encode_s, repeatable })
}

fn same_bits(a: &[Vec<f32>], b: &[Vec<f32>]) -> bool {
    let bits = |x: &[Vec<f32>]| x.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
    bits(a) == bits(b)
}

impl Args {
    /// What `sublet` alone runs.
    pub fn main_job() -> Self {
        Args {
            model: "builtin:mobilenet_v2".to_owned(),
            shapes: ModelArgs::default(),
            target: TargetArgs::default(),
            expect: Vec::new(),
            rtol: RTOL,
            atol: ATOL,
            save: None,
            draw: None,
            runs: RUNS,
        }
    }
}

/// Runs the command; `with_audit` adds the audit's verdict (the main job).
pub fn run(args: &Args, with_audit: bool) -> Result<Output, CliError> {
    weighed(args, with_audit).map(|(output, _)| output)
}

/// The same with the memory that the network took.
pub fn weighed(args: &Args, with_audit: bool) -> Result<(Output, MemoryReport), CliError> {
    // Before any work, so that a slip in the name costs no time.
    let map = args.draw.as_deref().map(|path| draw::format_of(path).map(|f| (path, f))).transpose()?;
    let graph = load_graph(&args.model, &args.shapes)?;
    let target = Target::pick(args.target.cpu, args.target.adapter.as_deref())?;
    let mut ready = prepare(graph, &args.target, &target)?;
    if let Some((path, format)) = map {
        let Program { graph, usage, .. } = ready.compiled.program();
        let picture = Picture::new(graph.name.clone(), &usage.problem, &ready.plan)?;
        let picture = picture.with_graph(graph, usage).with_layout(args.target.layout.key());
        let text = draw::render(&[picture], format, term::Options::default());
        file::write_atomically(path, text.as_bytes())?;
    }
    let outcome = execute(args, &mut ready)?;
    // Sampled after the runs: that is when everything a run needs has been allocated.
    let memory = ready.compiled.memory(&ready.report);
    if let Some(dir) = &args.save {
        save(dir, &ready.compiled.program().graph, &outcome.outputs)?;
    }
    let audited = match with_audit {
        true => Some(ready.compiled.audit(&ready.plan, &ready.inputs, 0)?),
        false => None,
    };
    let audit_ok = audited.as_ref().is_none_or(|(a, _)| a.ok());
    let mut json = json!({
        "adapter": target.json(),
        "plan": ready.report,
        "memory": memory.json(),
        "outputs": outputs_json(&ready, &outcome),
        "timing": {
            "plan_s": ready.plan_s,
            "compile_s": ready.compile_s,
            "first_run_s": outcome.first_run_s,
            "run_s": outcome.run_s,
            "encode_s": outcome.encode_s,
        },
        "dispatches": ready.compiled.program().dispatch_count(),
        "repeatable": outcome.repeatable,
        "ok": outcome.ok() && audit_ok,
    });
    let mut human = describe(&target, &ready, &outcome);
    human.push_str(&format!("memory\n{memory}"));
    if let Some((audit, counts)) = &audited {
        json["audit"] = audit::json(audit, counts);
        human.push_str(&format!("\n{}", audit::text(audit, counts)));
    }
    let failure = match (outcome.ok(), audit_ok) {
        (true, true) => None,
        (true, false) => Some(CliError::check("audit", "the audit failed")),
        (false, _) => Some(CliError::check("expect", outcome.complaint(&ready))),
    };
    Ok((Output { human, json, failure }, memory))
}

fn outputs_json(ready: &Ready, outcome: &Outcome) -> Vec<Value> {
    let graph = &ready.compiled.program().graph;
    let one = |(id, comparison): (&crate::graph::ValueId, &Option<Comparison>)| {
        let value = graph.get(*id);
        json!({
            "name": value.name,
            "dtype": value.dtype.to_string(),
            "shape": value.shape,
            "max_abs_diff": comparison.map(|c| c.max_abs_diff),
            "ok": comparison.map(|c| c.ok),
        })
    };
    graph.outputs.iter().zip(&outcome.comparisons).map(one).collect()
}

fn describe(target: &Target, ready: &Ready, outcome: &Outcome) -> String {
    let program = ready.compiled.program();
    let graph = &program.graph;
    let mut out = format!(
        "network  {}: {} nodes, {} dispatches\n",
        graph.name,
        graph.nodes.len(),
        program.dispatch_count()
    );
    out.push_str(&format!("adapter  {}\n\nplan\n{}\noutputs\n", target.describe(), ready.report));
    for ((id, data), comparison) in graph.outputs.iter().zip(&outcome.outputs).zip(&outcome.comparisons) {
        let value = graph.get(*id);
        let largest = numbers(value.dtype, data).iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let verdict = comparison.map_or_else(|| "nothing expected".to_owned(), |c| c.to_string());
        let shape = shape(&value.shape);
        let dtype = if value.dtype == DType::F32 { String::new() } else { format!(" {}", value.dtype) };
        out.push_str(&format!(
            "  {} [{shape}]{dtype}, largest magnitude {largest:.5}: {verdict}\n",
            value.name
        ));
    }
    if !outcome.repeatable {
        out.push_str("  NOT repeatable: a later run gave other bits\n");
    }
    out.push_str(&format!(
        "\ntime     plan {}, compile {}, first run {}, run {} (median), encode {}\n\n",
        seconds(ready.plan_s),
        seconds(ready.compile_s),
        seconds(outcome.first_run_s),
        seconds(outcome.run_s),
        seconds(outcome.encode_s)
    ));
    out
}
