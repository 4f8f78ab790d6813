//! How much a search may do: counted work, and where asked for, the clock.

use std::time::Instant;

/// Work between two looks at the clock.
const CLOCK_EVERY: u64 = 20_000;

/// A budget that is spent as the search goes on.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub work: u64,
    pub deadline: Option<Instant>,
    unclocked: u64,
    late: bool,
}

impl Limits {
    pub fn new(work: u64, deadline: Option<Instant>) -> Self {
        Limits { work, deadline, unclocked: 0, late: false }
    }

    /// Spends work; whether that was the last of it, or time is up.
    pub fn spend(&mut self, work: u64) -> bool {
        self.work = self.work.saturating_sub(work);
        self.unclocked += work;
        if self.unclocked >= CLOCK_EVERY {
            self.unclocked = 0;
            self.late = self.late || self.deadline.is_some_and(|d| Instant::now() >= d);
        }
        self.late || self.work == 0
    }
}
