//! Between iterations: plans are made, regions grow, shrink and go.

use super::block::Ticket;
use super::script::{Logged, NEVER, Script};
use super::{Departures, Iteration, Mode, Recorder, TOO_MANY_REGIONS, next_number};
use crate::plan::PlanError;
use crate::plan::clock::Instant;

impl Recorder {
    /// Begins an iteration of these shapes (any numbers that tell profiles apart). With a plan for them it
    /// is replayed, otherwise recorded.
    ///
    /// # Errors
    /// An iteration is under way.
    pub fn begin(&mut self, shape: &[u64]) -> Result<(), PlanError> {
        if self.mode != Mode::Idle {
            return Err(PlanError::Iteration { what: "begins while another is under way" });
        }
        self.begun += 1;
        if self.next.serial() >= Ticket::MAX_SERIALS - Ticket::MAX_ALLOCATIONS as u64 {
            self.former.push(self.next.recorder());
            self.next = Ticket::new(next_number()).after(1);
        }
        self.first = self.next.get();
        self.current = match self.keys.get(shape) {
            Some(index) => *index,
            None => self.make_room(shape),
        };
        let version = self.regions.version();
        let script = &mut self.scripts[self.current];
        script.used = self.begun;
        (self.cursor, self.released) = (0, 0);
        if script.plan.is_some() {
            if script.bound != version {
                script.bind(self.regions.arenas());
                script.bound = version;
            }
            self.entries = std::mem::take(&mut script.entries);
            self.releases = std::mem::take(&mut script.releases);
            self.mode = Mode::OnScript;
            if self.paused {
                self.park();
            }
        } else {
            self.mode = Mode::Loose;
            self.loose.restart(0);
        }
        Ok(())
    }

    /// A place for one shape more; the one unused for longest gives way.
    fn make_room(&mut self, shape: &[u64]) -> usize {
        let oldest = || (0..self.scripts.len()).min_by_key(|i| self.scripts[*i].used);
        let index = match oldest().filter(|_| self.scripts.len() >= self.max_shapes) {
            Some(oldest) => {
                self.keys.retain(|_, index| *index != oldest);
                self.scripts[oldest] = Script::default();
                oldest
            }
            None => {
                self.scripts.push(Script::default());
                self.scripts.len() - 1
            }
        };
        self.keys.insert(shape.into(), index);
        index
    }

    /// Ends the iteration. Where anything took overflow against the profile, or there was no profile, the
    /// iteration is planned anew: with the larger of each two sizes where only sizes changed, else as it
    /// was. Arenas grow only where the plan does not fit them.
    ///
    /// # Errors
    /// No iteration is under way; the planner refuses the iteration (the next one is then recorded again).
    pub fn end(&mut self) -> Result<Iteration, PlanError> {
        if self.mode == Mode::Idle {
            return Err(PlanError::Iteration { what: "ends while none is under way" });
        }
        self.resume();
        let on_script = self.mode == Mode::OnScript;
        let recorded = self.scripts[self.current].plan.is_none();
        let allocations = if on_script { u64::from(self.cursor) } else { self.loose.log.len() as u64 };
        self.next = self.next.after(allocations);
        let log = if on_script { self.end_on_script() } else { Some(self.end_loose(recorded)) };
        let script = &mut self.scripts[self.current];
        let whole = (std::mem::take(&mut self.entries), std::mem::take(&mut self.releases));
        (script.entries, script.releases) = if on_script { whole } else { std::mem::take(&mut self.parked) };
        self.mode = Mode::Idle;
        let departures = std::mem::take(&mut self.departures);
        let departures = if recorded { Departures::default() } else { departures };
        let iteration = Iteration { allocations, recorded, departures, planned: log.is_some() };
        self.totals.iterations += 1;
        self.totals.on_script += u64::from(!recorded && departures.is_none());
        self.totals.overflowed += departures.overflowed + departures.extra;
        if let Some(log) = log {
            self.adopt(log)?;
        }
        Ok(iteration)
    }

    /// The log to plan where the script does not hold any more.
    fn end_on_script(&mut self) -> Option<Vec<Logged>> {
        let script = &mut self.scripts[self.current];
        let whole = self.cursor as usize == self.entries.len();
        if whole && self.released as usize == self.releases.len() && self.elsewhere.is_empty() {
            return None;
        }
        self.departures.missing = (self.entries.len() - self.cursor as usize) as u64;
        let held = (0..self.cursor as usize)
            .filter(|i| script.release_of[*i] != NEVER && script.release_of[*i] >= self.released)
            .collect::<Vec<_>>();
        self.departures.outlived = held.len() as u64;
        let is_elsewhere = |i: &usize| self.elsewhere.iter().any(|(index, _)| *index as usize == *i);
        let planned = held.iter().filter(|i| !is_elsewhere(i) && self.entries[**i].size_bytes > 0);
        self.regions.retire(planned.map(|i| self.entries[*i].place.region()));
        if whole {
            // An iteration that broke off says nothing of how long blocks live.
            held.iter().for_each(|i| script.log[*i].due = NEVER);
        }
        let mut replan = whole && !held.is_empty();
        for (index, size_bytes) in self.elsewhere.drain(..) {
            let known = &mut script.log[index as usize].size_bytes;
            replan |= size_bytes > *known;
            *known = size_bytes.max(*known);
        }
        replan.then(|| std::mem::take(&mut script.log))
    }

    fn end_loose(&mut self, recorded: bool) -> Vec<Logged> {
        let known = self.scripts[self.current].log.len() as u64;
        if !recorded {
            self.departures.missing =
                (known + self.departures.extra).saturating_sub(self.loose.log.len() as u64);
            self.departures.outlived = self.loose.regions().count() as u64;
        }
        self.regions.retire(self.loose.regions());
        std::mem::take(&mut self.loose.log)
    }

    /// Makes that log the profile of the shape under way.
    fn adopt(&mut self, log: Vec<Logged>) -> Result<(), PlanError> {
        let started = Instant::now();
        let used = self.scripts[self.current].used;
        self.scripts[self.current] = Script::default();
        let mut script = Script::new(log, self.alignment, &self.planner)?;
        script.used = used;
        if !self.regions.has_room(script.arenas.len()) {
            return Err(TOO_MANY_REGIONS);
        }
        self.totals.plans += 1;
        self.totals.plan_seconds += started.elapsed().as_secs_f64();
        log::debug!("recorder: {} allocations planned at {} bytes", script.log.len(), script.peak_bytes());
        // Overflow first, so that it is not held beside the arena that takes its place.
        self.regions.drop_empty_overflow();
        self.regions.fit(&script.arenas);
        self.scripts[self.current] = script;
        Ok(())
    }

    /// Drops overflow in which nothing lives, also during an iteration: there was no memory for it.
    #[cfg(feature = "gpu")]
    pub(crate) fn shed(&mut self) {
        self.regions.drop_empty_overflow();
    }

    /// Forgets a shape; its bytes go with the next [`Recorder::trim`].
    pub fn forget(&mut self, shape: &[u64]) {
        let running = self.mode != Mode::Idle;
        if let Some(index) = self.keys.get(shape).copied().filter(|index| !running || *index != self.current)
        {
            self.keys.remove(shape);
            self.scripts[index] = Script::default();
        }
    }

    /// Gives back what no plan needs: overflow in which nothing lives, arenas beyond the largest plan.
    ///
    /// # Errors
    /// An iteration is under way.
    pub fn trim(&mut self) -> Result<(), PlanError> {
        if self.mode != Mode::Idle {
            return Err(PlanError::Iteration { what: "is under way: arenas are trimmed between two" });
        }
        let mut arenas: Vec<u64> = Vec::new();
        for script in &self.scripts {
            arenas.resize(arenas.len().max(script.arenas.len()), 0);
            arenas.iter_mut().zip(&script.arenas).for_each(|(most, bytes)| *most = (*most).max(*bytes));
        }
        self.regions.drop_empty_overflow();
        self.regions.shrink(&arenas);
        Ok(())
    }
}
