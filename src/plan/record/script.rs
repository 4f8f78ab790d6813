//! What one iteration did, and the plan of it in the form that a replay reads.

use std::sync::Arc;

use super::block::{Place, Ticket};
use crate::plan::{Alignment, Plan, PlanError, Planner, Problem, TensorId};

/// Never released, so far.
pub const NEVER: u32 = u32::MAX;

/// One allocation of an iteration.
#[derive(Debug, Clone)]
pub struct Logged {
    pub label: Arc<str>,
    pub size_bytes: u64,
    /// How many allocations the iteration had made when it was released.
    pub due: u32,
}

/// What a replay reads of one allocation.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub size_bytes: u64,
    /// In its region; until [`Script::bind`] in its arena.
    pub place: Place,
    /// How many releases come before this allocation; [`NEVER`] where it is left out of the plan.
    pub released: u32,
}

/// A profile and its plan.
#[derive(Debug, Default)]
pub struct Script {
    pub log: Vec<Logged>,
    pub entries: Vec<Entry>,
    /// Which allocation is released first, second, ..: those that are due at once in the order in which the
    /// last iteration released them.
    pub releases: Vec<u32>,
    /// Where each stands in there; [`NEVER`] where it is left out of the plan.
    pub release_of: Vec<u32>,
    /// Arena of each entry.
    arenas_of: Vec<u32>,
    /// Bytes of each arena.
    pub arenas: Vec<u64>,
    pub max_load_bytes: u64,
    /// Absent until there is a profile.
    pub plan: Option<Plan>,
    /// Version of the regions that the entries name.
    pub bound: u64,
    /// Iteration that used it last.
    pub used: u64,
}

impl Script {
    /// Plans a log.
    ///
    /// # Errors
    /// A block is larger than an arena may be.
    pub fn new(log: Vec<Logged>, alignment: Alignment, planner: &Planner) -> Result<Self, PlanError> {
        if log.len() >= Ticket::MAX_ALLOCATIONS {
            return Err(PlanError::Iteration { what: "has 2^31 allocations or more" });
        }
        let (problem, ids) = problem_of(&log, alignment)?;
        let plan = planner.plan(&problem)?;
        let mut releases_before = vec![0u32; log.len() + 1];
        for logged in log.iter().filter(|logged| logged.due != NEVER) {
            releases_before[logged.due as usize] += 1;
        }
        let (mut released, mut entries, mut arenas_of) = (0, Vec::new(), Vec::new());
        for (i, logged) in log.iter().enumerate() {
            released += releases_before[i];
            let (arena, offset_bytes) =
                ids[i].map_or((0, 0), |id| (plan.arena(id).index(), plan.offset_bytes(id)));
            arenas_of.push(arena as u32);
            entries.push(Entry {
                size_bytes: logged.size_bytes,
                place: Place::planned(arena, offset_bytes),
                released: if ids[i].is_some() { released } else { NEVER },
            });
        }
        let mut releases: Vec<u32> = (0..log.len() as u32).filter(|i| ids[*i as usize].is_some()).collect();
        releases.sort_by_key(|i| log[*i as usize].due);
        let mut release_of = vec![NEVER; log.len()];
        releases.iter().enumerate().for_each(|(at, i)| release_of[*i as usize] = at as u32);
        Ok(Script {
            releases,
            release_of,
            arenas: plan.arenas().to_vec(),
            max_load_bytes: crate::plan::bound::max_load(&problem),
            plan: Some(plan),
            bound: 0,
            used: 0,
            log,
            entries,
            arenas_of,
        })
    }

    /// Says in which region each arena lies now.
    pub fn bind(&mut self, regions: &[usize]) {
        for (entry, arena) in self.entries.iter_mut().zip(&self.arenas_of) {
            let region = regions.get(*arena as usize).copied().unwrap_or(0);
            entry.place = Place::planned(region, entry.place.offset_bytes());
        }
    }

    /// Makes the allocation `index` the one that is released at `at`, instead of one that is due with it.
    /// `releases` are those of this script, while a replay has them.
    pub fn release_next(&mut self, releases: &mut [u32], at: u32, index: u32) {
        let from = std::mem::replace(&mut self.release_of[index as usize], at);
        let other = std::mem::replace(&mut releases[at as usize], index);
        if other != index {
            releases[from as usize] = other;
            self.release_of[other as usize] = from;
        }
    }

    /// Planned bytes.
    pub fn peak_bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }
}

/// The planning problem of a log, and which tensor each allocation is.
///
/// # Errors
/// Sizes that do not sum up in 64 bits.
pub fn problem_of(
    log: &[Logged],
    alignment: Alignment,
) -> Result<(Problem, Vec<Option<TensorId>>), PlanError> {
    let mut problem = Problem::new(alignment);
    let mut ids = Vec::with_capacity(log.len());
    for (i, logged) in log.iter().enumerate() {
        ids.push(match logged.due {
            NEVER => None,
            // Alive at each allocation from its own to the last before its release.
            due => {
                let usage = i as u32..=due - 1;
                Some(problem.tensor(format!("{}#{i}", logged.label), logged.size_bytes, usage)?)
            }
        });
    }
    Ok((problem, ids))
}
