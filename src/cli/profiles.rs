//! `sublet plan --profile`: planning for devices one does not own.

use serde_json::{Value, json};

use super::Output;
use super::adapter;
use super::error::CliError;
use super::input::{self, InputArgs};
use crate::device::{DeviceLimits, Profile};
use crate::exec::{Program, WeightMap, bind, lawful};
use crate::kernel::LowerLimits;
use crate::plan::report::{grouped, mib};
use crate::plan::{Plan, Planner, Problem, nearest};

/// Whose limits to plan for.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct ProfileArgs {
    /// Limits of a kind of device (default, chrome, m1, a1, a2, n1, i1, llvmpipe, warp, fallback, downlevel),
    /// or all.
    #[arg(long, value_name = "NAME", conflicts_with = "adapter")]
    profile: Option<String>,
    /// Limits of the adapter whose name contains this.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
}

impl ProfileArgs {
    /// Whether a table of all profiles is asked for.
    pub fn wants_all(&self) -> bool {
        self.profile.as_deref() == Some("all")
    }

    /// The limits to plan for, if any.
    pub fn limits(&self) -> Result<Option<DeviceLimits>, CliError> {
        if let Some(name) = &self.profile {
            return Profile::find(name).map(|p| Some(p.limits)).ok_or_else(|| {
                let known = Profile::all().map(|p| p.name).chain(["all"]);
                let hint = nearest(name, known).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
                CliError::input(format!("there is no profile '{name}'{hint}"))
            });
        }
        match &self.adapter {
            None => Ok(None),
            Some(name) => Ok(Some(adapter::limits(name)?)),
        }
    }
}

/// Plans one input for every profile; the verdict of each is a row, not an error.
pub(super) fn table(
    input: &str,
    records: &InputArgs,
    planner: impl Fn() -> Planner,
) -> Result<Output, CliError> {
    // An input that cannot be read at all is an error, whatever the profile.
    let name = input::load(input, records, None)?.name;
    let mut human =
        format!("{name}\n{:<10} {:<8} {:>6} {:>38}  {}\n", "profile", "verdict", "arenas", "peak", "why");
    let mut rows = Vec::new();
    for profile in Profile::all() {
        let planned = fit(input, records, &profile.limits, planner());
        let (verdict, arenas, peak, reason) = match &planned {
            Ok(plan) if plan.arenas().len() <= 1 => ("fits", plan.arenas(), Some(plan.peak_bytes()), None),
            Ok(plan) => ("splits", plan.arenas(), Some(plan.peak_bytes()), None),
            Err(error) => ("refused", &[][..], None, Some(error)),
        };
        let why = match (reason, verdict) {
            (Some(error), _) => error.message.clone(),
            (None, "splits") => {
                format!("one buffer holds {} bytes", grouped(profile.limits.max_buffer_bytes))
            }
            _ => String::new(),
        };
        let peak_text = peak.map_or_else(|| "-".to_owned(), mib);
        let line = format!("{:<10} {verdict:<8} {:>6} {peak_text:>38}  {why}", profile.name, arenas.len());
        human.push_str(&format!("{}\n", line.trim_end()));
        rows.push(json!({
            "name": profile.name,
            "about": profile.about,
            "verdict": verdict,
            "arenas": arenas.iter().map(|bytes| json!({ "bytes": bytes })).collect::<Vec<_>>(),
            "peak_bytes": peak,
            "reason": reason.map_or(Value::Null, CliError::to_json),
        }));
    }
    Ok(Output { human, json: json!({ "profiles": rows }), failure: None })
}

/// Plans for these limits; a model is also lowered and every dispatch checked against the rules.
fn fit(input: &str, records: &InputArgs, limits: &DeviceLimits, planner: Planner) -> Result<Plan, CliError> {
    let planner = limit(input, records, limits, planner);
    if !input::is_model(input) {
        let problem = input::load(input, records, Some(limits))?.problem;
        return judged(&problem, planner);
    }
    let program = lowered(input, records, limits)?;
    let plan = judged(&program.usage.problem, planner)?;
    let weights = WeightMap::new(&program, limits.storage_alignment_bytes, limits.max_buffer_bytes);
    let rules = limits.binding_limits();
    lawful(&bind(&program, &plan, &weights, &rules)?, &rules)?;
    Ok(plan)
}

/// A planner with these limits: a record has to fit one binding, a model's tensor only where its layout says
/// so.
pub(super) fn limit(input: &str, records: &InputArgs, limits: &DeviceLimits, planner: Planner) -> Planner {
    let DeviceLimits { max_buffer_bytes, max_binding_bytes, .. } = *limits;
    let planner = records.layout.limit(planner, max_buffer_bytes, max_binding_bytes);
    if input::is_model(input) { planner } else { planner.max_binding_bytes(max_binding_bytes) }
}

/// A model lowered for these limits.
///
/// # Errors
/// A node has no kernel, or a tensor is over the binding limit and not computed in segments.
pub(super) fn lowered(input: &str, records: &InputArgs, limits: &DeviceLimits) -> Result<Program, CliError> {
    let graph = input::load_graph(input, &records.model)?;
    let lower =
        LowerLimits { max_binding_bytes: limits.max_binding_bytes, max_workgroups: limits.max_workgroups };
    let layout = records.layout;
    let alignment = records.align.map_or_else(|| layout.alignment(limits.storage_alignment_bytes), Ok)?;
    let (graph, sharing) = records.passes.apply(graph, layout)?;
    Ok(Program::sharing(graph, sharing, alignment, lower)?.with_layout(layout)?)
}

fn judged(problem: &Problem, planner: Planner) -> Result<Plan, CliError> {
    let plan = planner.plan(problem)?;
    plan.validate(problem)?;
    Ok(plan)
}
