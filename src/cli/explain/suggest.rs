//! What would lower a peak: each suggestion is a plan that was made.

use serde_json::{Value, json};

use super::peak::{Peak, Role};
use super::{Args, Subject, planned};
use crate::cli::error::CliError;
use crate::cli::input;
use crate::cli::plan::Choice;
use crate::exec::Layout;
use crate::plan::report::{grouped, mib};
use crate::plan::{Alignment, Effort, PlanError, Problem, Report, what_if};

/// Tensors that are split or parked, one at a time: the largest at the peak.
const TENSORS_TRIED: usize = 3;
/// Pieces of a tensor that is split.
const PIECES: u64 = 2;
/// Beyond this many tensors no order is searched: minutes.
const MOST_FOR_ORDER: usize = 5_000;

/// A change and the peak that it leads to.
pub(super) struct Suggestion {
    /// `order`, `passes`, `layout`, `buffer`, `keep`, `strategy`, `effort`, `align`, `f16`, `in-place`,
    /// `split` or `park`.
    kind: &'static str,
    /// For people.
    pub what: String,
    /// What `sublet plan` takes to make that plan; `None` where no flag does.
    flags: Option<Vec<String>>,
    /// The tensors that it changes.
    tensors: Vec<String>,
    pub peak_bytes: u64,
}

impl Suggestion {
    /// Bytes of peak less than now; 0 where it is no better.
    pub fn saves(&self, now: &Report) -> u64 {
        now.peak_bytes.saturating_sub(self.peak_bytes)
    }

    pub fn json(&self, now: &Report) -> Value {
        json!({
            "kind": self.kind,
            "what": self.what,
            "flags": self.flags,
            "tensors": self.tensors,
            "peak_bytes": self.peak_bytes,
            "saves_bytes": self.saves(now),
        })
    }

    pub fn line(&self, now: &Report) -> String {
        let part = self.saves(now) as f64 / now.peak_bytes.max(1) as f64;
        let saves = mib(self.saves(now));
        format!("{saves}  {:>5.1} %  {} (peak {})\n", part * 100.0, self.what, grouped(self.peak_bytes))
    }
}

/// Everything that can be tried, in the order of trying.
pub(super) fn all(subject: &Subject, args: &Args, peak: Option<&Peak>) -> Result<Vec<Suggestion>, CliError> {
    let mut found = Vec::new();
    let Some(peak) = peak else { return Ok(found) };
    by_flags(&mut found, subject, args)?;
    half_precision(&mut found, subject, args)?;
    if subject.model.is_none() {
        in_place(&mut found, subject, args, peak)?;
    }
    piecewise(&mut found, subject, args, peak)?;
    Ok(found)
}

/// The same arguments with one of them changed, and the flags that say so.
fn by_flags(found: &mut Vec<Suggestion>, subject: &Subject, args: &Args) -> Result<(), CliError> {
    let strings = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
    let mut tries: Vec<(&'static str, String, Option<Vec<String>>, Args)> = Vec::new();
    let records = &args.records;
    let with = |records| Args { records, ..args.clone() };
    if subject.model.is_some() {
        let order = records.passes.with_order().filter(|_| subject.problem.len() <= MOST_FOR_ORDER);
        if let Some((passes, flags)) = order {
            let changed = with(input::InputArgs { passes, ..records.clone() });
            tries.push((
                "order",
                "operators in another order (--order memory)".to_owned(),
                Some(flags),
                changed,
            ));
        }
        for (passes, flags) in records.passes.with_passes() {
            let what = format!("passes ({})", flags.join(" "));
            let changed = with(input::InputArgs { passes, ..records.clone() });
            tries.push(("passes", what, Some(flags), changed));
        }
        for layout in Layout::ALL.iter().filter(|layout| **layout != records.layout) {
            let flags = strings(&["--layout", layout.key()]);
            let changed = with(input::InputArgs { layout: *layout, ..records.clone() });
            tries.push(("layout", format!("another layout ({})", flags.join(" ")), Some(flags), changed));
        }
    } else if subject.problem.alignment() > Alignment::ONE && subject.plan.padding_bytes() > 0 {
        let flags = strings(&["--align", "1"]);
        let changed = with(input::InputArgs { align: Some(Alignment::ONE), ..records.clone() });
        tries.push(("align", "no alignment (--align 1)".to_owned(), Some(flags), changed));
    }
    if args.search.max_buffer.is_some() && subject.plan.arenas().len() > 1 {
        let mut changed = args.clone();
        changed.search.max_buffer = None;
        tries.push(("buffer", "one arena (without --max-buffer)".to_owned(), None, changed));
    }
    for name in &records.keep {
        let keep = records.keep.iter().filter(|other| *other != name).cloned().collect();
        let changed = with(input::InputArgs { keep, ..records.clone() });
        tries.push(("keep", format!("not keeping '{name}'"), None, changed));
    }
    if args.strategy.0.is_some() {
        let flags = strings(&["--strategy", "auto"]);
        let changed = Args { strategy: Choice::default(), ..args.clone() };
        tries.push(("strategy", "the planner's choice (--strategy auto)".to_owned(), Some(flags), changed));
    } else if !subject.plan.is_optimal() && args.search.effort != Effort::Thorough {
        let mut changed = args.clone();
        changed.search.effort = Effort::Thorough;
        let flags = strings(&["--effort", "thorough"]);
        tries.push(("effort", "a longer search (--effort thorough)".to_owned(), Some(flags), changed));
    }
    for (kind, what, flags, changed) in tries {
        let problem = changed_problem(subject, &changed)?;
        let peak_bytes = match planned(&problem, &changed) {
            Ok(plan) => plan.peak_bytes(),
            // A limit that the change runs into: then it is no suggestion.
            Err(error) if error.kind == "limit" => continue,
            Err(error) => return Err(error),
        };
        let tensors = Vec::new();
        found.push(Suggestion { kind, what, flags, tensors, peak_bytes });
    }
    Ok(())
}

/// The problem of the same input under changed arguments.
fn changed_problem(subject: &Subject, args: &Args) -> Result<Problem, CliError> {
    let Some(graph) = &subject.graph else {
        return Ok(input::load(&args.input, &args.records, None)?.problem);
    };
    let device_bytes = Alignment::PORTABLE.bytes();
    let mut problem =
        input::model(graph.clone(), &args.records, &args.records.passes, device_bytes)?.usage.problem;
    input::keep(&mut problem, &args.records.keep)?;
    Ok(problem)
}

/// Half the bytes for every float tensor; of records, for all.
fn half_precision(found: &mut Vec<Suggestion>, subject: &Subject, args: &Args) -> Result<(), CliError> {
    let is_float = |id| match &subject.model {
        Some(model) => model.graph.get(model.usage.value(id)).is_float(),
        None => true,
    };
    let what = match &subject.model {
        Some(_) => "float16 in the place of float32, in an engine that stores it",
        None => "half the bytes for every tensor, as float16 in the place of float32",
    };
    planned_as(found, args, ("f16", what.to_owned(), Vec::new()), what_if::halved(&subject.problem, is_float))
}

/// Records do not say what an operator does; this says what it would save if it could.
fn in_place(
    found: &mut Vec<Suggestion>,
    subject: &Subject,
    args: &Args,
    peak: &Peak,
) -> Result<(), CliError> {
    let Some((problem, pairs)) = what_if::in_place_at(&subject.problem, peak.step) else { return Ok(()) };
    let name = |id: crate::plan::TensorId| subject.problem.tensors()[id.index()].label();
    let named: Vec<String> = pairs.iter().map(|(o, i)| format!("'{}' in '{}'", name(*o), name(*i))).collect();
    let what = format!("step {} writing in place: {}", peak.step, named.join(", "));
    let tensors = pairs.iter().map(|(output, _)| name(*output).to_owned()).collect();
    planned_as(found, args, ("in-place", what, tensors), Ok(problem))
}

/// The largest tensors at the peak: in pieces where the plan is over the max load, away while they wait.
fn piecewise(
    found: &mut Vec<Suggestion>,
    subject: &Subject,
    args: &Args,
    peak: &Peak,
) -> Result<(), CliError> {
    let problem = &subject.problem;
    if subject.plan.peak_bytes() > peak.load_bytes() {
        for part in peak.parts.iter().take(TENSORS_TRIED) {
            let what = format!("'{}' in {PIECES} pieces that lie apart", part.name);
            let label = ("split", what, vec![part.name.clone()]);
            planned_as(found, args, label, what_if::split(problem, part.id, PIECES))?;
        }
    }
    let waiting = peak.parts.iter().filter_map(|part| match part.role {
        Role::Waits { since, until } if until <= part.last && since >= part.first => {
            Some((part, since, until))
        }
        _ => None,
    });
    for (part, since, until) in waiting.take(TENSORS_TRIED) {
        let what = format!("'{}' parked or computed again between steps {since} and {until}", part.name);
        let label = ("park", what, vec![part.name.clone()]);
        planned_as(found, args, label, what_if::parked(problem, part.id, since, until))?;
    }
    Ok(())
}

/// Plans a problem that would be.
fn planned_as(
    found: &mut Vec<Suggestion>,
    args: &Args,
    (kind, what, tensors): (&'static str, String, Vec<String>),
    problem: Result<Problem, PlanError>,
) -> Result<(), CliError> {
    let problem = match problem {
        Ok(problem) => problem,
        // A tensor that others share bytes with stays whole.
        Err(
            PlanError::InPieces { .. } | PlanError::PinMisaligned { .. } | PlanError::InPlaceSteps { .. },
        ) => {
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let peak_bytes = planned(&problem, args)?.peak_bytes();
    found.push(Suggestion { kind, what, flags: None, tensors, peak_bytes });
    Ok(())
}
