//! The memory chain: from the lower bound to what the system says, each gap explained.

use super::{Ledger, MemoryWitness, resident_peak_bytes};
use crate::plan::Report;
use crate::plan::report::{grouped, mib};
use serde_json::{Value, json};

/// Bytes of intermediates: what a plan says before anything is allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlannedBytes {
    /// Without any reuse.
    pub naive_bytes: u64,
    /// Most live bytes: no plan is below.
    pub max_load_bytes: u64,
    /// What the plan needs.
    pub peak_bytes: u64,
}

impl From<&Report> for PlannedBytes {
    fn from(plan: &Report) -> Self {
        PlannedBytes {
            naive_bytes: plan.naive_bytes,
            max_load_bytes: plan.max_load_bytes,
            peak_bytes: plan.peak_bytes,
        }
    }
}

/// What is held, link by link: max load <= peak <= arenas <= used by the allocator <= reserved by it <= what
/// the driver says. The first three are counted here, the others are witnesses and may be silent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// The plan's numbers.
    pub planned: PlannedBytes,
    /// All arenas.
    pub arena_bytes: u64,
    /// All weights.
    pub weights_bytes: u64,
    /// Inputs and outputs.
    pub io_bytes: u64,
    /// Parameters, readback staging and the like.
    pub other_bytes: u64,
    /// Allocator and driver, minus what they said before.
    pub witness: MemoryWitness,
    /// Largest resident set of the process, where the system tells.
    pub rss_peak_bytes: Option<u64>,
    /// What is held by name: arenas, sessions, regions of a recorder, with high-water marks.
    pub ledger: Ledger,
}

impl MemoryReport {
    /// A report of a plan's arenas; the rest is filled in field by field. Takes the resident set now.
    pub fn new(planned: impl Into<PlannedBytes>, arena_bytes: u64) -> Self {
        MemoryReport {
            planned: planned.into(),
            arena_bytes,
            rss_peak_bytes: resident_peak_bytes(),
            ..MemoryReport::default()
        }
    }

    /// Weights, arenas, inputs and outputs: what peers are compared by.
    pub fn network_bytes(&self) -> u64 {
        self.arena_bytes + self.weights_bytes + self.io_bytes
    }

    /// Everything that was allocated.
    pub fn ledger_bytes(&self) -> u64 {
        self.network_bytes() + self.other_bytes
    }

    /// Links of the chain that are larger than the next one, by name: none, unless something is miscounted.
    /// A witness that does not tell is passed over.
    pub fn broken_links(&self) -> Vec<(&'static str, &'static str)> {
        let chain = [
            ("max load", Some(self.planned.max_load_bytes)),
            ("peak", Some(self.planned.peak_bytes)),
            ("arenas", Some(self.arena_bytes)),
            ("allocator used", self.witness.used_bytes),
            ("allocator reserved", self.witness.reserved_bytes),
        ];
        let told: Vec<_> = chain.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).collect();
        told.windows(2).filter(|pair| pair[0].1 > pair[1].1).map(|pair| (pair[0].0, pair[1].0)).collect()
    }

    /// The report as a JSON object.
    pub fn json(&self) -> Value {
        json!({
            "naive_bytes": self.planned.naive_bytes,
            "max_load_bytes": self.planned.max_load_bytes,
            "peak_bytes": self.planned.peak_bytes,
            "arena_bytes": self.arena_bytes,
            "weights_bytes": self.weights_bytes,
            "io_bytes": self.io_bytes,
            "other_bytes": self.other_bytes,
            "allocator_used_bytes": self.witness.used_bytes,
            "allocator_reserved_bytes": self.witness.reserved_bytes,
            "buffer_bytes": self.witness.buffer_bytes,
            "driver_bytes": self.witness.driver_bytes,
            "rss_peak_bytes": self.rss_peak_bytes,
            "rows": self.ledger.rows(),
            "most_used_bytes": self.ledger.most_used_bytes(),
            "most_reserved_bytes": self.ledger.most_reserved_bytes(),
        })
    }
}

/// One line a link, with the step from the link before; then one a row, where there are several.
impl std::fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PlannedBytes { naive_bytes, max_load_bytes, peak_bytes } = self.planned;
        let mut line = |name: &str, bytes: Option<u64>, note: String| {
            let shown = bytes.map_or_else(|| format!("{:>36}", "not told by this backend"), mib);
            writeln!(f, "  {name:<30} {shown}  {note}")
        };
        let note = |bytes: Option<u64>, from: Option<u64>, why| match (bytes, from) {
            (Some(bytes), Some(from)) => gap(why, from, bytes),
            _ => String::new(),
        };
        let MemoryWitness { used_bytes: used, reserved_bytes: reserved, driver_bytes: driver, .. } =
            self.witness;
        let network = self.network_bytes();
        line("naive total, no reuse", Some(naive_bytes), times(naive_bytes, peak_bytes))?;
        line("max load (lower bound)", Some(max_load_bytes), String::new())?;
        line("peak of the plan", Some(peak_bytes), gap("gap to the max load", max_load_bytes, peak_bytes))?;
        line("arenas", Some(self.arena_bytes), gap("rounding to words", peak_bytes, self.arena_bytes))?;
        line("+ weights", Some(self.weights_bytes), String::new())?;
        line("+ inputs and outputs", Some(self.io_bytes), String::new())?;
        line("= weights + arenas + in/out", Some(network), format!("{:.2} MB (10^6)", network as f64 / 1e6))?;
        line("+ parameters, staging", Some(self.other_bytes), String::new())?;
        line("allocator: used", used, note(used, Some(self.ledger_bytes()), "wgpu's own and rounding"))?;
        line("allocator: reserved", reserved, note(reserved, used, "free space in its blocks"))?;
        line("driver", driver, note(driver, reserved, "what else the process holds on it"))?;
        let here = "this process, host data included".to_owned();
        line("resident set, peak", self.rss_peak_bytes, here)?;
        let rows = self.ledger.rows();
        for row in rows.iter().filter(|_| rows.len() > 1) {
            let most = format!("used {}, at most {}", grouped(row.used_bytes), grouped(row.most_used_bytes));
            line(&row.label, Some(row.reserved_bytes), most)?;
        }
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> MemoryReport {
        let planned = PlannedBytes { naive_bytes: 400, max_load_bytes: 90, peak_bytes: 100 };
        let witness =
            MemoryWitness { used_bytes: Some(130), reserved_bytes: Some(160), ..Default::default() };
        MemoryReport { weights_bytes: 20, other_bytes: 8, witness, ..MemoryReport::new(planned, 100) }
    }

    #[test]
    fn every_gap_is_said() {
        let text = report().to_string();
        for part in ["4.00 times the peak", "+10 (11.11 %): gap", "+2 (1.56 %): wgpu's own", "+30 (23.08 %)"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.lines().any(|l| l.contains("driver") && l.contains("not told")));
        assert_eq!(text.lines().count(), 12);
    }

    #[test]
    fn rows_are_listed_and_counted() {
        let mut report = report();
        report.ledger.set("session a", 60, 64);
        report.ledger.set("session b", 10, 64);
        report.ledger.set("session a", 0, 0);
        let json = report.json();
        assert_eq!(
            (json["most_used_bytes"].as_u64(), json["most_reserved_bytes"].as_u64()),
            (Some(70), Some(128))
        );
        assert_eq!(json["rows"][0]["most_used_bytes"], 60);
        assert_eq!((json["driver_bytes"].as_u64(), json["naive_bytes"].as_u64()), (None, Some(400)));
        assert!(report.to_string().contains("session b"));
    }

    #[test]
    fn a_broken_chain_is_named() {
        let mut report = report();
        assert_eq!(report.broken_links(), []);
        report.witness.used_bytes = Some(99);
        assert_eq!(report.broken_links(), [("arenas", "allocator used")]);
        report.witness = MemoryWitness::default();
        assert_eq!(report.broken_links(), []);
    }
}
