//! Floor 4, the command line: reads arguments, calls the floors below, prints for people or (`--json`) for
//! machines.

#![allow(clippy::result_large_err, reason = "an error ends the program: its size costs nothing")]

mod adapter;
mod arena;
mod audit;
mod bar;
mod bench;
mod compare;
mod devices;
mod draw;
mod error;
mod explain;
mod format;
mod input;
mod layouts;
mod models;
mod papers;
mod passes;
mod plan;
mod profiles;
mod record;
mod run;
mod target;
mod tensors;
mod units;
mod validate;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use serde_json::Value;

pub use error::CliError;

/// The GPU-aware device arena manager: plans, holds and proves shared memory for a network's tensors.
#[derive(Debug, Parser)]
#[command(name = "sublet", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one JSON object on stdout and nothing else there.
    #[arg(long, global = true)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  sublet                                      run and prove a built-in network on the best adapter
  sublet run model.onnx --expect 0=out.npy
  sublet audit model.onnx --mutate 50
  sublet plan network.csv --align 256 --out plan.json
  sublet compare networks/*.csv
  sublet validate plan.json
  sublet draw model.onnx -o map.html          the arenas as a picture
  sublet explain model.onnx                   what is the peak made of, what would lower it?
  sublet plan model.onnx --profile all        does it fit devices one does not own?
  sublet bench --all                          measure this machine, and write a record

INPUT is a usage-record .csv (id,lower,upper,size), a plan or a PyTorch memory snapshot (.json), a model, or
builtin:NAME.
Exit codes: 0 good, 1 a check failed, 2 bad usage or input. Logs: RUST_LOG=info.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Plan, validate, report.
    Plan(plan::Args),
    /// Every strategy side by side: offsets and shared objects, with their bounds.
    Compare(compare::Args),
    /// The judge alone: names the first overlap.
    Validate(validate::Args),
    /// The arenas as a picture: SVG, a page, a trace, or here.
    Draw(draw::Args),
    /// What the peak is made of, and what would lower it.
    Explain(explain::Args),
    /// Plan, execute, verify, measure.
    Run(run::Args),
    /// The proof of reuse; with --mutate, deliberate faults that must be caught.
    Audit(audit::Args),
    /// What planning, allocating, layouts and runs cost on this machine; --all writes a record.
    Bench(bench::Args),
    /// Adapters of this machine with the limits and features that matter.
    Devices,
    /// Built-in networks: tensors, naive total, max load.
    Models,
}

/// What a command has to say.
struct Output {
    /// For people, with its line ends.
    human: String,
    /// For machines: an object.
    json: Value,
    /// A check that failed: goes beside the rest, and sets the exit code.
    failure: Option<CliError>,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    env_logger::init();
    run(std::env::args_os().collect())
}

fn run(arguments: Vec<OsString>) -> ExitCode {
    // Known even where the other arguments are not understood.
    let wants_json = arguments.iter().take_while(|a| *a != "--").any(|a| a == "--json");
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return write(&e.render().to_string(), 0);
        }
        Err(e) if wants_json => return print_error(&CliError::usage(&e.render().to_string()), true),
        Err(e) => {
            eprint!("{}", e.render());
            return ExitCode::from(2);
        }
    };
    let result = match &cli.command {
        Some(Command::Plan(args)) => plan::run(args, cli.json),
        Some(Command::Compare(args)) => compare::run(args),
        Some(Command::Validate(args)) => validate::run(args),
        Some(Command::Draw(args)) => draw::run(args, cli.json),
        Some(Command::Explain(args)) => explain::run(args),
        Some(Command::Run(args)) => run::run(args, false),
        Some(Command::Audit(args)) => audit::run(args),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Devices) => devices::run(),
        Some(Command::Models) => models::run(),
        None => run::run(&run::Args::main_job(), true),
    };
    match result {
        Err(error) => print_error(&error, cli.json),
        Ok(output) => print_output(output, cli.json),
    }
}

fn print_output(output: Output, json: bool) -> ExitCode {
    let Output { human, json: mut object, failure } = output;
    let code = failure.as_ref().map_or(0, CliError::exit_code);
    if json {
        if let (Some(failure), Some(object)) = (&failure, object.as_object_mut()) {
            object.insert("error".to_owned(), failure.to_json());
        }
        return write(&format!("{object:#}\n"), code);
    }
    let exit = write(&human, code);
    if let Some(failure) = failure {
        eprintln!("error: {failure}");
    }
    exit
}

fn print_error(error: &CliError, json: bool) -> ExitCode {
    if json {
        return write(&format!("{:#}\n", serde_json::json!({ "error": error.to_json() })), error.exit_code());
    }
    eprintln!("error: {error}");
    ExitCode::from(error.exit_code())
}

/// Writes to stdout; a reader that went away (`sublet .. | head`) is no error.
fn write(text: &str, code: u8) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to stdout: {e}");
            ExitCode::from(2)
        }
        _ => ExitCode::from(code),
    }
}
