//! Sekiyama, Imai, Negishi and Kawachiya, "Profile-guided memory optimization for deep neural networks"
//! (arXiv 1804.10001): training iterations of five networks, planned, against the pool that the paper's
//! framework had.

use std::time::Instant;

use serde_json::{Value, json};

use super::super::error::CliError;
use super::{Output, TrainingArgs, aligned, mib};
use crate::graph::Graph;
use crate::graph::training::Training;
use crate::model::zoo;
use crate::plan::report::{grouped, mib as exact};
use crate::plan::{Alignment, Effort, Planner, Problem, Strategy, bound, keyed_pool_bytes};

/// The networks of the paper.
const NETWORKS: [&str; 5] = ["alexnet", "googlenet", "resnet50", "inception_resnet", "lstm_seq2seq"];
/// Samples of an iteration, unless told otherwise.
const BATCHES: [u64; 3] = [32, 64, 128];
/// Memory of the device, unless told otherwise: that of the paper's generation of cards.
const BUDGET_BYTES: u64 = 16 << 30;
/// Offsets of plans and sizes of the pool's blocks are multiples of this, so that neither has an advantage.
const UNIT: Alignment = Alignment::PORTABLE;
/// No more samples are looked for.
const MOST_SAMPLES: u64 = 1 << 20;

/// One network's iteration at one batch size.
struct Row {
    name: &'static str,
    batch: u64,
    tensors: usize,
    naive_bytes: u64,
    pool_bytes: u64,
    max_load_bytes: u64,
    strip_packing_bytes: u64,
    peak_bytes: u64,
    optimal: bool,
    seconds: f64,
}

/// The most samples whose iteration fits into the budget.
struct Largest {
    name: &'static str,
    weights_bytes: u64,
    sample_bytes: u64,
    pool: u64,
    plan: u64,
}

pub(super) fn run(args: &TrainingArgs) -> Result<Output, CliError> {
    let batches = if args.batch.is_empty() { &BATCHES[..] } else { &args.batch };
    let budget = args.budget.unwrap_or(BUDGET_BYTES);
    let (mut rows, mut largest) = (Vec::new(), Vec::new());
    for name in NETWORKS {
        let graph =
            zoo::build(name).ok_or_else(|| CliError::input(format!("no built-in network '{name}'")))?;
        for batch in batches {
            rows.push(measure(name, &graph, *batch)?);
        }
        largest.push(search(name, &graph, budget)?);
    }
    let human = format!("{HEAD}\n{}\n{}", table(&rows), budget_table(&largest, budget));
    let json = json!({
        "paper": "arXiv 1804.10001",
        "iterations": rows.iter().map(Row::json).collect::<Vec<_>>(),
        "budget_bytes": budget,
        "largest_batch": largest.iter().map(Largest::json).collect::<Vec<_>>(),
    });
    Ok(Output { human, json, failure: None })
}

const HEAD: &str = "\
arXiv 1804.10001, from the networks built in: one training iteration, forward, backward, update. MiB (2^20),
float32; activations that the backward steps need, gradients, and those of the weights until the update.
pool: a free list for each size, rounded up to 256 bytes, as the paper's framework had it. saving: of the
plan (--effort fast) against the pool. In brackets: proven to be the least. Not counted: workspaces, dropout,
the optimiser's state.
";

/// Fast, since a framework plans while its user waits; what that leaves above the max load is little.
fn planner() -> Planner {
    Planner::auto().effort(Effort::Fast)
}

fn problem(graph: &Graph, batch: u64) -> Result<(Training, Problem), CliError> {
    let training = Training::new(graph, batch)?;
    let problem = training.problem(UNIT)?;
    Ok((training, problem))
}

fn measure(name: &'static str, graph: &Graph, batch: u64) -> Result<Row, CliError> {
    let (_, problem) = problem(graph, batch)?;
    let packed = Planner::new(Strategy::StripPacking).plan(&problem)?;
    packed.validate(&problem)?;
    let started = Instant::now();
    let plan = planner().plan(&problem)?;
    let seconds = started.elapsed().as_secs_f64();
    plan.validate(&problem)?;
    Ok(Row {
        name,
        batch,
        tensors: problem.len(),
        naive_bytes: problem.naive_bytes(),
        pool_bytes: keyed_pool_bytes(&problem, UNIT),
        max_load_bytes: bound::max_load(&problem),
        strip_packing_bytes: packed.peak_bytes(),
        peak_bytes: plan.peak_bytes(),
        optimal: plan.is_optimal(),
        seconds,
    })
}

impl Row {
    /// Share of the pool's bytes that the plan does without, in percent.
    fn saving(&self, bytes: u64) -> f64 {
        match self.pool_bytes {
            0 => 0.0,
            pool => (pool as f64 - bytes as f64) / pool as f64 * 100.0,
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "batch": self.batch,
            "tensors": self.tensors,
            "naive_bytes": self.naive_bytes,
            "pool_bytes": self.pool_bytes,
            "max_load_bytes": self.max_load_bytes,
            "strip_packing_bytes": self.strip_packing_bytes,
            "peak_bytes": self.peak_bytes,
            "optimal": self.optimal,
            "saving_percent": self.saving(self.peak_bytes),
            "strip_packing_saving_percent": self.saving(self.strip_packing_bytes),
            "seconds": self.seconds,
        })
    }
}

fn table(rows: &[Row]) -> String {
    let heads = [
        "network",
        "batch",
        "tensors",
        "no reuse",
        "pool",
        "max load",
        "strip packing",
        "plan",
        "saving",
        "seconds",
    ];
    let mut cells = vec![heads.map(str::to_owned).to_vec()];
    for row in rows {
        let peak = mib(row.peak_bytes);
        cells.push(vec![
            row.name.to_owned(),
            row.batch.to_string(),
            grouped(row.tensors as u64),
            mib(row.naive_bytes),
            mib(row.pool_bytes),
            mib(row.max_load_bytes),
            mib(row.strip_packing_bytes),
            if row.optimal { format!("[{peak}]") } else { format!("{peak} ") },
            format!("{:.1} %", row.saving(row.peak_bytes)),
            format!("{:.4}", row.seconds),
        ]);
    }
    aligned(&cells)
}

/// Bytes of an iteration beside its tensors: weights, and the samples themselves.
fn search(name: &'static str, graph: &Graph, budget: u64) -> Result<Largest, CliError> {
    let one = Training::new(graph, 1)?;
    let rest = |batch: u64| {
        let apart = one.inputs_bytes.saturating_mul(batch).saturating_add(one.weights_bytes);
        budget.saturating_sub(apart)
    };
    let pool = most_samples(|batch| Ok(keyed_pool_bytes(&problem(graph, batch)?.1, UNIT) <= rest(batch)))?;
    let plan = most_samples(|batch| {
        let (_, problem) = problem(graph, batch)?;
        // No plan is below the max load, so most of what is too much is refused without one.
        if bound::max_load(&problem) > rest(batch) {
            return Ok(false);
        }
        // And most of what fits does so under a strategy that takes no time.
        for planner in [Planner::new(Strategy::StripPacking), planner()] {
            let plan = planner.plan(&problem)?;
            plan.validate(&problem)?;
            if plan.peak_bytes() <= rest(batch) {
                return Ok(true);
            }
        }
        Ok(false)
    })?;
    Ok(Largest { name, weights_bytes: one.weights_bytes, sample_bytes: one.inputs_bytes, pool, plan })
}

/// The largest number that fits where the next one does not; 0 where none does.
fn most_samples(fits: impl Fn(u64) -> Result<bool, CliError>) -> Result<u64, CliError> {
    let (mut good, mut bad) = (0, 1);
    while bad <= MOST_SAMPLES && fits(bad)? {
        (good, bad) = (bad, bad * 2);
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(good)
}

impl Largest {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "weights_bytes": self.weights_bytes,
            "sample_bytes": self.sample_bytes,
            "pool": self.pool,
            "plan": self.plan,
        })
    }
}

fn budget_table(largest: &[Largest], budget: u64) -> String {
    let heads = ["network", "weights", "a sample", "pool", "plan", "more"];
    let mut cells = vec![heads.map(str::to_owned).to_vec()];
    for row in largest {
        let more = match row.pool {
            0 => "-".to_owned(),
            pool => format!("{:.1} %", (row.plan as f64 / pool as f64 - 1.0) * 100.0),
        };
        cells.push(vec![
            row.name.to_owned(),
            mib(row.weights_bytes),
            mib(row.sample_bytes),
            grouped(row.pool),
            grouped(row.plan),
            more,
        ]);
    }
    let budget = exact(budget).trim().to_owned();
    format!("Largest batch under {budget}, weights and samples counted too:\n\n{}", aligned(&cells))
}

#[cfg(test)]
mod tests {
    use super::{MOST_SAMPLES, most_samples};

    #[test]
    fn the_largest_number_that_fits_is_found() {
        for limit in [0, 1, 2, 3, 7, 8, 9, 1_000_000] {
            assert_eq!(most_samples(|n| Ok(n <= limit)).unwrap(), limit);
        }
        assert!(most_samples(|_| Ok(true)).unwrap() >= MOST_SAMPLES, "ends where all fit");
    }
}
