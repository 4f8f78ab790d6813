//! The vocabulary: tensor usage records and the constraints between them.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::fingerprint::{Fingerprint, Hasher};
use super::{Alignment, PlanError, Separation, TensorId};

/// A view's place: it is bytes of another tensor by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The tensor whose bytes they are; may itself be a view.
    pub base: TensorId,
    /// First byte of the view inside the base.
    pub byte_offset: u64,
}

/// A tensor usage record with its constraints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    pub(crate) label: String,
    pub(crate) size_bytes: u64,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) alignment: Option<Alignment>,
    pub(crate) pin: Option<u64>,
    pub(crate) kept: bool,
    pub(crate) alias: Option<Alias>,
    pub(crate) in_place: Vec<TensorId>,
}

impl Tensor {
    /// Unique name.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Size in bytes, unaligned; 0 is allowed.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// First step that uses it.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Last step that uses it, inclusive; see [`Problem::last`] for kept tensors.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Its own alignment, where it differs from the problem's.
    pub fn alignment(&self) -> Option<Alignment> {
        self.alignment
    }

    /// Offset at which it must lie, bytes.
    pub fn pin(&self) -> Option<u64> {
        self.pin
    }

    /// Whether it must survive the run.
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// Where it is a view: of what.
    pub fn alias(&self) -> Option<Alias> {
        self.alias
    }

    /// Inputs whose bytes it may take.
    pub fn in_place(&self) -> &[TensorId] {
        &self.in_place
    }
}

/// Tensor usage records and their constraints: what a planner needs to know of a network.
///
/// ```
/// # use sublet::plan::{Alignment, Planner, Problem};
/// let mut problem = Problem::new(Alignment::new(256)?);
/// let conv = problem.tensor("conv1", 65_536, 0..=1)?;
/// let relu = problem.tensor("relu1", 65_536, 1..=2)?;
/// problem.allow_in_place(relu, conv)?;
/// let plan = Planner::auto().plan(&problem)?;
/// assert_eq!(plan.peak_bytes(), 65_536);
/// # Ok::<(), sublet::plan::PlanError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Problem {
    alignment: Alignment,
    tensors: Vec<Tensor>,
    pub(super) separations: Vec<Separation>,
    labels: HashMap<String, TensorId>,
    naive_bytes: u64,
    /// No plan of any strategy reaches past this byte, so offset arithmetic cannot overflow.
    padded_bytes: u64,
    highest_pin_end: u64,
    steps: u32,
}

impl Problem {
    /// An empty problem; `alignment` holds for every tensor that sets none of its own.
    pub fn new(alignment: Alignment) -> Self {
        Problem {
            alignment,
            tensors: Vec::new(),
            separations: Vec::new(),
            labels: HashMap::new(),
            naive_bytes: 0,
            padded_bytes: 0,
            highest_pin_end: 0,
            steps: 0,
        }
    }

    /// Adds a tensor of `size_bytes` that is used from step `usage.start()` to step `usage.end()`, both
    /// included.
    ///
    /// # Errors
    /// An empty interval, a label that exists already, sizes that no longer sum up in 64 bits.
    pub fn tensor(
        &mut self,
        label: impl Into<String>,
        size_bytes: u64,
        usage: RangeInclusive<u32>,
    ) -> Result<TensorId, PlanError> {
        let (label, first, last) = (label.into(), *usage.start(), *usage.end());
        if first > last || last == u32::MAX {
            return Err(PlanError::Interval { tensor: label, first, last });
        }
        if self.labels.contains_key(&label) {
            return Err(PlanError::DuplicateLabel { tensor: label });
        }
        let Some(id) = u32::try_from(self.tensors.len()).ok().map(TensorId::new) else {
            return Err(PlanError::TooManyTensors { tensor: label });
        };
        let padded = size_bytes
            .checked_add(Alignment::MAX_BYTES)
            .and_then(|b| b.checked_add(self.padded_bytes))
            .filter(|padded| padded.checked_add(self.highest_pin_end).is_some());
        let Some(padded) = padded else {
            return Err(PlanError::Overflow { tensor: label, size_bytes, total_bytes: self.naive_bytes });
        };
        self.padded_bytes = padded;
        self.naive_bytes += size_bytes;
        self.steps = self.steps.max(last + 1);
        self.labels.insert(label.clone(), id);
        self.tensors.push(Tensor {
            label,
            size_bytes,
            first,
            last,
            alignment: None,
            pin: None,
            kept: false,
            alias: None,
            in_place: Vec::new(),
        });
        Ok(id)
    }

    /// Gives a tensor an alignment of its own.
    ///
    /// # Errors
    /// An unknown id, a view, a pin that is no multiple of it.
    pub fn set_alignment(&mut self, id: TensorId, alignment: Alignment) -> Result<(), PlanError> {
        self.check_no_view(id, "alignment")?;
        let tensor = self.known(id)?;
        if let Some(offset_bytes) = tensor.pin.filter(|pin| pin % alignment.bytes() != 0) {
            return Err(pin_misaligned(tensor, offset_bytes, alignment));
        }
        self.tensors[id.index()].alignment = Some(alignment);
        Ok(())
    }

    /// Demands that a tensor lies at exactly that offset of the first arena.
    ///
    /// # Errors
    /// An unknown id, a view, an offset that is misaligned or overflows with the sizes of all tensors; a
    /// tensor that must not share an arena with another pinned one.
    pub fn pin(&mut self, id: TensorId, offset_bytes: u64) -> Result<(), PlanError> {
        self.check_no_view(id, "pin")?;
        let tensor = self.known(id)?;
        let alignment = tensor.alignment.unwrap_or(self.alignment);
        if !offset_bytes.is_multiple_of(alignment.bytes()) {
            return Err(pin_misaligned(tensor, offset_bytes, alignment));
        }
        let end = offset_bytes
            .checked_add(tensor.size_bytes)
            .filter(|end| end.checked_add(self.padded_bytes).is_some())
            .ok_or_else(|| PlanError::Overflow {
                tensor: tensor.label.clone(),
                size_bytes: tensor.size_bytes,
                total_bytes: offset_bytes,
            })?;
        let before = self.tensors[id.index()].pin.replace(offset_bytes);
        if let Err(contradiction) = self.contradictions() {
            self.tensors[id.index()].pin = before;
            return Err(contradiction);
        }
        self.highest_pin_end = self.highest_pin_end.max(end);
        Ok(())
    }

    /// Demands that a tensor survives the run: its usage then reaches to the last step.
    ///
    /// # Errors
    /// An unknown id; a tensor whose bytes another may take in place.
    pub fn keep(&mut self, id: TensorId) -> Result<(), PlanError> {
        let tensor = self.known(id)?;
        if let Some(output) = self.tensors.iter().find(|t| t.in_place.contains(&id)) {
            return Err(in_place_kept(output, tensor));
        }
        self.tensors[id.index()].kept = true;
        Ok(())
    }

    /// Permits `output` to take the bytes of `input`, which dies at the step that first writes `output`.
    ///
    /// A permission, not a demand: the planner uses it where it lowers the peak.
    ///
    /// # Errors
    /// An unknown id, `input` used later or kept, `output` larger than `input`, the two separated, or
    /// `input` being permitted to take the bytes of `output` (both live in one step alone, and neither
    /// comes first).
    pub fn allow_in_place(&mut self, output: TensorId, input: TensorId) -> Result<(), PlanError> {
        let (out, inp) = (self.known(output)?, self.known(input)?);
        if inp.kept {
            return Err(in_place_kept(out, inp));
        }
        if inp.last != out.first || input == output {
            return Err(PlanError::InPlaceSteps {
                output: out.label.clone(),
                input: inp.label.clone(),
                output_first: out.first,
                input_last: inp.last,
            });
        }
        if out.size_bytes > inp.size_bytes {
            return Err(PlanError::InPlaceSize {
                output: out.label.clone(),
                input: inp.label.clone(),
                output_bytes: out.size_bytes,
                input_bytes: inp.size_bytes,
            });
        }
        if self.may_take(input, output) {
            return Err(PlanError::InPlaceCircle { output: out.label.clone(), input: inp.label.clone() });
        }
        if self.parted(output, input) {
            return Err(PlanError::Separate {
                first: out.label.clone(),
                second: inp.label.clone(),
                why: "the one may take the bytes of the other in place",
            });
        }
        let permissions = &mut self.tensors[output.index()].in_place;
        if !permissions.contains(&input) {
            permissions.push(input);
        }
        Ok(())
    }

    /// Whether `taker` may end up in the bytes of `giver`, through any number of permissions.
    fn may_take(&self, taker: TensorId, giver: TensorId) -> bool {
        let mut seen = vec![taker];
        let mut next = 0;
        while let Some(tensor) = seen.get(next).and_then(|id| self.get(*id)) {
            for input in &tensor.in_place {
                if !seen.contains(input) {
                    seen.push(*input);
                }
            }
            next += 1;
        }
        seen.contains(&giver)
    }

    /// Says that `view` is bytes of `base` from `byte_offset` on: both share them for as long as either is
    /// used.
    ///
    /// # Errors
    /// An unknown id; a view that reaches past its base, has another base already, has a pin or an alignment,
    /// or would be a view of itself; bytes that must lie in different arenas.
    pub fn alias(&mut self, view: TensorId, base: TensorId, byte_offset: u64) -> Result<(), PlanError> {
        let (v, b) = (self.known(view)?, self.known(base)?);
        let refuse = |why| PlanError::View { view: v.label.clone(), base: b.label.clone(), why };
        if v.alias.is_some() {
            return Err(refuse("it is a view already"));
        }
        if v.pin.is_some() || v.alignment.is_some() {
            return Err(refuse("it has a pin or an alignment of its own, which belong to the base"));
        }
        let end = byte_offset.saturating_add(v.size_bytes);
        if end > b.size_bytes || byte_offset > b.size_bytes {
            return Err(PlanError::ViewOutside {
                view: v.label.clone(),
                base: b.label.clone(),
                byte_offset,
                end,
                base_bytes: b.size_bytes,
            });
        }
        let mut at = Some(base);
        while let Some(id) = at {
            if id == view {
                return Err(refuse("it would be a view of itself"));
            }
            at = self.tensors[id.index()].alias.map(|a| a.base);
        }
        self.tensors[view.index()].alias = Some(Alias { base, byte_offset });
        self.contradictions().inspect_err(|_| self.tensors[view.index()].alias = None)
    }

    /// Alignment of every tensor that sets none of its own.
    pub fn alignment(&self) -> Alignment {
        self.alignment
    }

    /// All tensors; [`TensorId::index`] indexes them.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The ids of all tensors, ascending.
    pub fn ids(&self) -> impl Iterator<Item = TensorId> + use<> {
        (0..self.tensors.len() as u32).map(TensorId::new)
    }

    /// The tensor behind an id, if it is one of this problem.
    pub fn get(&self, id: TensorId) -> Option<&Tensor> {
        self.tensors.get(id.index())
    }

    /// The tensor of that label.
    pub fn lookup(&self, label: &str) -> Option<TensorId> {
        self.labels.get(label).copied()
    }

    /// Number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is no tensor at all.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Number of steps: one more than the highest last step.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Last step at which a tensor must hold its bytes, inclusive: the problem's last step for a kept one.
    pub fn last(&self, tensor: &Tensor) -> u32 {
        if tensor.kept { self.steps.saturating_sub(1) } else { tensor.last }
    }

    /// Sum of all sizes, bytes: what no reuse at all would take. Views count, as they do without a planner.
    pub fn naive_bytes(&self) -> u64 {
        self.naive_bytes
    }

    /// Identifies the records and constraints; a plan made for another problem is refused by it.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hasher = Hasher::new();
        hasher.number(self.alignment.bytes());
        for tensor in &self.tensors {
            hasher.text(&tensor.label);
            hasher.number(tensor.size_bytes);
            hasher.number(u64::from(tensor.first));
            hasher.number(u64::from(tensor.last));
            hasher.optional(tensor.alignment.map(Alignment::bytes));
            hasher.optional(tensor.pin);
            hasher.number(u64::from(tensor.kept));
            hasher.optional(tensor.alias.map(|a| a.base.index() as u64));
            hasher.optional(tensor.alias.map(|a| a.byte_offset));
            hasher.number(tensor.in_place.len() as u64);
            for input in &tensor.in_place {
                hasher.number(input.index() as u64);
            }
        }
        // Only where there are any: plans of problems without keep their fingerprint.
        for separation in &self.separations {
            for side in [&separation.left, &separation.right] {
                hasher.number(side.len() as u64);
                side.iter().for_each(|id| hasher.number(id.index() as u64));
            }
        }
        hasher.finish()
    }

    /// The same problem with nothing kept: what `keep` costs is the difference.
    pub(crate) fn without_keep(&self) -> Problem {
        let mut problem = self.clone();
        problem.tensors.iter_mut().for_each(|t| t.kept = false);
        problem
    }

    /// The same problem with only those tensors, which keep their labels, and with as many steps. A view
    /// stays only with its base.
    pub(crate) fn subset(&self, stays: &[bool]) -> Problem {
        let mut number = vec![None; self.tensors.len()];
        let mut problem = Problem { steps: self.steps, ..Problem::new(self.alignment) };
        problem.highest_pin_end = self.highest_pin_end;
        for (i, tensor) in self.tensors.iter().enumerate().filter(|(i, _)| stays[*i]) {
            let id = TensorId::new(problem.tensors.len() as u32);
            number[i] = Some(id);
            problem.naive_bytes += tensor.size_bytes;
            problem.padded_bytes += tensor.size_bytes + Alignment::MAX_BYTES;
            problem.labels.insert(tensor.label.clone(), id);
            problem.tensors.push(tensor.clone());
        }
        let new = |id: TensorId| number[id.index()];
        for tensor in &mut problem.tensors {
            tensor.in_place = tensor.in_place.iter().filter_map(|input| new(*input)).collect();
            tensor.alias = tensor.alias.and_then(|alias| Some(Alias { base: new(alias.base)?, ..alias }));
        }
        for separation in &self.separations {
            let side = |ids: &[TensorId]| ids.iter().filter_map(|id| new(*id)).collect::<Vec<_>>();
            let (left, right) = (side(&separation.left), side(&separation.right));
            if !left.is_empty() && !right.is_empty() {
                problem.separations.push(Separation { left, right });
            }
        }
        problem
    }

    fn known(&self, id: TensorId) -> Result<&Tensor, PlanError> {
        self.tensors
            .get(id.index())
            .ok_or(PlanError::UnknownTensor { id: id.index() as u32, tensors: self.tensors.len() })
    }

    fn check_no_view(&self, id: TensorId, what: &'static str) -> Result<(), PlanError> {
        let tensor = self.known(id)?;
        match tensor.alias {
            None => Ok(()),
            Some(alias) => Err(PlanError::ViewConstraint {
                view: tensor.label.clone(),
                base: self.tensors[alias.base.index()].label.clone(),
                what,
            }),
        }
    }
}

fn pin_misaligned(tensor: &Tensor, offset_bytes: u64, alignment: Alignment) -> PlanError {
    PlanError::PinMisaligned { tensor: tensor.label.clone(), offset_bytes, align_bytes: alignment.bytes() }
}

fn in_place_kept(output: &Tensor, input: &Tensor) -> PlanError {
    PlanError::InPlaceKept { output: output.label.clone(), input: input.label.clone(), step: output.first }
}
