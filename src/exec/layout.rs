//! The three lawful ways to lay tensors out in arenas.

use crate::graph::passes::Passes;
use crate::graph::{Graph, Node, Sharing, Usage, ValueId};
use crate::plan::{Alignment, PlanError, Planner};

/// How tensors are spread over buffers and bound. All three run through the same executor and the same audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Layout {
    /// All tensors in one arena (or as few as the limits ask for), each bound exactly. What a dispatch reads
    /// from the arena that it writes is bound writable; bindings that would collide are merged.
    #[default]
    Shared,
    /// No dispatch writes into an arena that it reads from: inputs stay read-only, and plain copies between a
    /// dispatch's tensors are lawful. Costs peak.
    PingPong,
    /// Each arena is bound once, whole; tensors start at their base offsets and are packed as closely as
    /// their element type allows. The number of bindings is no longer a limit, and padding disappears.
    Packed,
}

impl Layout {
    /// Every layout, in the order of reports.
    pub const ALL: &'static [Layout] = &[Layout::Shared, Layout::PingPong, Layout::Packed];

    /// Its name on the command line and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Layout::Shared => "shared",
            Layout::PingPong => "ping-pong",
            Layout::Packed => "packed",
        }
    }

    /// Alignment of tensors on a device that binds storage at multiples of `device_bytes`.
    ///
    /// # Errors
    /// `device_bytes` is no power of two.
    pub fn alignment(self, device_bytes: u64) -> Result<Alignment, PlanError> {
        match self {
            Layout::Shared | Layout::PingPong => Alignment::new(device_bytes),
            // Kernels read 4-byte elements through a base offset.
            Layout::Packed => Alignment::new(4),
        }
    }

    /// Adds what the layout demands of a graph's problem: in [`Layout::PingPong`] no tensor that a step
    /// writes shares an arena with one that it reads.
    ///
    /// # Errors
    /// The planner refuses a separation.
    pub fn constrain(self, graph: &Graph, sharing: &Sharing, usage: &mut Usage) -> Result<(), PlanError> {
        if self != Layout::PingPong {
            return Ok(());
        }
        let runs = |(step, node): &(usize, &Node)| !(node.inputs.len() == 1 && sharing.is_elided(*step, 0));
        for (_, node) in graph.nodes.iter().enumerate().filter(runs) {
            let tensors = |ids: &[ValueId]| ids.iter().filter_map(|id| usage.tensor(*id)).collect::<Vec<_>>();
            let (outputs, inputs) = (tensors(&node.outputs), tensors(&node.inputs));
            usage.problem.separate_step_io(&outputs, &inputs)?;
        }
        Ok(())
    }

    /// Those of the passes that go with the layout: in [`Layout::PingPong`] nothing is written into the
    /// storage of what is read.
    pub fn allows(self, passes: Passes) -> Passes {
        match self {
            Layout::PingPong => Passes { concat: false, strided: false, in_place: false, ..passes },
            Layout::Shared | Layout::Packed => passes,
        }
    }

    /// Largest arena on a device with these limits, bytes: a packed arena is bound whole.
    pub fn max_arena_bytes(self, max_buffer_bytes: u64, max_binding_bytes: u64) -> u64 {
        match self {
            Layout::Shared | Layout::PingPong => max_buffer_bytes,
            Layout::Packed => max_buffer_bytes.min(max_binding_bytes),
        }
    }

    /// A planner that respects a device's limits for the tensors of a [`super::Program`]. Only a packed
    /// tensor has to fit one binding: of the others, those over it are bound in segments, and a program has
    /// none that are not.
    pub fn limit(self, planner: Planner, max_buffer_bytes: u64, max_binding_bytes: u64) -> Planner {
        let planner = planner.max_buffer_bytes(self.max_arena_bytes(max_buffer_bytes, max_binding_bytes));
        match self {
            Layout::Shared | Layout::PingPong => planner,
            Layout::Packed => planner.max_binding_bytes(max_binding_bytes),
        }
    }
}

impl std::str::FromStr for Layout {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Layout::ALL.iter().copied().find(|l| l.key() == name);
        let known = || Layout::ALL.iter().map(|l| l.key());
        found.ok_or_else(|| {
            let meant = crate::plan::nearest(name, known()).unwrap_or("shared");
            format!("unknown layout; did you mean '{meant}'?")
        })
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.key())
    }
}
