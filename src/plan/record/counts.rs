//! What a recorder counts.

/// Ways in which an iteration was not its profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Departures {
    /// Smaller than foreseen: they took the planned place.
    pub smaller: u64,
    /// Found no planned place, being larger or the place being taken: they took overflow.
    pub overflowed: u64,
    /// Bytes of those.
    pub overflowed_bytes: u64,
    /// Not in the profile at all: they took overflow.
    pub extra: u64,
    /// In the profile, and did not come.
    pub missing: u64,
    /// Still held at the end of the iteration, against the profile.
    pub outlived: u64,
    /// The order of allocations and releases was another.
    pub reordered: bool,
}

impl Departures {
    /// Whether the iteration was its profile.
    pub fn is_none(&self) -> bool {
        *self == Departures::default()
    }
}

/// What one iteration was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Iteration {
    /// Allocations inside the profiled part.
    pub allocations: u64,
    /// It had no profile before: all of it took overflow, and was recorded.
    pub recorded: bool,
    /// How it departed from its profile.
    pub departures: Departures,
    /// A plan was made at its end.
    pub planned: bool,
}

/// Totals of a recorder.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct RecorderReport {
    /// Iterations that ended.
    pub iterations: u64,
    /// Those that were their profile.
    pub on_script: u64,
    /// Plans made.
    pub plans: u64,
    /// Seconds spent on them.
    pub plan_seconds: f64,
    /// Allocations that took overflow against their profile.
    pub overflowed: u64,
    /// Allocations outside the profiled part.
    pub outside: u64,
    /// Shapes with a plan.
    pub shapes: usize,
    /// Peak of the shape whose plan is largest, bytes.
    pub peak_bytes: u64,
    /// Most live bytes of that shape.
    pub max_load_bytes: u64,
    /// All arenas, bytes.
    pub arena_bytes: u64,
    /// All overflow, bytes.
    pub overflow_bytes: u64,
    /// Arenas outlived by a block, bytes.
    pub retired_bytes: u64,
    /// Most bytes of all regions so far.
    pub most_bytes: u64,
}
