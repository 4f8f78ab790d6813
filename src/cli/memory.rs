//! The memory chain: from the lower bound to what the system says, each gap explained.

use super::target::Held;
use crate::device::resident_peak_bytes;
use crate::plan::Report;
use crate::plan::report::{grouped, mib};
use serde_json::{Value, json};
use std::fmt::Write;

/// The `memory` object of the JSON reports.
pub fn json(plan: &Report, held: &Held) -> Value {
    json!({
        "naive_bytes": plan.naive_bytes,
        "max_load_bytes": plan.max_load_bytes,
        "peak_bytes": plan.peak_bytes,
        "arena_bytes": held.arena_bytes,
        "weights_bytes": held.weights_bytes,
        "io_bytes": held.io_bytes,
        "other_bytes": held.other_bytes,
        "allocator_used_bytes": held.witness.used_bytes,
        "allocator_reserved_bytes": held.witness.reserved_bytes,
        "driver_bytes": Value::Null,
        "rss_peak_bytes": resident_peak_bytes(),
    })
}

/// The same for people: one line a link, with the step from the link before.
pub fn table(plan: &Report, held: &Held) -> String {
    let mut out = String::new();
    let mut line = |name: &str, bytes: Option<u64>, note: String| {
        let shown = bytes.map_or_else(|| format!("{:>36}", "not told by this backend"), mib);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {name:<30} {shown}  {note}");
    };
    let network = held.arena_bytes + held.weights_bytes + held.io_bytes;
    let ledger = network + held.other_bytes;
    line("naive total, no reuse", Some(plan.naive_bytes), times(plan.naive_bytes, plan.peak_bytes));
    line("max load (lower bound)", Some(plan.max_load_bytes), String::new());
    line(
        "peak of the plan",
        Some(plan.peak_bytes),
        gap("gap to the max load", plan.max_load_bytes, plan.peak_bytes),
    );
    line("arenas", Some(held.arena_bytes), gap("rounding to words", plan.peak_bytes, held.arena_bytes));
    line("+ weights", Some(held.weights_bytes), String::new());
    line("+ inputs and outputs", Some(held.io_bytes), String::new());
    line("= weights + arenas + in/out", Some(network), format!("{:.2} MB (10^6)", network as f64 / 1e6));
    line("+ parameters, staging", Some(held.other_bytes), String::new());
    let used = held.witness.used_bytes;
    let note = |bytes: Option<u64>, from: Option<u64>, why| match (bytes, from) {
        (Some(bytes), Some(from)) => gap(why, from, bytes),
        _ => String::new(),
    };
    line("allocator: used", used, note(used, Some(ledger), "wgpu's own and rounding"));
    let reserved = held.witness.reserved_bytes;
    line("allocator: reserved", reserved, note(reserved, used, "free space in its blocks"));
    line("driver", None, String::new());
    line("resident set, peak", resident_peak_bytes(), "this process, host data included".to_owned());
    out
}

fn gap(what: &str, from: u64, to: u64) -> String {
    let sign = if to < from { "-" } else { "+" };
    let share = if from == 0 { 0.0 } else { to.abs_diff(from) as f64 / from as f64 * 100.0 };
    format!("{sign}{} ({share:.2} %): {what}", grouped(to.abs_diff(from)))
}

fn times(naive: u64, peak: u64) -> String {
    match peak {
        0 => String::new(),
        _ => format!("{:.2} times the peak", naive as f64 / peak as f64),
    }
}
