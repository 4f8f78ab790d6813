//! How much a search may do: counted work, and where asked for, the clock.

use std::time::Duration;

use super::super::clock::Instant;

/// Time by which preparing a block (sorting it, finding its sections) is reckoned.
const PREPARE_NANOS: u64 = 250;

/// When to stop by the clock; never, without a deadline.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    pub deadline: Option<Instant>,
}

impl Clock {
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// Whether there is time to prepare that many blocks, which is done in one go.
    pub fn allows(&self, blocks: usize) -> bool {
        let needed = Duration::from_nanos(PREPARE_NANOS * blocks as u64);
        self.deadline.is_none_or(|d| Instant::now() + needed <= d)
    }
}

/// Work between two looks at the clock.
const CLOCK_EVERY: u64 = 20_000;

/// Counted work.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    left: u64,
    clock: Clock,
    unclocked: u64,
    late: bool,
}

impl Work {
    pub fn new(work: u64, clock: Clock) -> Self {
        Work { left: work, clock, unclocked: 0, late: false }
    }

    /// Spends some; whether that was the last of it, or time is up.
    pub fn spend(&mut self, work: u64) -> bool {
        self.left = self.left.saturating_sub(work);
        self.unclocked += work;
        if self.unclocked >= CLOCK_EVERY {
            self.unclocked = 0;
            self.late = self.late || self.clock.is_late();
        }
        self.late || self.left == 0
    }
}
