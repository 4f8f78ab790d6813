//! `sublet audit`: the proof of reuse, and deliberate faults to prove the proof.

use super::Output;
use super::error::CliError;
use super::input::{ModelArgs, load_graph};
use super::run::{TargetArgs, prepare};
use super::target::Target;
use crate::exec::{Audit, MutationCounts};
use crate::plan::report::grouped;
use serde_json::{Value, json};
use std::fmt::Write;

/// Arguments of `audit`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  sublet audit builtin:mobilenet_v2
  sublet audit model.onnx --mutate 50 --json")]
pub struct Args {
    /// The network: an .onnx or .tflite file, or builtin:NAME
    #[arg(value_name = "MODEL")]
    pub model: String,
    #[command(flatten)]
    pub shapes: ModelArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Shift N offsets into live neighbours, one at a time, and demand that each is caught
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub mutate: usize,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Output, CliError> {
    let graph = load_graph(&args.model, &args.shapes)?;
    let target = Target::pick(args.target.cpu, args.target.adapter.as_deref())?;
    let ready = prepare(graph, &args.target, &target)?;
    let (audit, counts) = ready.compiled.audit(&ready.plan, &ready.inputs, args.mutate)?;
    let mut json = json(&audit, &counts);
    json["adapter"] = target.json();
    let name = &ready.compiled.program().graph.name;
    let text = text(&audit, &counts);
    let human = format!("network  {name}\nadapter  {}\n\nplan\n{}\n{text}", target.describe(), ready.report);
    let failure = (!passed(&audit, &counts)).then(|| CliError::check("audit", "the audit failed"));
    Ok(Output { human, json, failure })
}

fn passed(audit: &Audit, counts: &MutationCounts) -> bool {
    audit.ok() && counts.caught == counts.tried
}

/// The audit object of the JSON reports.
pub fn json(audit: &Audit, counts: &MutationCounts) -> Value {
    json!({
        "reuse_equals_no_reuse": audit.reuse_equals_no_reuse,
        "poison_equal": audit.poison_equal,
        "canaries_intact": audit.canaries_intact,
        "cpu_twin": {
            "max_abs_diff": audit.cpu_twin.max_abs_diff,
            "worst_share_of_tolerance": audit.cpu_twin.worst_share,
            "worst_node": audit.cpu_twin.worst_node,
            "ok": audit.cpu_twin.ok,
        },
        "legal": { "violations": audit.violations.iter().map(ToString::to_string).collect::<Vec<_>>() },
        "first_bad": audit.first_bad.as_ref().map(|bad| json!({
            "step": bad.step,
            "node": bad.node,
            "tensor": bad.tensor,
            "neighbour": bad.neighbour,
        })),
        "mutations": {
            "tried": counts.tried,
            "caught": counts.caught,
            "judge_caught": counts.judge_caught,
            "read_later": counts.read_later,
            "run_caught": counts.run_caught,
            "run_noticed": counts.run_noticed,
        },
        "tensors_compared": audit.tensors_compared,
        "steps_watched": audit.steps_watched,
        "guard_words": audit.guard_words,
        "ok": passed(audit, counts),
    })
}

/// The audit for people.
pub fn text(audit: &Audit, counts: &MutationCounts) -> String {
    let mut out = String::from("audit\n");
    let mut line = |ok: bool, text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {} {text}", if ok { "ok  " } else { "FAIL" });
    };
    line(
        audit.reuse_equals_no_reuse,
        format!(
            "reuse equals no reuse, bit for bit: {} tensors at the step that writes them",
            audit.tensors_compared
        ),
    );
    line(audit.poison_equal, "outputs unchanged under two poisons of dead bytes".to_owned());
    line(
        audit.canaries_intact,
        format!(
            "guard words intact: {} compared over {} steps",
            grouped(audit.guard_words),
            audit.steps_watched
        ),
    );
    let twin = &audit.cpu_twin;
    let node = twin.worst_node.as_deref().unwrap_or("none");
    let share = twin.worst_share * 100.0;
    line(
        twin.ok,
        format!(
            "CPU twins: largest difference {:.3e}; worst {share:.1} % of its tolerance at {node}",
            twin.max_abs_diff
        ),
    );
    line(audit.violations.is_empty(), format!("binding rules: {} violations", audit.violations.len()));
    for violation in &audit.violations {
        line(false, violation.to_string());
    }
    if let Some(bad) = &audit.first_bad {
        let beside = bad.neighbour.as_deref().map(|n| format!(", beside '{n}'")).unwrap_or_default();
        line(
            false,
            format!("first bad: step {} ('{}'), tensor '{}'{beside}", bad.step, bad.node, bad.tensor),
        );
    }
    if counts.tried > 0 {
        line(
            counts.caught == counts.tried,
            format!(
                "faults planted: {} tried, {} caught: the judge notices {}; the run {} of the {} whose \
                 bytes are read later, {} in all",
                counts.tried,
                counts.caught,
                counts.judge_caught,
                counts.run_caught,
                counts.read_later,
                counts.run_noticed
            ),
        );
    }
    out
}
