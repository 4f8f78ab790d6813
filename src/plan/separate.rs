//! Separation: tensors that must not lie in one arena.
//!
//! WebGPU forbids to read one part of a buffer and to write another part of it in the same dispatch; where a
//! step's outputs are separated from its inputs, every dispatch is lawful as it is.

use std::collections::HashMap;

use super::{PlanError, Problem, Tensor, TensorId};

/// Two sides: no tensor of the one lies in the arena of a tensor of the other.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Separation {
    pub(crate) left: Vec<TensorId>,
    pub(crate) right: Vec<TensorId>,
}

impl Separation {
    /// One side, ids ascending.
    pub fn left(&self) -> &[TensorId] {
        &self.left
    }

    /// The other side, ids ascending; the first id is not below the first of the left side.
    pub fn right(&self) -> &[TensorId] {
        &self.right
    }

    /// Sides and ids in their one order, so that equal demands have equal fingerprints.
    fn new(a: &[TensorId], b: &[TensorId]) -> Self {
        let tidy = |side: &[TensorId]| {
            let mut side = side.to_vec();
            side.sort_unstable();
            side.dedup();
            side
        };
        let (a, b) = (tidy(a), tidy(b));
        if a <= b { Separation { left: a, right: b } } else { Separation { left: b, right: a } }
    }

    fn parts(&self, a: TensorId, b: TensorId) -> bool {
        let has = |side: &[TensorId], id| side.binary_search(&id).is_ok();
        (has(&self.left, a) && has(&self.right, b)) || (has(&self.left, b) && has(&self.right, a))
    }
}

impl Problem {
    /// Demands that two tensors lie in different arenas; the order of the two means nothing.
    ///
    /// A view lies where its base does, so what holds for a view holds for the base. Tensors of 0 bytes lie
    /// nowhere and are exempt.
    ///
    /// # Errors
    /// [`PlanError::UnknownTensor`]; [`PlanError::Separate`] where the two are the same bytes by meaning, may
    /// take each other's bytes in place, or are both pinned (pins lie in the first arena).
    pub fn separate(&mut self, a: TensorId, b: TensorId) -> Result<(), PlanError> {
        self.separate_step_io(&[a], &[b])
    }

    /// Demands that no output lies in the arena of an input: every pair of the two sides is separated, at the
    /// cost of the sides, not of the pairs.
    ///
    /// # Errors
    /// Like [`Problem::separate`], named for the first pair that contradicts.
    pub fn separate_step_io(&mut self, outputs: &[TensorId], inputs: &[TensorId]) -> Result<(), PlanError> {
        let unknown = outputs.iter().chain(inputs).find(|id| self.get(**id).is_none());
        if let Some(id) = unknown {
            return Err(PlanError::UnknownTensor { id: id.index() as u32, tensors: self.len() });
        }
        if outputs.is_empty() || inputs.is_empty() {
            return Ok(());
        }
        let separation = Separation::new(outputs, inputs);
        self.contradiction(&separation)?;
        if !self.separations.contains(&separation) {
            self.separations.push(separation);
        }
        Ok(())
    }

    /// What must lie in different arenas, in the order in which it was demanded.
    pub fn separations(&self) -> &[Separation] {
        &self.separations
    }

    /// Whether the two are on different sides of a separation, by their own ids.
    pub(super) fn parted(&self, a: TensorId, b: TensorId) -> bool {
        self.separations.iter().any(|s| s.parts(a, b))
    }

    /// Whether the demands still make sense, after an alias or a pin was set.
    pub(super) fn contradictions(&self) -> Result<(), PlanError> {
        self.separations.iter().try_for_each(|s| self.contradiction(s))
    }

    fn contradiction(&self, separation: &Separation) -> Result<(), PlanError> {
        let refuse = |a: TensorId, b: TensorId, why| PlanError::Separate {
            first: self.tensors()[a.index()].label().to_owned(),
            second: self.tensors()[b.index()].label().to_owned(),
            why,
        };
        let root = |id: TensorId| {
            let mut at = id;
            while let Some(alias) = self.tensors()[at.index()].alias() {
                at = alias.base;
            }
            at
        };
        let pinned = |id: &TensorId| self.tensors()[root(*id).index()].pin().is_some();
        let roots: HashMap<TensorId, TensorId> = separation.left.iter().map(|l| (root(*l), *l)).collect();
        let pinned_left = separation.left.iter().copied().find(pinned);
        for right in &separation.right {
            if let Some(left) = roots.get(&root(*right)) {
                return Err(refuse(*left, *right, "they are the same bytes by meaning"));
            }
            if let Some(left) = pinned_left.filter(|_| pinned(right)) {
                return Err(refuse(left, *right, "both are pinned, and pins lie in the first arena"));
            }
        }
        let takes = |output: &TensorId| -> &Tensor { &self.tensors()[output.index()] };
        for (outputs, inputs) in
            [(&separation.left, &separation.right), (&separation.right, &separation.left)]
        {
            for output in outputs {
                let input = takes(output).in_place().iter().find(|i| inputs.binary_search(i).is_ok());
                if let Some(input) = input {
                    return Err(refuse(*output, *input, "the one may take the bytes of the other in place"));
                }
            }
        }
        Ok(())
    }
}
