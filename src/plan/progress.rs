//! What a search may spend, what it says on the way, and what it has proven in the end.

/// How much a search may try before it gives up; counted in steps, not in seconds, so that the same problem
/// gets the same plan on every machine. A deadline cuts it short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Effort {
    /// Greedy placement in several orders: milliseconds for thousands of tensors.
    Fast,
    /// As much as a program may spend when it starts: milliseconds for most networks, seconds, seldom tens of
    /// them, for thousands of tensors.
    #[default]
    Balanced,
    /// Minutes: for plans that are made once and kept.
    Thorough,
}

impl Effort {
    /// Every effort, least first.
    pub const ALL: &'static [Effort] = &[Effort::Fast, Effort::Balanced, Effort::Thorough];

    /// Its name on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Effort::Fast => "fast",
            Effort::Balanced => "balanced",
            Effort::Thorough => "thorough",
        }
    }
}

/// Why no plan can have a lower peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Proof {
    /// The peak is the most live bytes at any step.
    MaxLoad,
    /// The peak is the most live bytes at any step, all but one of them rounded up to the alignment.
    AlignedLoad,
    /// The peak is the end of the highest pinned tensor.
    Pins,
    /// No sizes of live tensors sum to what lies between the max load and the peak.
    ExactFill,
    /// Everything below the peak was searched.
    Exhausted,
}

impl Proof {
    const ALL: &'static [Proof] =
        &[Proof::MaxLoad, Proof::AlignedLoad, Proof::Pins, Proof::ExactFill, Proof::Exhausted];

    /// Its name in files and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Proof::MaxLoad => "max load",
            Proof::AlignedLoad => "aligned load",
            Proof::Pins => "pins",
            Proof::ExactFill => "exact fill",
            Proof::Exhausted => "exhausted",
        }
    }

    pub(crate) fn from_key(key: &str) -> Option<Self> {
        Proof::ALL.iter().copied().find(|proof| proof.key() == key)
    }
}

impl std::fmt::Display for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}

/// What a search does at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Greedy placement in many orders.
    Greedy,
    /// The fullest steps packed exactly, the rest filled in.
    Core,
    /// The exact search.
    Exact,
    /// Dealing blocks out to several arenas.
    Packing,
    /// Nothing more.
    Done,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Phase::Greedy => "greedy",
            Phase::Core => "core",
            Phase::Exact => "exact search",
            Phase::Packing => "packing",
            Phase::Done => "done",
        })
    }
}

/// A word from a search under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What it does.
    pub phase: Phase,
    /// Lowest peak so far, bytes.
    pub best_peak_bytes: u64,
    /// What no plan can undercut as far as is known, bytes.
    pub lower_bound_bytes: u64,
}
