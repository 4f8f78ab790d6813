//! `sublet bench --all`: everything that can be measured on this machine in one go, as a record.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::error::CliError;
use super::super::format::seconds;
use super::super::passes::PassArgs;
use super::super::run::{self as network, TargetArgs};
use super::super::target::Target;
use super::super::{Output, arena, layouts};
use super::{Measurement, Record};
use crate::device::MemoryReport;
use crate::exec::Layout;
use crate::graph::usage;
use crate::model::zoo;
use crate::plan::report::mib;
use crate::plan::{Alignment, Planner, Problem, Synthetic};

/// Arguments of `sublet bench --all`.
#[derive(Debug, Clone, clap::Args)]
pub(in super::super) struct Args {
    /// Plan, compare layouts, run and weigh on the adapter found, and write a record.
    #[arg(long)]
    pub all: bool,
    /// With --all: small networks alone, seconds instead of minutes.
    #[arg(long, requires = "all")]
    quick: bool,
    /// With --all: take the adapter whose name contains this.
    #[arg(long, value_name = "NAME", requires = "all", conflicts_with = "cpu")]
    adapter: Option<String>,
    /// With --all: run on the CPU executor.
    #[arg(long, requires = "all")]
    cpu: bool,
    /// With --all: timed runs after the first [default: 10, on a software driver 3].
    #[arg(long, value_name = "N", requires = "all", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// With --all: the machine's name in benches/record [default: made from the adapter's].
    #[arg(long, value_name = "NAME", requires = "all", value_parser = super::machine)]
    machine: Option<String>,
    /// With --all: what a reader should know, such as what else ran.
    #[arg(long, value_name = "TEXT", requires = "all")]
    note: Option<String>,
    /// With --all: where the record goes [default: benches/record/MACHINE/DATE.json].
    #[arg(long, value_name = "FILE", requires = "all")]
    out: Option<PathBuf>,
}

/// Times each plan is made after the one that warms up.
const PLANS: u32 = 5;
/// Tensors of the made-up records.
const SYNTHETIC_TENSORS: usize = 10_000;
const SEED: u64 = 7;

/// Networks that are run.
fn networks(quick: bool, software: bool) -> &'static [&'static str] {
    match (quick, software) {
        (true, _) => &["blazeface"],
        (false, true) => &["mobilenet_v1", "mobilenet_v2", "squeezenet"],
        (false, false) => &["mobilenet_v1", "mobilenet_v2", "squeezenet", "resnet50", "unet", "vit_tiny"],
    }
}

pub(in super::super) fn run(args: &Args) -> Result<Output, CliError> {
    let target = Target::pick(args.cpu, args.adapter.as_deref())?.json();
    let software = target["type"] == "Cpu";
    let runs = args.runs.unwrap_or(if software { 3 } else { 10 });
    let machine = args.machine.clone().unwrap_or_else(|| slug(&target));
    let mut record = Record::new(&machine, Some(&target), args.note.clone());
    plans(&mut record, args.quick)?;
    let mut memory = Vec::new();
    for name in networks(args.quick, software) {
        memory.push((*name, on_device(&mut record, name, args, runs)?));
    }
    for name in if args.quick { &["blazeface"][..] } else { &["mobilenet_v2"] } {
        in_layouts(&mut record, name, args, runs)?;
    }
    allocating(&mut record, args)?;
    record.finish();
    let path = args.out.clone().unwrap_or_else(|| record.path());
    record.write(&path)?;
    let mut json = record.json();
    json["written"] = json!(path.display().to_string());
    json["memory"] = memory.iter().map(|(name, report)| ((*name).to_owned(), report.json())).collect();
    let mut human = table(&record.measurements);
    memory.iter().for_each(|(name, report)| human.push_str(&format!("\nmemory of {name}\n{report}")));
    human.push_str(&format!("\nwritten to {}\n", path.display()));
    Ok(Output { human, json, failure: None })
}

/// Letters and digits of the adapter's name and backend, so that each has a folder of its own.
fn slug(target: &Value) -> String {
    let text =
        format!("{} {}", target["name"].as_str().unwrap_or(""), target["backend"].as_str().unwrap_or(""));
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// It takes minutes; stderr says where it is.
fn say(what: &str) {
    eprintln!("bench: {what}");
}

fn plans(record: &mut Record, quick: bool) -> Result<(), CliError> {
    for name in zoo::names().iter().filter(|name| !quick || **name == "blazeface") {
        let Some(graph) = zoo::build(name) else { continue };
        let (graph, sharing) = PassArgs::default().apply(graph, Layout::Shared)?;
        plan(record, name, &usage(&graph, Alignment::PORTABLE, &sharing)?.problem)?;
    }
    for shape in Synthetic::ALL.iter().filter(|_| !quick) {
        let name = format!("{} {SYNTHETIC_TENSORS}", shape.key());
        plan(record, &name, &shape.problem(SYNTHETIC_TENSORS, SEED)?)?;
    }
    Ok(())
}

/// Plans once to warm up and then some times for the median; every plan is judged.
fn plan(record: &mut Record, name: &str, problem: &Problem) -> Result<(), CliError> {
    say(&format!("plan {name}"));
    let mut times = Vec::new();
    let mut report = None;
    for _ in 0..=PLANS {
        let started = Instant::now();
        let plan = Planner::auto().plan(problem)?;
        times.push(started.elapsed().as_secs_f64());
        plan.validate(problem)?;
        report = Some(plan.report(problem));
    }
    let mut push =
        |metric: &str, value: f64, repeats| record.push("plan", name, metric, Some(value), repeats);
    if let Some(report) = report {
        push("naive_bytes", report.naive_bytes as f64, 1);
        push("max_load_bytes", report.max_load_bytes as f64, 1);
        push("peak_bytes", report.peak_bytes as f64, 1);
    }
    times.remove(0);
    push("plan_s", median(times), PLANS);
    Ok(())
}

/// The middle one, of an even number the upper.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// A check that fails ends the benchmark: what computes something else is not worth a time.
fn checked(output: Output) -> Result<Value, CliError> {
    output.failure.map_or(Ok(output.json), Err)
}

fn on_device(record: &mut Record, name: &str, args: &Args, runs: u32) -> Result<MemoryReport, CliError> {
    say(&format!("run {name}, 1 + {runs} times"));
    let target = TargetArgs { adapter: args.adapter.clone(), cpu: args.cpu, ..TargetArgs::default() };
    let model = format!("builtin:{name}");
    let args = network::Args { model, target, runs: runs as usize, ..network::Args::main_job() };
    let (output, memory) = network::weighed(&args, false)?;
    let json = checked(output)?;
    for metric in ["compile_s", "first_run_s", "encode_s"] {
        // The CPU executor encodes nothing.
        let time = json["timing"][metric].as_f64().filter(|s| *s > 0.0);
        record.push("run", name, metric, time, 1);
    }
    record.push("run", name, "run_s", json["timing"]["run_s"].as_f64(), runs);
    record.push("run", name, "dispatches", json["dispatches"].as_f64(), 1);
    for metric in [
        "naive_bytes",
        "max_load_bytes",
        "peak_bytes",
        "arena_bytes",
        "weights_bytes",
        "io_bytes",
        "other_bytes",
        "allocator_used_bytes",
        "allocator_reserved_bytes",
        "buffer_bytes",
        "driver_bytes",
    ] {
        record.push("memory", name, metric, json["memory"][metric].as_f64(), 1);
    }
    Ok(memory)
}

fn in_layouts(record: &mut Record, name: &str, args: &Args, runs: u32) -> Result<(), CliError> {
    say(&format!("layouts of {name}"));
    let model = format!("builtin:{name}");
    let json =
        checked(layouts::run(&layouts::Args::of(model, args.adapter.clone(), args.cpu, runs as usize))?)?;
    for row in json["layouts"].as_array().into_iter().flatten() {
        let subject = format!("{name} {}", row["layout"].as_str().unwrap_or(""));
        for metric in ["peak_bytes", "padding_bytes", "bindings", "pipelines", "barriers", "encode_s"] {
            record.push("layouts", &subject, metric, row[metric].as_f64(), 1);
        }
        record.push("layouts", &subject, "run_s", row["run_s"].as_f64(), runs);
    }
    Ok(())
}

/// What an allocation and its release cost, by profile and otherwise.
fn allocating(record: &mut Record, args: &Args) -> Result<(), CliError> {
    say("allocating");
    let (inputs, runs) =
        if args.quick { (vec!["builtin:blazeface".to_owned()], 11) } else { (Vec::new(), 101) };
    let json = checked(arena::run(&arena::Args::of(inputs, args.adapter.clone(), args.cpu, runs))?)?;
    for row in json["arena"].as_array().into_iter().flatten() {
        let subject = row["instance"].as_str().unwrap_or_default();
        record.push("arena", subject, "max_load_bytes", row["max_load_bytes"].as_f64(), 1);
        for way in ["replay", "overflow", "offset_allocator", "best_fit", "wgpu_buffers"] {
            let time = row[way]["ns"].as_f64().map(|ns| ns * 1e-9);
            record.push("arena", subject, &format!("{way}_s"), time, runs as u32);
            record.push("arena", subject, &format!("{way}_peak_bytes"), row[way]["peak_bytes"].as_f64(), 1);
        }
    }
    Ok(())
}

/// A line a number.
fn table(measurements: &[Measurement]) -> String {
    let mut text = String::new();
    for m in measurements {
        text.push_str(&format!("{:<8} {:<22} {:<27} {}\n", m.group, m.subject, m.metric, shown(m)));
    }
    text
}

/// A number with its unit, for people.
pub(super) fn shown(m: &Measurement) -> String {
    match m.unit.as_str() {
        "bytes" => mib(m.value as u64).trim().to_owned(),
        "s" => seconds(m.value),
        _ => format!("{}", m.value),
    }
}

#[cfg(test)]
mod tests {
    use super::{median, slug};
    use serde_json::json;

    #[test]
    fn folders_come_from_adapters() {
        let adapter = json!({ "name": "llvmpipe (LLVM 15.0.6, 256 bits)", "backend": "vulkan" });
        assert_eq!(slug(&adapter), "llvmpipe-llvm-15-0-6-256-bits-vulkan");
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 4.0);
    }
}
