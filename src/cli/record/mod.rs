//! Records of benchmarks: what was measured, on what, by which program. docs/BENCHMARK.md says how.

pub(super) mod all;
mod date;
mod host;
mod page;
pub(super) mod report;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::CliError;
use crate::plan::file;

pub(super) use host::Host;

/// Names the format of a record's file.
const FORMAT: &str = "sublet-bench";
/// Counted up when a reader of older files would go wrong.
const VERSION: u32 = 1;

/// One run of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    format: String,
    version: u32,
    host: Host,
    /// What ran the kernels; none where nothing ran on a device.
    adapter: Option<Adapter>,
    program: Program,
    /// As it was typed.
    command: String,
    /// In UTC, RFC 3339.
    date: String,
    /// What the reader should know, in words.
    note: Option<String>,
    measurements: Vec<Measurement>,
}

/// An adapter as wgpu describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Adapter {
    name: String,
    backend: String,
    driver: String,
    #[serde(rename = "type")]
    kind: String,
}

/// What was measured with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Program {
    version: String,
    /// Of the sources, where they can be told; `-dirty` behind it where files were changed.
    commit: Option<String>,
    /// `release` or `debug`.
    build: String,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Measurement {
    /// `plan`, `layouts`, `run`, `memory`, ..
    pub group: String,
    /// What was measured: a network, with a layout where several are.
    pub subject: String,
    /// Which property of it.
    pub metric: String,
    /// `bytes`, `s` or `count`.
    pub unit: String,
    /// The number; of several repeats the median.
    pub value: f64,
    /// How often it was measured, warm-up aside; 1 for what does not vary.
    pub repeats: u32,
}

impl Record {
    /// A record of this program on this machine, without measurements.
    pub fn new(machine: &str, adapter: Option<&Value>, note: Option<String>) -> Self {
        let arguments = std::env::args().skip(1);
        Record {
            format: FORMAT.to_owned(),
            version: VERSION,
            host: Host::this(machine),
            adapter: adapter.and_then(|value| serde_json::from_value(value.clone()).ok()),
            program: Program {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                commit: host::commit(),
                build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            },
            command: ["sublet".to_owned()].into_iter().chain(arguments).collect::<Vec<_>>().join(" "),
            date: date::now(),
            note,
            measurements: Vec::new(),
        }
    }

    /// Adds a number; one that could not be told (`None`) is left out.
    pub fn push(&mut self, group: &str, subject: &str, metric: &str, value: Option<f64>, repeats: u32) {
        let unit = match metric {
            _ if metric.ends_with("_bytes") => "bytes",
            _ if metric.ends_with("_s") || metric == "seconds" => "s",
            _ => "count",
        };
        let Some(value) = value else { return };
        self.measurements.push(Measurement {
            group: group.to_owned(),
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            value,
            repeats,
        });
    }

    /// Notes the machine's load at the end.
    pub fn finish(&mut self) {
        self.host.load_average_end = host::load_average();
    }

    /// The record as an object.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// Where it goes below the current folder, unless told otherwise.
    pub fn path(&self) -> PathBuf {
        let day = self.date.get(..10).unwrap_or("undated");
        Path::new("benches/record").join(&self.host.machine).join(format!("{day}.json"))
    }

    /// Writes it under a temporary name and renames it.
    pub fn write(&self, path: &Path) -> Result<(), CliError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|e| CliError::input(format!("{}: {e}", folder.display())))?;
        }
        Ok(file::write_atomically(path, format!("{:#}\n", self.json()).as_bytes())?)
    }

    /// Reads one back.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let bad = |why: String| CliError::input(format!("{}: {why}", path.display()));
        let text = file::read_text(path)?;
        let record: Record = serde_json::from_str(&text).map_err(|e| bad(format!("no record: {e}")))?;
        match (record.format.as_str(), record.version) {
            (FORMAT, VERSION) => Ok(record),
            (FORMAT, version) => Err(bad(format!("a record of version {version}, known is {VERSION}"))),
            (format, _) => Err(bad(format!("format '{format}', due is '{FORMAT}'"))),
        }
    }
}

/// The name of a machine, which becomes a folder's.
pub(super) fn machine(text: &str) -> Result<String, String> {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if plain { Ok(text.to_owned()) } else { Err("use letters, digits, '-' and '_'".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::{Record, machine};
    use serde_json::json;

    #[test]
    fn a_machine_is_one_folder() {
        assert!(machine("../elsewhere").is_err() && machine("").is_err());
        let record = Record::new(&machine("laptop-2").unwrap(), None, None);
        assert!(record.path().starts_with("benches/record/laptop-2"));
    }

    #[test]
    fn records_come_back_as_they_went() {
        let adapter = json!({ "name": "a", "backend": "vulkan", "driver": "d", "type": "Cpu" });
        let mut record = Record::new("m", Some(&adapter), Some("alone".to_owned()));
        record.push("plan", "unet", "peak_bytes", Some(5.0), 1);
        record.push("plan", "unet", "plan_s", Some(0.5), 7);
        record.push("memory", "unet", "allocator_used_bytes", None, 1);
        record.finish();
        let units: Vec<&str> = record.measurements.iter().map(|m| m.unit.as_str()).collect();
        assert_eq!(units, ["bytes", "s"]);
        let back: Record = serde_json::from_value(record.json()).unwrap();
        assert_eq!(back, record);
        assert_eq!(back.adapter.unwrap().name, "a");
    }
}
