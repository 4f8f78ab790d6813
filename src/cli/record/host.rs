//! What machine this is, as far as the system tells without being asked twice.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// The machine of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Host {
    /// Its name in `benches/record/`.
    pub machine: String,
    cpu: Option<String>,
    cores: Option<usize>,
    memory_bytes: Option<u64>,
    os: String,
    arch: String,
    /// Processes that wanted to run, over 1, 5 and 15 minutes, before the benchmark and after it.
    load_average_start: Option<[f64; 3]>,
    pub(super) load_average_end: Option<[f64; 3]>,
}

impl Host {
    /// This machine, under that name.
    pub(super) fn this(machine: &str) -> Self {
        Host {
            machine: machine.to_owned(),
            cpu: cpu(),
            cores: std::thread::available_parallelism().ok().map(usize::from),
            memory_bytes: memory_bytes(),
            os: os(),
            arch: std::env::consts::ARCH.to_owned(),
            load_average_start: load_average(),
            load_average_end: None,
        }
    }

    /// One line for people.
    pub(super) fn describe(&self) -> String {
        let cores = self.cores.map_or_else(String::new, |n| format!("{n} cores of "));
        let memory = self.memory_bytes.map_or_else(String::new, |b| format!(", {:.1} GiB", gib(b)));
        format!("{cores}{}{memory}; {}, {}", self.cpu.as_deref().unwrap_or("a CPU"), self.os, self.arch)
    }

    /// The load at both ends, for people.
    pub(super) fn load(&self) -> Option<String> {
        let one = |load: Option<[f64; 3]>| load.map(|[minute, ..]| format!("{minute:.2}"));
        Some(format!("{} to {}", one(self.load_average_start)?, one(self.load_average_end)?))
    }
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// A line `name : value` of a file as Linux has them.
fn field(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let value = line[name.len()..].trim_start().trim_start_matches([':', '=']).trim().trim_matches('"');
    Some(value.to_owned())
}

/// The first line that a program prints; `None` where it is not there or fails.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|o| o.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

fn cpu() -> Option<String> {
    match std::env::consts::OS {
        "linux" => field("/proc/cpuinfo", "model name"),
        "macos" => printed("sysctl", &["-n", "machdep.cpu.brand_string"]),
        _ => std::env::var("PROCESSOR_IDENTIFIER").ok(),
    }
}

fn memory_bytes() -> Option<u64> {
    match std::env::consts::OS {
        "linux" => {
            let kib = field("/proc/meminfo", "MemTotal")?;
            kib.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
        }
        "macos" => printed("sysctl", &["-n", "hw.memsize"])?.parse().ok(),
        _ => None,
    }
}

fn os() -> String {
    let known = match std::env::consts::OS {
        "linux" => field("/etc/os-release", "PRETTY_NAME"),
        "macos" => printed("sw_vers", &["-productVersion"]).map(|version| format!("macOS {version}")),
        "windows" => printed("cmd", &["/c", "ver"]),
        _ => None,
    };
    known.unwrap_or_else(|| std::env::consts::OS.to_owned())
}

/// Of Linux; elsewhere nothing says it as cheaply.
pub(super) fn load_average() -> Option<[f64; 3]> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let mut numbers = text.split(' ').map_while(|word| word.parse::<f64>().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// The commit that the program was built from (`SUBLET_COMMIT` at build time), else that of the checkout of
/// sublet it runs in.
pub(super) fn commit() -> Option<String> {
    if let Some(commit) = option_env!("SUBLET_COMMIT") {
        return Some(commit.to_owned());
    }
    let manifest = std::fs::read_to_string("Cargo.toml").ok()?;
    if !manifest.contains("name = \"sublet\"") {
        return None;
    }
    let commit = printed("git", &["rev-parse", "HEAD"])?;
    let changed = printed("git", &["status", "--porcelain", "--untracked-files=no"]).is_some();
    Some(if changed { format!("{commit}-dirty") } else { commit })
}
