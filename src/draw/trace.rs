//! Chrome's trace format, which Perfetto reads too: a counter of live and one of reserved bytes, and a slice
//! for every tensor. A step is a millisecond; a plan is a process.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Picture;
use super::rows::rows;

/// Microseconds of a step.
const STEP_US: u64 = 1000;
/// The row of the steps' own slices; those of tensors follow.
const STEPS_TID: u32 = 0;

/// The trace of one or several plans, as JSON.
pub fn write(pictures: &[Picture]) -> String {
    let mut text = String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    let mut events = Events { text: &mut text, any: false };
    for (pid, picture) in (1u32..).zip(pictures) {
        process(&mut events, pid, picture);
    }
    text.push_str("\n]}\n");
    text
}

struct Events<'a> {
    text: &'a mut String,
    any: bool,
}

impl Events<'_> {
    /// One event a line, so that files can be compared.
    fn push(&mut self, event: &Value) {
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{}{event}", if self.any { ",\n" } else { "" });
        self.any = true;
    }
}

fn process(events: &mut Events, pid: u32, picture: &Picture) {
    events.push(&named(pid, "process_name", 0, &picture.title));
    counters(events, pid, picture);
    if !picture.steps.is_empty() {
        events.push(&named(pid, "thread_name", STEPS_TID, "steps"));
        for (step, what) in (0u64..).zip(&picture.steps) {
            events.push(&json!({
                "ph": "X", "pid": pid, "tid": STEPS_TID, "ts": step * STEP_US, "dur": STEP_US,
                "name": what.name, "cat": "step", "args": { "op": what.op },
            }));
        }
    }
    let intervals: Vec<(u32, u32)> = picture.records.iter().map(|r| (r.first, r.last + 1)).collect();
    let row_of = rows(&intervals);
    let count = row_of.iter().max().map_or(0, |row| row + 1);
    for row in 0..count {
        events.push(&named(pid, "thread_name", row + 1, &format!("tensors {row}")));
    }
    for ((record, place), row) in picture.records.iter().zip(&picture.places).zip(row_of) {
        let mut args = json!({
            "bytes": record.size_bytes,
            "arena": place.arena,
            "offset": place.offset_bytes,
            "first": record.first,
            "last": record.last,
        });
        if !record.shape.is_empty() {
            args["shape"] = json!(record.shape);
        }
        if let Some(op) = picture.op(record.first) {
            args["op"] = json!(op);
        }
        if let Some(base) = record.view_of {
            args["view_of"] = json!(picture.records[base as usize].name);
        }
        events.push(&json!({
            "ph": "X", "pid": pid, "tid": row + 1, "ts": u64::from(record.first) * STEP_US,
            "dur": u64::from(record.last + 1 - record.first) * STEP_US,
            "name": record.name, "cat": "tensor", "args": args,
        }));
    }
}

/// Live bytes wherever they change, reserved bytes at both ends.
fn counters(events: &mut Events, pid: u32, picture: &Picture) {
    let end = u64::from(picture.step_count());
    let mut before = None;
    for (step, bytes) in (0u64..).zip(&picture.load) {
        if before.replace(*bytes) != Some(*bytes) {
            events.push(&counter(pid, "live bytes", step, *bytes));
        }
    }
    events.push(&counter(pid, "live bytes", end, 0));
    events.push(&counter(pid, "reserved bytes", 0, picture.report.peak_bytes));
    events.push(&counter(pid, "reserved bytes", end, picture.report.peak_bytes));
}

fn counter(pid: u32, name: &str, step: u64, bytes: u64) -> Value {
    json!({ "ph": "C", "pid": pid, "ts": step * STEP_US, "name": name, "args": { "bytes": bytes } })
}

/// The name of a process or a row.
fn named(pid: u32, kind: &str, tid: u32, name: &str) -> Value {
    json!({ "ph": "M", "pid": pid, "tid": tid, "name": kind, "args": { "name": name } })
}
