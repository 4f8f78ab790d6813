//! Profile-guided allocation, for engines without a graph (after Sekiyama et al. 2018, arXiv 1804.10001).
//!
//! A [`Recorder`] logs what one iteration allocates and releases, plans it, and from then on hands out the
//! k-th allocation at its planned place: an array read and two compares. It knows offsets in regions, no
//! memory: `device::DeviceRecorder` puts buffers behind the regions.
//!
//! ```
//! use sublet::plan::{Alignment, Recorder};
//!
//! let mut recorder = Recorder::new(Alignment::PORTABLE);
//! for iteration in 0..3 {
//!     recorder.begin(&[1, 224])?; // the shapes of this iteration: each has a plan of its own
//!     let a = recorder.allocate("a", 100_000)?;
//!     let b = recorder.allocate("b", 50_000)?;
//!     recorder.release(a)?;
//!     let c = recorder.allocate("c", 80_000)?;
//!     assert_eq!(c.is_planned(), iteration > 0);
//!     recorder.release(b)?;
//!     recorder.release(c)?;
//!     assert_eq!(recorder.end()?.planned, iteration == 0);
//! }
//! assert!(recorder.report().arena_bytes < 100_000 + 50_000 + 80_000);
//! # Ok::<(), sublet::plan::PlanError>(())
//! ```

mod block;
mod boundary;
mod counts;
mod departure;
mod loose;
mod overflow;
mod regions;
mod script;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Alignment, Effort, Plan, PlanError, Planner, Problem};
use block::{Extent, Place, Ticket};
use loose::Loose;
use regions::Regions;
use script::{Entry, Script};

pub use block::Block;
pub use counts::{Departures, Iteration, RecorderReport};
pub use regions::{Region, Role};

/// Recorders so far: a block is known by its recorder's number as another's.
static RECORDERS: AtomicU64 = AtomicU64::new(0);

/// A number that no recorder has, as long as there are fewer than half a million.
fn next_number() -> u64 {
    RECORDERS.fetch_add(1, Ordering::Relaxed) % (Ticket::MAX_RECORDERS - 1) + 1
}

/// A block has 12 bits for its region.
const TOO_MANY_REGIONS: PlanError =
    PlanError::Iteration { what: "needs more than 4,096 regions: the limit of a region is too small for it" };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Idle,
    OnScript,
    /// Off its script, or without one.
    Loose,
}

/// What an allocation off the script was given.
#[derive(Debug, Clone, Copy)]
struct Made {
    place: Place,
    size: Extent,
    ticket: Ticket,
}

/// Records iterations and replays them; see the [module](self).
///
/// Not for several threads at once: each engine thread has its own, and no lock is needed. Two
/// allocations share bytes where the one was released before the other was asked for, so what an engine
/// submits must run in the order of its allocations, as it does on one queue.
#[derive(Debug)]
pub struct Recorder {
    // All that a replay touches.
    /// The script under way; empty where allocations do not follow it.
    entries: Vec<Entry>,
    /// Which of them is released first, second, ..
    releases: Vec<u32>,
    /// Allocations of the iteration that followed the script.
    cursor: u32,
    /// Releases of the iteration that followed the script.
    released: u32,
    /// Ticket of the iteration's first allocation; the others follow.
    first: u64,
    made: Made,

    mode: Mode,
    paused: bool,
    /// Entries and releases while nothing follows the script.
    parked: (Vec<Entry>, Vec<u32>),
    /// Ticket of the next iteration's first allocation.
    next: Ticket,
    /// Numbers that this recorder had before, all tickets under them given.
    former: Vec<u64>,
    /// Iterations that began.
    begun: u64,
    /// Allocations of other sizes that do not live in their planned place, with their sizes.
    elsewhere: Vec<(u32, u64)>,
    loose: Loose,
    current: usize,
    scripts: Vec<Script>,
    keys: HashMap<Box<[u64]>, usize>,
    max_shapes: usize,
    alignment: Alignment,
    planner: Planner,
    regions: Regions,
    departures: Departures,
    totals: RecorderReport,
}

impl Recorder {
    /// A recorder without any profile; every offset is a multiple of `alignment`.
    pub fn new(alignment: Alignment) -> Self {
        let outside = Ticket::new(next_number());
        Recorder {
            entries: Vec::new(),
            releases: Vec::new(),
            cursor: 0,
            released: 0,
            first: outside.get(),
            made: Made { place: Place::planned(0, 0), size: Extent::planned(0), ticket: outside },
            mode: Mode::Idle,
            paused: false,
            parked: (Vec::new(), Vec::new()),
            next: outside.after(1),
            former: Vec::new(),
            begun: 0,
            elsewhere: Vec::new(),
            loose: Loose::default(),
            current: 0,
            scripts: Vec::new(),
            keys: HashMap::new(),
            max_shapes: 64,
            alignment,
            planner: Planner::auto().effort(Effort::Fast),
            regions: Regions::new(alignment.bytes()),
            departures: Departures::default(),
            totals: RecorderReport::default(),
        }
    }

    /// Plans with that planner ([`Planner::auto`] at [`Effort::Fast`] otherwise). It works while an iteration
    /// ends: a deadline bounds how long.
    pub fn planner(mut self, planner: Planner) -> Self {
        self.planner = planner;
        self
    }

    /// No region may be larger: plans get several arenas, and a larger allocation is refused.
    pub fn max_region_bytes(mut self, bytes: u64) -> Self {
        self.planner = self.planner.max_buffer_bytes(bytes);
        self.regions.set_max_bytes(bytes);
        self
    }

    /// Bytes of the first overflow region (64 KiB otherwise); each further one doubles the overflow.
    pub fn first_overflow_bytes(mut self, bytes: u64) -> Self {
        self.regions.set_first_growth_bytes(bytes);
        self
    }

    /// Most shapes that keep a plan (64 otherwise; at least 1); the one unused for longest gives way.
    pub fn max_shapes(mut self, shapes: usize) -> Self {
        self.max_shapes = shapes.max(1);
        self
    }

    /// Hands out `size_bytes`. On script: the planned place, in constant time, without a lock, a search or
    /// an allocation on the host. Off script: the planned place where its bytes are free, else overflow.
    /// Outside of an iteration and while [paused](Self::pause): overflow.
    ///
    /// # Errors
    /// The size is over the limit of a region. The error is boxed, so that a block stays in registers.
    #[inline]
    pub fn allocate(&mut self, label: &str, size_bytes: u64) -> Result<Block, Box<PlanError>> {
        if let Some(entry) = self.entries.get(self.cursor as usize)
            && entry.size_bytes == size_bytes
            && entry.released == self.released
            && let Some(ticket) = Ticket::planned(self.first, self.cursor)
        {
            // It counts no further than there are entries.
            self.cursor = self.cursor.wrapping_add(1);
            return Ok(Block { place: entry.place, size: Extent::planned(size_bytes), ticket });
        }
        // Comes back in a field: returned through memory, it would make the block above go that way too,
        // which takes longer than all the rest.
        self.allocate_elsewhere(label, size_bytes)?;
        let Made { place, size, ticket } = self.made;
        Ok(Block { place, size, ticket })
    }

    /// Takes a block back. On script it is the next to be released, or due together with that one.
    ///
    /// # Errors
    /// The block is another recorder's.
    #[inline]
    pub fn release(&mut self, block: Block) -> Result<(), Box<PlanError>> {
        let Block { place, size, ticket } = block;
        // Too early or too late is seen by the next allocation, which counts the releases before it.
        if let Some(next) = self.releases.get(self.released as usize)
            && self.first.wrapping_add(u64::from(*next)) == ticket.get()
        {
            self.released = self.released.wrapping_add(1);
            return Ok(());
        }
        self.release_elsewhere(place, size, ticket)
    }

    /// Leaves out of the profile what follows, until [`Recorder::resume`]: allocations that are not the same
    /// in every iteration, or that outlive it.
    pub fn pause(&mut self) {
        if !self.paused && self.mode == Mode::OnScript {
            self.park();
        }
        self.paused = true;
    }

    /// Ends a pause.
    pub fn resume(&mut self) {
        if self.paused && self.mode == Mode::OnScript {
            (self.entries, self.releases) = std::mem::take(&mut self.parked);
        }
        self.paused = false;
    }

    /// From here on nothing follows the script.
    fn park(&mut self) {
        self.parked = (std::mem::take(&mut self.entries), std::mem::take(&mut self.releases));
    }

    /// The regions that blocks lie in. They change in [`Recorder::end`] and [`Recorder::trim`], and where
    /// overflow grows.
    pub fn regions(&self) -> impl Iterator<Item = Region> + '_ {
        self.regions.iter()
    }

    /// Changes whenever a region comes or goes.
    pub fn version(&self) -> u64 {
        self.regions.version()
    }

    /// What was recorded for a shape, as the planning problem it became.
    pub fn problem(&self, shape: &[u64]) -> Option<Problem> {
        let script = self.script(shape)?;
        script::problem_of(&script.log, self.alignment).ok().map(|(problem, _)| problem)
    }

    /// The plan of a shape.
    pub fn plan(&self, shape: &[u64]) -> Option<&Plan> {
        self.script(shape)?.plan.as_ref()
    }

    fn script(&self, shape: &[u64]) -> Option<&Script> {
        self.scripts.get(*self.keys.get(shape)?)
    }

    /// Totals so far.
    pub fn report(&self) -> RecorderReport {
        let planned = || self.scripts.iter().filter(|script| script.plan.is_some());
        let largest = planned().max_by_key(|script| script.peak_bytes());
        RecorderReport {
            shapes: planned().count(),
            peak_bytes: largest.map_or(0, Script::peak_bytes),
            max_load_bytes: largest.map_or(0, |script| script.max_load_bytes),
            arena_bytes: self.regions.bytes(Role::Arena),
            overflow_bytes: self.regions.bytes(Role::Overflow),
            retired_bytes: self.regions.bytes(Role::Retired),
            most_bytes: self.regions.most_bytes(),
            ..self.totals
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_that_has_given_all_its_tickets_takes_another_number() {
        let mut recorder = Recorder::new(Alignment::ONE);
        recorder.begin(&[]).unwrap();
        let (held, block) = (recorder.allocate("a", 5).unwrap(), recorder.allocate("b", 6).unwrap());
        recorder.release(block).unwrap();
        recorder.end().unwrap();
        let number = recorder.next.recorder();
        recorder.next = Ticket::new(number).after(Ticket::MAX_SERIALS - 5);
        recorder.begin(&[]).unwrap();
        assert!(recorder.next.recorder() != number && recorder.next.serial() == 1);
        let (a, b) = (recorder.allocate("a", 5).unwrap(), recorder.allocate("b", 6).unwrap());
        // Given under the old number, and still its own.
        recorder.release(held).unwrap();
        recorder.release(b).unwrap();
        recorder.release(a).unwrap();
        recorder.end().unwrap();
        assert_eq!(recorder.regions().filter(|region| region.role == Role::Retired).count(), 0);
    }
}
