//! The plan file: JSON with the records, the places, and a digest of each, so that it can be judged on its
//! own.

use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fingerprint::{Fingerprint, Hasher};
use super::{Alias, Alignment, ArenaId, Plan, PlanError, Problem, Proof, Separation, Strategy, TensorId};

const FORMAT: &str = "sublet plan";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    problem: ProblemPart,
    plan: PlanPart,
}

#[derive(Deserialize)]
struct Envelope {
    format: Option<String>,
    version: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemPart {
    fingerprint: String,
    alignment: u64,
    tensors: Vec<TensorPart>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    separate: Vec<Separation>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorPart {
    label: String,
    size_bytes: u64,
    first: u32,
    last: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alignment: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pin: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keep: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alias: Option<Alias>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    in_place: Vec<TensorId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanPart {
    checksum: String,
    strategy: String,
    /// Absent where no plan is proven to be impossible below the peak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    lower_bound_bytes: u64,
    arenas: Vec<u64>,
    places: Vec<PlacePart>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlacePart {
    tensor: String,
    arena: ArenaId,
    offset_bytes: u64,
}

/// The plan file of a plan, as text.
///
/// # Errors
/// [`PlanError::Invalid`] where the plan was made for another problem.
pub fn to_json(problem: &Problem, plan: &Plan) -> Result<String, PlanError> {
    let found = problem.fingerprint();
    if plan.fingerprint != found || plan.len() != problem.len() {
        return Err(super::Violation::OtherProblem { planned: plan.fingerprint, found }.into());
    }
    let tensors = problem.tensors().iter().map(|t| TensorPart {
        label: t.label.clone(),
        size_bytes: t.size_bytes,
        first: t.first,
        last: t.last,
        alignment: t.alignment.map(Alignment::bytes),
        pin: t.pin,
        keep: t.kept,
        alias: t.alias,
        in_place: t.in_place.clone(),
    });
    let places = plan.places.iter().zip(problem.tensors()).map(|((arena, offset_bytes), tensor)| PlacePart {
        tensor: tensor.label.clone(),
        arena: *arena,
        offset_bytes: *offset_bytes,
    });
    let document = Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        problem: ProblemPart {
            fingerprint: found.to_string(),
            alignment: problem.alignment().bytes(),
            tensors: tensors.collect(),
            separate: problem.separations().to_vec(),
        },
        plan: PlanPart {
            checksum: checksum(plan).to_string(),
            strategy: plan.strategy.key().to_owned(),
            proof: plan.proof.map(|proof| proof.key().to_owned()),
            lower_bound_bytes: plan.lower_bound_bytes,
            arenas: plan.arenas.clone(),
            places: places.collect(),
        },
    };
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(|e| PlanError::PlanFile { file: "plan file".to_owned(), what: e.to_string() })?;
    text.push('\n');
    Ok(text)
}

/// Reads a plan file from text; `file` is the name for errors. The plan is not judged.
///
/// # Errors
/// [`PlanError::PlanFile`]: not a plan file, of another version, edited by hand (says in which part).
pub fn from_json(text: &str, file: &str) -> Result<(Problem, Plan), PlanError> {
    let bad = |what: String| PlanError::PlanFile { file: file.to_owned(), what };
    let envelope: Envelope = serde_json::from_str(text).map_err(|e| bad(format!("no plan file: {e}")))?;
    match (envelope.format.as_deref(), envelope.version) {
        (Some(FORMAT), Some(VERSION)) => {}
        (Some(FORMAT), version) => {
            let found = version.map_or_else(|| "none".to_owned(), |v| v.to_string());
            return Err(bad(format!("field 'version' is {found}, this program reads {VERSION}")));
        }
        _ => return Err(bad(format!("no plan file: field 'format' is not \"{FORMAT}\""))),
    }
    let document: Document = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
    let problem = rebuild(&document.problem).map_err(|e| bad(format!("records: {e}")))?;
    let found = problem.fingerprint();
    if Fingerprint::parse(&document.problem.fingerprint) != Some(found) {
        let stored = &document.problem.fingerprint;
        return Err(bad(format!(
            "the records were edited: field 'problem.fingerprint' is '{stored}', they give '{found}'"
        )));
    }
    let plan = rebuild_plan(&problem, &document.plan).map_err(&bad)?;
    let found = checksum(&plan);
    if Fingerprint::parse(&document.plan.checksum) != Some(found) {
        let stored = &document.plan.checksum;
        return Err(bad(format!(
            "the places were edited: field 'plan.checksum' is '{stored}', they give '{found}'"
        )));
    }
    Ok((problem, plan))
}

fn rebuild(part: &ProblemPart) -> Result<Problem, PlanError> {
    let mut problem = Problem::new(Alignment::new(part.alignment)?);
    let mut ids = Vec::with_capacity(part.tensors.len());
    for tensor in &part.tensors {
        // Spelled out, since `first..=last` is what the constructor checks.
        let usage = std::ops::RangeInclusive::new(tensor.first, tensor.last);
        let id = problem.tensor(tensor.label.as_str(), tensor.size_bytes, usage)?;
        ids.push(id);
    }
    for (id, tensor) in ids.iter().zip(&part.tensors) {
        if let Some(bytes) = tensor.alignment {
            problem.set_alignment(*id, Alignment::new(bytes)?)?;
        }
        if let Some(offset_bytes) = tensor.pin {
            problem.pin(*id, offset_bytes)?;
        }
        if tensor.keep {
            problem.keep(*id)?;
        }
        if let Some(alias) = tensor.alias {
            problem.alias(*id, alias.base, alias.byte_offset)?;
        }
        for input in &tensor.in_place {
            problem.allow_in_place(*id, *input)?;
        }
    }
    for separation in &part.separate {
        problem.separate_step_io(separation.left(), separation.right())?;
    }
    Ok(problem)
}

fn rebuild_plan(problem: &Problem, part: &PlanPart) -> Result<Plan, String> {
    let strategy = Strategy::from_key(&part.strategy)
        .ok_or_else(|| format!("field 'plan.strategy' is '{}', which is no strategy", part.strategy))?;
    if part.places.len() != problem.len() {
        let (places, tensors) = (part.places.len(), problem.len());
        return Err(format!("field 'plan.places' has {places} entries for {tensors} tensors"));
    }
    let differs = part.places.iter().zip(problem.tensors()).find(|(p, t)| p.tensor != t.label);
    if let Some((place, tensor)) = differs {
        return Err(format!(
            "field 'plan.places' names '{}' where the records have '{}'",
            place.tensor, tensor.label
        ));
    }
    if part.arenas.iter().try_fold(0u64, |sum, bytes| sum.checked_add(*bytes)).is_none() {
        return Err("field 'plan.arenas' sums to more than 64 bits hold".to_owned());
    }
    let places = part.places.iter().map(|p| (p.arena, p.offset_bytes)).collect();
    let mut plan = Plan::given(problem, strategy, places, part.arenas.clone());
    // What a search found out is not found out again; what needs no search is, and must agree.
    let (bytes, known, peak) = (part.lower_bound_bytes, plan.lower_bound_bytes, plan.peak_bytes());
    if bytes < known || bytes > peak.max(known) {
        return Err(format!(
            "field 'plan.lower_bound_bytes' is {bytes}, not between {known} and the peak {peak}"
        ));
    }
    plan.lower_bound_bytes = bytes;
    if let Some(key) = &part.proof {
        let proof = Proof::from_key(key)
            .ok_or_else(|| format!("field 'plan.proof' is '{key}', which is no kind of proof"))?;
        if peak != bytes {
            return Err(format!(
                "field 'plan.proof' is '{key}', but the peak {peak} is not the lower bound {bytes}"
            ));
        }
        plan.proof = Some(proof);
    }
    Ok(plan)
}

fn checksum(plan: &Plan) -> Fingerprint {
    let mut hasher = Hasher::new();
    hasher.text(&plan.fingerprint.to_string());
    hasher.text(plan.strategy.key());
    hasher.text(plan.proof.map_or("", Proof::key));
    hasher.number(plan.lower_bound_bytes);
    hasher.number(plan.arenas.len() as u64);
    plan.arenas.iter().for_each(|bytes| hasher.number(*bytes));
    for (arena, offset_bytes) in &plan.places {
        hasher.number(arena.index() as u64);
        hasher.number(*offset_bytes);
    }
    hasher.finish()
}

/// Writes a plan file.
///
/// # Errors
/// Like [`to_json`]; [`PlanError::Io`].
pub fn save(path: &Path, problem: &Problem, plan: &Plan) -> Result<(), PlanError> {
    write_atomically(path, to_json(problem, plan)?.as_bytes())
}

/// Reads a plan file; the plan is not judged.
///
/// # Errors
/// Like [`from_json`]; [`PlanError::Io`].
pub fn load(path: &Path) -> Result<(Problem, Plan), PlanError> {
    from_json(&read_text(path)?, &path.display().to_string())
}

/// Reads the plan of that very problem.
///
/// # Errors
/// Like [`load`]; [`PlanError::PlanFile`] where the file's plan belongs to another problem.
pub fn load_for(path: &Path, problem: &Problem) -> Result<Plan, PlanError> {
    let (_, plan) = load(path)?;
    let found = problem.fingerprint();
    if plan.fingerprint == found {
        return Ok(plan);
    }
    Err(PlanError::PlanFile {
        file: path.display().to_string(),
        what: format!(
            "the plan belongs to another problem: its fingerprint is '{}', this problem's '{found}'",
            plan.fingerprint
        ),
    })
}

/// Reads a whole text file.
pub(crate) fn read_text(path: &Path) -> Result<String, PlanError> {
    std::fs::read_to_string(path).map_err(|e| io_error("read", path, &e))
}

/// Writes to a temporary name in the same folder, then renames: readers see the old file or the whole new
/// one.
///
/// # Errors
/// [`PlanError::Io`]; nothing is left behind then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), PlanError> {
    let Some(name) = path.file_name() else {
        let why = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(io_error("write", path, &why));
    };
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = std::fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|e| {
        // The first error is the one to report; a file that was never created cannot be removed either.
        let _ = std::fs::remove_file(&temporary);
        io_error("write", path, &e)
    })
}

fn io_error(action: &'static str, path: &Path, error: &std::io::Error) -> PlanError {
    PlanError::Io { action, file: path.display().to_string(), why: error.to_string() }
}
