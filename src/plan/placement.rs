//! Where every tensor of a problem lies, and what is known of it.

use super::ids::align_up;
use super::pack::Packed;
use super::resolve::{Block, Merging, Resolved, resolve};
use super::{ArenaId, Fingerprint, Problem, Proof, Report, Strategy, TensorId, Violation, bound};

/// Where every tensor of a problem lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) strategy: Strategy,
    pub(crate) places: Vec<(ArenaId, u64)>,
    pub(crate) arenas: Vec<u64>,
    pub(crate) lower_bound_bytes: u64,
    pub(crate) proof: Option<Proof>,
    pub(crate) padding_bytes: u64,
}

impl Plan {
    pub(super) fn new(problem: &Problem, strategy: Strategy, resolved: &Resolved, packed: Packed) -> Self {
        let places = resolved
            .slots
            .iter()
            .zip(problem.tensors())
            .map(|(slot, tensor)| match slot {
                Some((block, byte)) => {
                    let (arena, offset) = packed.places[*block];
                    (ArenaId::new(arena as u32), offset + byte)
                }
                None => (ArenaId::new(0), zero_size_offset(problem, tensor)),
            })
            .collect();
        let mut arenas = packed.arenas;
        if arenas.is_empty() && !problem.is_empty() {
            arenas.push(0);
        }
        Plan::given(problem, strategy, places, arenas)
    }

    /// A plan that came from elsewhere, unjudged.
    pub(crate) fn given(
        problem: &Problem,
        strategy: Strategy,
        places: Vec<(ArenaId, u64)>,
        arenas: Vec<u64>,
    ) -> Self {
        let (lower_bound_bytes, argument) = bound::lower_bound(problem, arenas.len());
        let peak_bytes = arenas.iter().sum::<u64>();
        Plan {
            fingerprint: problem.fingerprint(),
            strategy,
            places,
            arenas,
            lower_bound_bytes,
            proof: (peak_bytes == lower_bound_bytes).then_some(argument),
            padding_bytes: padding_bytes(problem),
        }
    }

    /// Takes over what a search found out about plans in one arena.
    pub(super) fn learn(&mut self, lower_bound_bytes: u64, proof: Option<Proof>) {
        if self.arenas.len() == 1 && lower_bound_bytes > self.lower_bound_bytes {
            self.lower_bound_bytes = lower_bound_bytes.min(self.peak_bytes());
            self.proof = proof.filter(|_| self.lower_bound_bytes == self.peak_bytes());
        }
    }

    /// Offset of a tensor in its arena, bytes.
    ///
    /// # Panics
    /// Like a slice, where `id` is no tensor of the plan's problem; [`Plan::place`] does not.
    pub fn offset_bytes(&self, id: TensorId) -> u64 {
        self.places[id.index()].1
    }

    /// The arena of a tensor.
    ///
    /// # Panics
    /// Like a slice, where `id` is no tensor of the plan's problem; [`Plan::place`] does not.
    pub fn arena(&self, id: TensorId) -> ArenaId {
        self.places[id.index()].0
    }

    /// Arena and offset in bytes of a tensor; `None` for an id of another problem.
    pub fn place(&self, id: TensorId) -> Option<(ArenaId, u64)> {
        self.places.get(id.index()).copied()
    }

    /// Number of tensors.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it is the plan of a problem without tensors.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes of every arena; at least one entry where there is a tensor.
    pub fn arenas(&self) -> &[u64] {
        &self.arenas
    }

    /// Sum of all arenas, bytes: what must be allocated.
    pub fn peak_bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }

    /// The strategy that made it.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// What no plan of this problem with as many arenas can undercut, bytes.
    pub fn lower_bound_bytes(&self) -> u64 {
        self.lower_bound_bytes
    }

    /// Whether the peak is proven to be the lowest of all plans with as many arenas.
    pub fn is_optimal(&self) -> bool {
        self.proof.is_some()
    }

    /// Why no plan with as many arenas can have a lower peak, where that is proven.
    pub fn proof(&self) -> Option<Proof> {
        self.proof
    }

    /// Fingerprint of the problem it was made for.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Bytes that rounding up to the alignment takes at the step at which they are most.
    pub fn padding_bytes(&self) -> u64 {
        self.padding_bytes
    }

    /// Judges the plan: a sweep over the steps that shares no code with any strategy.
    ///
    /// # Errors
    /// The first rule that is broken: two tensors that meet in steps and bytes, a wrong alignment, ...
    pub fn validate(&self, problem: &Problem) -> Result<(), Violation> {
        super::validate::validate(self, problem)
    }

    /// The part of the judgement without which nobody can say where a tensor lies: the plan is one of this
    /// problem, and each tensor lies within an arena.
    pub(crate) fn check_arenas(&self, problem: &Problem) -> Result<(), Violation> {
        super::validate::check_arenas(self, problem)
    }

    /// The numbers of the plan beside those of its problem.
    pub fn report(&self, problem: &Problem) -> Report {
        Report::new(self, problem)
    }

    /// The same plan with one tensor elsewhere, unchecked: for tests of whatever should notice. An unknown
    /// id changes nothing.
    pub fn with_offset(&self, id: TensorId, arena: ArenaId, offset_bytes: u64) -> Plan {
        let mut plan = self.clone();
        if let Some(place) = plan.places.get_mut(id.index()) {
            *place = (arena, offset_bytes);
        }
        plan
    }
}

/// A tensor of 0 bytes lies at its pin or its base's, else at 0.
fn zero_size_offset(problem: &Problem, tensor: &super::Tensor) -> u64 {
    let mut root = tensor;
    while let Some(base) = root.alias.and_then(|alias| problem.get(alias.base)) {
        root = base;
    }
    root.pin.unwrap_or(0)
}

/// Most bytes of rounding at any step; says what the alignment costs whatever the plan.
fn padding_bytes(problem: &Problem) -> u64 {
    let blocks = resolve(problem, Merging::None).blocks;
    let padding = |b: &Block| align_up(b.size_bytes, b.align_bytes) - b.size_bytes;
    let mut births: Vec<(u32, u64)> = blocks.iter().map(|b| (b.first, padding(b))).collect();
    let mut deaths: Vec<(u32, u64)> = blocks.iter().map(|b| (b.last, padding(b))).collect();
    births.sort_unstable();
    deaths.sort_unstable();
    let (mut live, mut most, mut dead) = (0, 0, 0);
    for (step, bytes) in births {
        while deaths[dead].0 < step {
            live -= deaths[dead].1;
            dead += 1;
        }
        live += bytes;
        most = most.max(live);
    }
    most
}
