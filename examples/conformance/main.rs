//! Runs the operator tests of the ONNX project and counts, per operator, what passes. `scripts/conformance`
//! fetches them and calls this.
//!
//! Usage: conformance FOLDER [--device] [--update] [--case NAME] [--reasons]

mod case;
mod plain;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use case::{Case, Refusal, Verdict};
use sublet::exec::{CpuNetwork, Program};
use sublet::graph::Graph;
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner};

/// Cases that must pass, and the others with their reasons.
const EXPECTED: &str = "tests/data/conformance.txt";

/// How a case ended.
struct Judged {
    op: String,
    verdict: Verdict,
    /// Of float32, integers and bools alone.
    plain: bool,
}

/// What computes the cases.
enum Machine {
    Twins,
    #[cfg(feature = "gpu")]
    Device(device::Device),
}

impl Machine {
    fn run(&self, graph: Graph, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, Refusal> {
        match self {
            Machine::Twins => twins(graph, inputs),
            #[cfg(feature = "gpu")]
            Machine::Device(device) => device.run(graph, inputs),
        }
    }
}

fn twins(graph: Graph, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, Refusal> {
    let failed = |e: &dyn std::fmt::Display| Refusal::Failed(e.to_string());
    let limits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
    let alignment = Alignment::new(256).map_err(|e| failed(&e))?;
    let program = Program::new(graph, alignment, limits).map_err(|e| Refusal::Unsupported(e.to_string()))?;
    let plan = Planner::auto().plan(&program.usage.problem).map_err(|e| failed(&e))?;
    let mut network = CpuNetwork::new(Arc::new(program), &plan).map_err(|e| failed(&e))?;
    network.run(inputs).map_err(|e| failed(&e))
}

#[cfg(feature = "gpu")]
mod device {
    use super::Refusal;
    use std::sync::Arc;
    use sublet::device::{DeviceLimits, block_on};
    use sublet::exec::{Network, Program, Resident};
    use sublet::graph::Graph;
    use sublet::kernel::LowerLimits;
    use sublet::plan::{Alignment, Planner};

    /// One device for all cases.
    pub struct Device {
        device: wgpu::Device,
        queue: wgpu::Queue,
    }

    /// Nothing here waits for a device: the first poll has the answer.
    fn at_once<T>(future: impl Future<Output = T>) -> T {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut future = std::pin::pin!(future);
        loop {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
        }
    }

    impl Device {
        pub fn open() -> Result<Self, String> {
            let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends: wgpu::Backends::VULKAN,
                ..wgpu::InstanceDescriptor::new_without_display_handle()
            });
            let adapters = at_once(instance.enumerate_adapters(wgpu::Backends::VULKAN));
            let adapter = adapters.first().ok_or("no Vulkan adapter on this machine")?;
            let wanted = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
            let (device, queue) = at_once(adapter.request_device(&wanted)).map_err(|e| e.to_string())?;
            println!("device: {}", adapter.get_info().name);
            Ok(Device { device, queue })
        }

        pub fn run(&self, graph: Graph, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, Refusal> {
            let failed = |e: &dyn std::fmt::Display| Refusal::Failed(e.to_string());
            let limits = DeviceLimits::new(&self.device.limits());
            let lower = LowerLimits {
                max_binding_bytes: limits.max_binding_bytes,
                max_workgroups: limits.max_workgroups,
            };
            let alignment = Alignment::new(limits.storage_alignment_bytes).map_err(|e| failed(&e))?;
            let program =
                Program::new(graph, alignment, lower).map_err(|e| Refusal::Unsupported(e.to_string()))?;
            let planner =
                program.layout.limit(Planner::auto(), limits.max_buffer_bytes, limits.max_binding_bytes);
            let plan = planner.plan(&program.usage.problem).map_err(|e| failed(&e))?;
            let resident = Resident::new(&self.device, &self.queue, Arc::new(program));
            let resident = Arc::new(block_on(&self.device, resident).map_err(|e| failed(&e))?);
            let network = block_on(&self.device, Network::new(resident, &plan)).map_err(|e| failed(&e))?;
            block_on(&self.device, network.run(inputs)).map_err(|e| failed(&e))
        }
    }
}

struct Options {
    folder: PathBuf,
    device: bool,
    update: bool,
    reasons: bool,
    only: Option<String>,
}

fn options() -> Result<Options, String> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the folder of the cases is missing")?.into();
    let mut options = Options { folder, device: false, update: false, reasons: false, only: None };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--device" => options.device = true,
            "--update" => options.update = true,
            "--reasons" => options.reasons = true,
            "--case" => options.only = Some(arguments.next().ok_or("--case needs a name")?),
            other => return Err(format!("unknown argument '{other}'")),
        }
    }
    Ok(options)
}

#[cfg(feature = "gpu")]
fn machine(device: bool) -> Result<Machine, String> {
    Ok(if device { Machine::Device(device::Device::open()?) } else { Machine::Twins })
}

#[cfg(not(feature = "gpu"))]
fn machine(device: bool) -> Result<Machine, String> {
    if device { Err("built without the feature gpu".into()) } else { Ok(Machine::Twins) }
}

/// A case, run so that a panic of one does not end the others.
fn judge(folder: &Path, machine: &Machine) -> Judged {
    let work = || match Case::load(folder) {
        Ok(case) => {
            let verdict = case.judge(|graph, inputs| machine.run(graph, inputs));
            Judged { op: case.op.clone(), verdict, plain: plain::is_plain(&case.graph) }
        }
        Err((op, what)) => Judged { op, verdict: Verdict::Unsupported(what), plain: false },
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(_) => Judged { op: "unknown".into(), verdict: Verdict::Failed("panicked".into()), plain: true },
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(what) => {
            eprintln!("conformance: {what}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, String> {
    let options = options()?;
    let machine = machine(options.device)?;
    let entries = std::fs::read_dir(&options.folder).map_err(|e| format!("{:?}: {e}", options.folder))?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    if let Some(only) = &options.only {
        folders.retain(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy() == *only));
    }
    let mut results = BTreeMap::new();
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        results.insert(name, judge(folder, &machine));
    }
    print(&results, options.reasons || options.only.is_some());
    if options.update {
        std::fs::write(EXPECTED, listing(&results)).map_err(|e| format!("{EXPECTED}: {e}"))?;
        println!("written to {EXPECTED}");
        return Ok(true);
    }
    let expected = std::fs::read_to_string(EXPECTED).map_err(|e| format!("{EXPECTED}: {e}"))?;
    Ok(options.only.is_some() || holds(&expected, &results))
}

/// Whether every case that is listed as passing passes; names those that do not, and those that newly do.
fn holds(expected: &str, results: &BTreeMap<String, Judged>) -> bool {
    let due: Vec<&str> = expected.lines().filter_map(|line| line.strip_prefix("pass ")).collect();
    let mut good = true;
    for name in &due {
        match results.get(*name) {
            Some(Judged { verdict: Verdict::Passed, .. }) => {}
            Some(Judged { verdict, .. }) => {
                println!("expected to pass: {name}: {verdict:?}");
                good = false;
            }
            None => {
                println!("expected to pass, not among the cases: {name}");
                good = false;
            }
        }
    }
    let new =
        |(name, case): &(&String, &Judged)| case.verdict == Verdict::Passed && !due.contains(&name.as_str());
    let new: Vec<_> = results.iter().filter(new).map(|(name, _)| name.as_str()).collect();
    if !new.is_empty() {
        println!("passing and not yet listed (--update lists them): {} cases", new.len());
    }
    println!("expected to pass: {}, {}", due.len(), if good { "all do" } else { "NOT all do" });
    good
}

fn print(results: &BTreeMap<String, Judged>, reasons: bool) {
    let mut ops: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut total = [0; 3];
    for (name, Judged { op, verdict, .. }) in results {
        let column = match verdict {
            Verdict::Passed => 0,
            Verdict::Failed(_) => 1,
            Verdict::Unsupported(_) => 2,
        };
        ops.entry(op).or_default()[column] += 1;
        total[column] += 1;
        match verdict {
            Verdict::Failed(what) => println!("FAILED {name}: {what}"),
            Verdict::Unsupported(what) if reasons => println!("unsupported {name}: {what}"),
            _ => {}
        }
    }
    println!("{:<28} {:>7} {:>7} {:>12}", "operator", "passed", "failed", "unsupported");
    for (op, [passed, failed, unsupported]) in ops {
        println!("{op:<28} {passed:>7} {failed:>7} {unsupported:>12}");
    }
    println!("{:<28} {:>7} {:>7} {:>12}", "total", total[0], total[1], total[2]);
    let passed = |case: &&Judged| case.verdict == Verdict::Passed;
    let known: BTreeSet<&str> = results.values().filter(passed).map(|case| case.op.as_str()).collect();
    let plain: Vec<_> = results.values().filter(|c| c.plain && known.contains(c.op.as_str())).collect();
    let good = plain.iter().filter(|case| case.verdict == Verdict::Passed).count();
    println!(
        "of float32, integers and bools alone, operators of which any case passes: {good} of {} ({:.1} %)",
        plain.len(),
        100.0 * good as f64 / plain.len().max(1) as f64
    );
}

/// The file of expectations.
fn listing(results: &BTreeMap<String, Judged>) -> String {
    let mut text = String::from(
        "# Operator tests of onnx 1.17.0: those that pass, and why the others do not. Written by\n\
         # scripts/conformance --update; scripts/conformance fails where one that passed does not.\n",
    );
    for (name, Judged { verdict, .. }) in results {
        let line = match verdict {
            Verdict::Passed => format!("pass {name}\n"),
            Verdict::Failed(what) => format!("fail {name}: {what}\n"),
            Verdict::Unsupported(what) => format!("unsupported {name}: {}\n", what.replace('\n', " ")),
        };
        text.push_str(&line);
    }
    text
}
