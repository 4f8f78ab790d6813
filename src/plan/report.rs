//! A plan in numbers: peak beside max load and naive total, and what sets the peak.

use std::fmt::Write as _;

use super::{Effort, Plan, Planner, Problem, Strategy, bound};

/// One arena of a report.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ArenaReport {
    /// Its size.
    pub bytes: u64,
}

/// What a plan comes to; serialises to the keys of `sublet plan --json`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Number of tensors.
    pub tensors: usize,
    /// Number of steps.
    pub steps: u32,
    /// Sum of all sizes, bytes.
    pub naive_bytes: u64,
    /// Most live bytes at any step.
    pub max_load_bytes: u64,
    /// Sum of all arenas, bytes.
    pub peak_bytes: u64,
    /// Bytes that rounding up to the alignment takes at the step at which they are most.
    pub padding_bytes: u64,
    /// (peak - max load) / max load; 0 where there is no load.
    pub gap: f64,
    /// Whether no plan can be better.
    pub optimal: bool,
    /// Why no plan can be better, where that is proven: `max load`, `aligned load`, `pins`, `exact fill` or
    /// `exhausted`.
    pub proof: Option<String>,
    /// What no plan can undercut, bytes.
    pub lower_bound_bytes: u64,
    /// Key of the strategy.
    pub strategy: String,
    /// How tensors are spread over buffers.
    pub layout: String,
    /// Alignment of tensors that set none of their own, bytes.
    pub alignment: u64,
    /// Every arena.
    pub arenas: Vec<ArenaReport>,
    /// Time the planner took, where the caller measured it.
    pub seconds: Option<f64>,
    /// First step at which the load is highest.
    pub peak_step: Option<u32>,
    /// Labels of the tensors live at that step, largest first.
    pub peak_tensors: Vec<String>,
    /// Labels of the tensors that survive the run.
    pub kept_tensors: Vec<String>,
    /// Bytes by which keeping them raises the peak, against one arena by the same strategy without.
    pub keep_cost_bytes: u64,
}

impl Report {
    pub(super) fn new(plan: &Plan, problem: &Problem) -> Self {
        let labels = |ids: &[super::TensorId]| {
            ids.iter().map(|id| problem.tensors()[id.index()].label().to_owned()).collect()
        };
        let peak = bound::peak(problem);
        let max_load_bytes = bound::max_load(problem);
        let over = plan.peak_bytes().saturating_sub(max_load_bytes);
        let kept: Vec<String> =
            problem.tensors().iter().filter(|t| t.is_kept()).map(|t| t.label().to_owned()).collect();
        Report {
            tensors: problem.len(),
            steps: problem.steps(),
            naive_bytes: problem.naive_bytes(),
            max_load_bytes,
            peak_bytes: plan.peak_bytes(),
            padding_bytes: plan.padding_bytes(),
            gap: if max_load_bytes == 0 { 0.0 } else { over as f64 / max_load_bytes as f64 },
            optimal: plan.is_optimal(),
            proof: plan.proof().map(|proof| proof.key().to_owned()),
            lower_bound_bytes: plan.lower_bound_bytes(),
            strategy: plan.strategy().key().to_owned(),
            layout: "shared".to_owned(),
            alignment: problem.alignment().bytes(),
            arenas: plan.arenas().iter().map(|bytes| ArenaReport { bytes: *bytes }).collect(),
            seconds: None,
            peak_step: peak.as_ref().map(|(step, _)| step.index() as u32),
            peak_tensors: peak.as_ref().map(|(_, ids)| labels(ids)).unwrap_or_default(),
            keep_cost_bytes: if kept.is_empty() { 0 } else { keep_cost(plan, problem) },
            kept_tensors: kept,
        }
    }

    /// The same report with the time that planning took.
    pub fn with_seconds(mut self, seconds: f64) -> Self {
        self.seconds = Some(seconds);
        self
    }
}

fn keep_cost(plan: &Plan, problem: &Problem) -> u64 {
    let planner = match plan.strategy() {
        // What the search took so long for once is not worth as much a second time.
        Strategy::Search => Planner::auto().effort(Effort::Fast),
        strategy => Planner::new(strategy),
    };
    let without = planner.plan(&problem.without_keep());
    without.map_or(0, |w| plan.peak_bytes().saturating_sub(w.peak_bytes()))
}

/// A number with commas between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes as MiB (2^20) with the exact number behind, aligned for a table.
pub fn mib(bytes: u64) -> String {
    format!("{:>10.3} MiB  {:>15} bytes", bytes as f64 / f64::from(1 << 20), grouped(bytes))
}

/// The first few names, and how many more there are.
fn abridged(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        // Writing to a String cannot fail.
        let _ = write!(text, " and {} more", names.len() - SHOWN);
    }
    text
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:<14} {}", "strategy", self.strategy)?;
        writeln!(f, "{:<14} {} over {} steps", "tensors", self.tensors, self.steps)?;
        writeln!(f, "{:<14} {}", "naive total", mib(self.naive_bytes))?;
        writeln!(f, "{:<14} {}", "max load", mib(self.max_load_bytes))?;
        writeln!(f, "{:<14} {}", "peak", mib(self.peak_bytes))?;
        let proof = match (&self.proof, self.lower_bound_bytes > self.max_load_bytes) {
            (Some(proof), _) => format!("proven lowest ({proof})"),
            (None, true) => {
                format!("not proven lowest; lower bound {} bytes", grouped(self.lower_bound_bytes))
            }
            (None, false) => "not proven lowest".to_owned(),
        };
        writeln!(f, "{:<14} {:>10.3} %    {proof}", "gap", self.gap * 100.0)?;
        writeln!(f, "{:<14} {} (alignment {})", "padding", mib(self.padding_bytes), self.alignment)?;
        for (i, arena) in self.arenas.iter().enumerate() {
            writeln!(f, "{:<14} {}", format!("arena {i}"), mib(arena.bytes))?;
        }
        if let Some(step) = self.peak_step {
            writeln!(f, "{:<14} {step}: {}", "peak step", abridged(&self.peak_tensors))?;
        }
        if !self.kept_tensors.is_empty() {
            let names = abridged(&self.kept_tensors);
            writeln!(f, "{:<14} {} for keeping {names}", "keep costs", mib(self.keep_cost_bytes))?;
        }
        if let Some(seconds) = self.seconds {
            writeln!(f, "{:<14} {:>10.3} ms", "planned in", seconds * 1e3)?;
        }
        Ok(())
    }
}
