//! `sublet bench layouts`: what each layout costs on a model, side by side.

use std::time::Instant;

use serde_json::{Value, json};

use super::Output;
use super::error::CliError;
use super::format::seconds;
use super::input::{ModelArgs, load_graph};
use super::passes::PassArgs;
use super::target::Target;
use crate::device::MemoryReport;
use crate::exec::{BindingCost, Layout};
use crate::graph::Graph;
use crate::plan::report::grouped;
use crate::plan::{Planner, Report};

/// Arguments of `sublet bench layouts`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example:
  sublet bench layouts builtin:mobilenet_v2")]
pub(super) struct Args {
    /// The network: an .onnx or .tflite file, or builtin:NAME.
    #[arg(value_name = "MODEL")]
    model: String,
    #[command(flatten)]
    shapes: ModelArgs,
    /// Take the adapter whose name contains this.
    #[arg(long, value_name = "NAME", conflicts_with = "cpu")]
    adapter: Option<String>,
    /// Run on the CPU executor.
    #[arg(long)]
    cpu: bool,
    /// Timed runs of each layout after the first.
    #[arg(long, default_value_t = 3, value_name = "N")]
    runs: usize,
}

impl Args {
    /// A model on an adapter.
    pub(super) fn of(model: String, adapter: Option<String>, cpu: bool, runs: usize) -> Self {
        Args { model, shapes: ModelArgs::default(), adapter, cpu, runs }
    }
}

/// One layout's numbers.
struct Row {
    layout: Layout,
    report: Report,
    cost: BindingCost,
    memory: MemoryReport,
    encode_s: Option<f64>,
    run_s: f64,
    outputs: Vec<Vec<f32>>,
}

pub(super) fn run(args: &Args) -> Result<Output, CliError> {
    let graph = load_graph(&args.model, &args.shapes)?;
    let target = Target::pick(args.cpu, args.adapter.as_deref())?;
    let rows =
        Layout::ALL.iter().map(|l| measure(*l, &graph, &target, args.runs)).collect::<Result<Vec<_>, _>>()?;
    let same = rows.iter().all(|row| bits(row) == bits(&rows[0]));
    let failure = (!same).then(|| CliError::check("layouts", "the layouts give different bits"));
    let json = json!({
        "adapter": target.json(),
        "layouts": rows.iter().map(row_json).collect::<Vec<_>>(),
        "same_outputs": same,
    });
    let mut human =
        format!("network  {}\nadapter  {}\n\n{}", graph.name, target.describe(), table(&rows, same));
    for Row { layout, memory, .. } in &rows {
        human.push_str(&format!("\nmemory, {}\n{memory}", layout.key()));
    }
    Ok(Output { human, json, failure })
}

fn measure(layout: Layout, graph: &Graph, target: &Target, runs: usize) -> Result<Row, CliError> {
    let program = target.program(graph.clone(), &PassArgs::default(), layout, None)?;
    let plan = target.limit(Planner::auto(), layout).plan(&program.usage.problem)?;
    plan.validate(&program.usage.problem)?;
    let report = plan.report(&program.usage.problem).with_layout(layout.key());
    let inputs = program.default_inputs();
    let mut compiled = target.compile(program, &plan)?;
    let cost = compiled.binding_cost(&plan)?;
    let outputs = compiled.run(&inputs)?;
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        compiled.run(&inputs)?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let start = Instant::now();
    let encode_s = compiled.encode().map(|()| start.elapsed().as_secs_f64());
    let memory = compiled.memory(&report);
    Ok(Row { layout, report, cost, memory, encode_s, run_s: times[times.len() / 2], outputs })
}

fn bits(row: &Row) -> Vec<u32> {
    row.outputs.iter().flatten().map(|x| x.to_bits()).collect()
}

fn row_json(row: &Row) -> Value {
    json!({
        "layout": row.layout.key(),
        "peak_bytes": row.report.peak_bytes,
        "max_load_bytes": row.report.max_load_bytes,
        "padding_bytes": row.report.padding_bytes,
        "arenas": row.report.arenas,
        "bindings": row.cost.bindings,
        "read_only_bindings": row.cost.read_only,
        "merged_dispatches": row.cost.merged,
        "pipelines": row.cost.pipelines,
        "barriers": row.cost.barriers,
        "encode_s": row.encode_s,
        "run_s": row.run_s,
        "memory": row.memory.json(),
    })
}

fn table(rows: &[Row], same: bool) -> String {
    let mut out = format!(
        "{:<10} {:>14} {:>7} {:>6} {:>9} {:>9} {:>7} {:>9} {:>8} {:>9} {:>9} {:>9}\n",
        "layout",
        "peak bytes",
        "/first",
        "arenas",
        "bindings",
        "read-only",
        "merged",
        "pipelines",
        "barriers",
        "padding",
        "encode",
        "run"
    );
    let first = rows.first().map_or(1, |r| r.report.peak_bytes).max(1);
    for row in rows {
        out.push_str(&format!(
            "{:<10} {:>14} {:>7.4} {:>6} {:>9} {:>9} {:>7} {:>9} {:>8} {:>9} {:>9} {:>9}\n",
            row.layout.key(),
            grouped(row.report.peak_bytes),
            row.report.peak_bytes as f64 / first as f64,
            row.report.arenas.len(),
            row.cost.bindings,
            row.cost.read_only,
            row.cost.merged,
            row.cost.pipelines,
            row.cost.barriers,
            row.report.padding_bytes,
            row.encode_s.map_or_else(|| "-".to_owned(), seconds),
            seconds(row.run_s),
        ));
    }
    out.push_str(if same {
        "outputs: the same bits in every layout\n"
    } else {
        "outputs: NOT the same bits\n"
    });
    out
}
