//! PyTorch's memory snapshots as planning problems: what was allocated when, for how long, and from where.
//!
//! Read is the JSON form of what `torch.cuda.memory._dump_snapshot` pickles. Its `device_traces` hold, per
//! device, events in the order in which they happened; what has an `alloc` and a `free_completed` lived
//! between the two. A step is an allocation: what is freed before it does not meet it. What was there before
//! the trace begins lives from the first step on, what is never freed until the last.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use super::file::read_text;
use super::{Alignment, PlanError, Problem};

/// How to read a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Alignment of every block.
    pub alignment: Alignment,
    /// Whose trace; where none is named, the first device that has one.
    pub device: Option<usize>,
}

impl Default for Options {
    /// No alignment, the first device with a trace.
    fn default() -> Self {
        Options { alignment: Alignment::ONE, device: None }
    }
}

#[derive(Deserialize)]
struct Snapshot {
    device_traces: Vec<Vec<Event>>,
    #[serde(default)]
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Event {
    action: String,
    addr: Option<u64>,
    size: Option<u64>,
    #[serde(default)]
    frames: Option<Vec<Frame>>,
}

#[derive(Deserialize)]
struct Frame {
    #[serde(default)]
    filename: String,
    #[serde(default)]
    line: i64,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Segment {
    #[serde(default)]
    device: usize,
    #[serde(default)]
    address: Option<u64>,
    #[serde(default)]
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    size: u64,
    #[serde(default)]
    requested_size: Option<u64>,
    #[serde(default)]
    address: Option<u64>,
    state: String,
    #[serde(default)]
    frames: Option<Vec<Frame>>,
}

/// Reads a snapshot.
///
/// # Errors
/// [`PlanError::Snapshot`] with the event and what is wrong with it; [`PlanError::Io`].
pub fn read(path: &Path, options: Options) -> Result<Problem, PlanError> {
    parse(&read_text(path)?, &path.display().to_string(), options)
}

/// Whether a text is a snapshot rather than something else in JSON: it has traces in it.
pub fn is_snapshot(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Envelope {
        device_traces: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Envelope>(text).is_ok_and(|envelope| envelope.device_traces.is_some())
}

/// Like [`read`], from text; `file` is the name for errors.
///
/// # Errors
/// [`PlanError::Snapshot`] with the event and what is wrong with it.
pub fn parse(text: &str, file: &str, options: Options) -> Result<Problem, PlanError> {
    let error = |what: String| PlanError::Snapshot { file: file.to_owned(), what };
    let snapshot: Snapshot =
        serde_json::from_str(text).map_err(|e| error(format!("no memory snapshot in JSON: {e}")))?;
    let devices = snapshot.device_traces.len();
    let device = match options.device {
        Some(device) if device < devices => device,
        Some(device) => return Err(error(format!("device {device} of {devices} that have traces"))),
        None => snapshot.device_traces.iter().position(|trace| !trace.is_empty()).ok_or_else(|| {
            error("no device has a trace: record with torch.cuda.memory._record_memory_history()".to_owned())
        })?,
    };
    let trace = &snapshot.device_traces[device];
    let mut blocks = Blocks::default();
    for (at, event) in trace.iter().enumerate() {
        blocks.happen(event).map_err(|what| error(format!("device_traces[{device}][{at}]: {what}")))?;
    }
    blocks.stand(&snapshot.segments, device);
    blocks.problem(options.alignment)
}

/// A block of bytes that somebody held.
struct Held {
    label: String,
    bytes: u64,
    /// Allocations before it.
    first: u32,
    /// Allocations before it was freed; `None` while it is held.
    end: Option<u32>,
}

#[derive(Default)]
struct Blocks {
    held: Vec<Held>,
    /// By address, what is held there now.
    at: HashMap<u64, usize>,
    /// Whatever was allocated or freed in the trace: what stands there at the end is known already.
    seen: HashSet<u64>,
    allocations: u32,
}

impl Blocks {
    fn happen(&mut self, event: &Event) -> Result<(), String> {
        let missing = |what: &str| format!("'{}' without {what}", event.action);
        match event.action.as_str() {
            "alloc" => {
                let addr = event.addr.ok_or_else(|| missing("addr"))?;
                let bytes = event.size.ok_or_else(|| missing("size"))?;
                if let Some(before) = self.at.get(&addr) {
                    let label = &self.held[*before].label;
                    return Err(format!("address {addr:#x} is allocated while '{label}' holds it"));
                }
                let first = self.allocations;
                self.allocations = first.checked_add(1).filter(|n| *n < u32::MAX).ok_or("too many events")?;
                self.at.insert(addr, self.held.len());
                self.seen.insert(addr);
                self.held.push(Held {
                    label: label(event.frames.as_deref(), first),
                    bytes,
                    first,
                    end: None,
                });
            }
            "free_completed" => {
                let addr = event.addr.ok_or_else(|| missing("addr"))?;
                let first_seen = self.seen.insert(addr);
                match self.at.remove(&addr) {
                    Some(block) => self.held[block].end = Some(self.allocations),
                    // It was there before the trace; the event still knows how large it was.
                    None if first_seen => {
                        let bytes = event.size.ok_or_else(|| missing("size"))?;
                        let label = format!("before the trace {addr:#x}");
                        self.held.push(Held { label, bytes, first: 0, end: Some(self.allocations) });
                    }
                    None => return Err(format!("address {addr:#x} is freed and holds nothing")),
                }
            }
            // A block is held until its free is complete; segments are the allocator's own affair.
            _ => {}
        }
        Ok(())
    }

    /// Adds what stands in the segments at the end and that no event speaks of: it was there all along.
    fn stand(&mut self, segments: &[Segment], device: usize) {
        for segment in segments.iter().filter(|segment| segment.device == device) {
            let mut next = segment.address;
            for block in &segment.blocks {
                let address = block.address.or(next);
                next = address.and_then(|address| address.checked_add(block.size));
                let Some(address) =
                    address.filter(|a| block.state.starts_with("active") && !self.seen.contains(a))
                else {
                    continue;
                };
                let what = block.frames.as_deref().and_then(top).unwrap_or_else(|| format!("{address:#x}"));
                self.seen.insert(address);
                self.held.push(Held {
                    label: format!("before the trace {what}"),
                    bytes: block.requested_size.unwrap_or(block.size),
                    first: 0,
                    end: None,
                });
            }
        }
    }

    fn problem(self, alignment: Alignment) -> Result<Problem, PlanError> {
        let mut problem = Problem::new(alignment);
        let mut tries: HashMap<String, u32> = HashMap::new();
        let last_step = self.allocations.saturating_sub(1);
        for held in self.held {
            // One that is freed before the first allocation meets nothing of the trace.
            let Some(last) = held.end.map_or(Some(last_step), |end| end.checked_sub(1)) else { continue };
            // Many may come from one line; each try goes on where the last one of that label ended.
            let again = tries.entry(held.label.clone()).or_insert(0u32);
            let mut label = held.label.clone();
            while problem.lookup(&label).is_some() {
                *again += 1;
                label = format!("{} ({})", held.label, *again + 1);
            }
            problem.tensor(label, held.bytes, held.first..=last)?;
        }
        Ok(problem)
    }
}

/// The number of the allocation and where it was asked for.
fn label(frames: Option<&[Frame]>, number: u32) -> String {
    frames.and_then(top).map_or_else(|| format!("alloc {number}"), |place| format!("{number} {place}"))
}

/// The innermost frame that is no part of PyTorch itself, else the innermost.
fn top(frames: &[Frame]) -> Option<String> {
    let own = |frame: &&Frame| {
        let is_python = frame.filename.ends_with(".py");
        is_python && !frame.filename.contains("/torch/") && !frame.filename.contains("site-packages/torch")
    };
    let frame = frames.iter().find(own).or_else(|| frames.first())?;
    let file = frame.filename.rsplit(['/', '\\']).next().unwrap_or(&frame.filename);
    Some(match (file.is_empty(), frame.line) {
        (true, _) => frame.name.clone(),
        (false, line) if line > 0 => format!("{} {file}:{line}", frame.name),
        (false, _) => format!("{} {file}", frame.name),
    })
}
