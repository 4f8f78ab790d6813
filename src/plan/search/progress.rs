//! What a search says while it runs.

/// What is being tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Quick greedy placements.
    Greedy,
    /// The fullest sections packed exactly, the rest filled in.
    Core,
    /// The exact search over whole parts.
    Exact,
    /// Nothing more.
    Done,
}

impl Phase {
    /// Its name in reports.
    pub fn key(self) -> &'static str {
        match self {
            Phase::Greedy => "greedy",
            Phase::Core => "core",
            Phase::Exact => "exact",
            Phase::Done => "done",
        }
    }
}

/// A moment of a search, told whenever one of these changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being tried.
    pub phase: Phase,
    /// Peak of the best plan so far, bytes.
    pub best_peak_bytes: u64,
    /// What no plan can undercut, as far as is known, bytes.
    pub lower_bound_bytes: u64,
}
