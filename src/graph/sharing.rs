//! Which values are bytes of other values, and which outputs may take the bytes of an input.

use std::collections::{BTreeMap, BTreeSet};

use super::{Graph, ValueId};

/// How values share storage. Empty where every value has bytes of its own and every node runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sharing {
    /// Of a value that is part of another: which, and its first element in it.
    parents: BTreeMap<ValueId, (ValueId, usize)>,
    /// Output and input: the output may take the bytes of an input that nothing reads later.
    in_place: Vec<(ValueId, ValueId)>,
    /// Node and position of inputs whose elements are where the node would copy them to.
    elided: BTreeSet<(usize, usize)>,
}

impl Sharing {
    /// The value whose storage holds `value`, and the first element of `value` in it; itself and 0 for most.
    pub fn place(&self, value: ValueId) -> (ValueId, usize) {
        let (mut root, mut start_len) = (value, 0);
        while let Some((parent, start)) = self.parents.get(&root) {
            root = *parent;
            start_len += start;
        }
        (root, start_len)
    }

    /// Values that are part of another, ascending.
    pub fn views(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.parents.keys().copied()
    }

    /// Permissions (output, input) to write in place.
    pub fn in_place(&self) -> &[(ValueId, ValueId)] {
        &self.in_place
    }

    /// Whether the elements of that input of that node are already where the node would put them.
    pub fn is_elided(&self, node: usize, input: usize) -> bool {
        self.elided.contains(&(node, input))
    }

    /// Whether any input of a node is elided.
    pub fn touches(&self, node: usize) -> bool {
        self.elided.range((node, 0)..(node + 1, 0)).next().is_some()
    }

    /// Makes `part` the elements of `whole` from `start_len` on. `part` must stand for itself and `whole`
    /// must not be part of it.
    pub(super) fn put(&mut self, part: ValueId, whole: ValueId, start_len: usize) {
        debug_assert!(!self.parents.contains_key(&part) && self.place(whole).0 != part);
        self.parents.insert(part, (whole, start_len));
    }

    /// Whether the value has storage of its own that no other value is part of.
    pub(super) fn is_alone(&self, value: ValueId) -> bool {
        !self.parents.contains_key(&value) && self.parents.values().all(|(parent, _)| *parent != value)
    }

    pub(super) fn elide(&mut self, node: usize, input: usize) {
        self.elided.insert((node, input));
    }

    pub(super) fn permit(&mut self, output: ValueId, input: ValueId) {
        // All permissions of one output come together.
        let mut of_output = self.in_place.iter().rev().take_while(|pair| pair.0 == output);
        if !of_output.any(|pair| pair.1 == input) {
            self.in_place.push((output, input));
        }
    }
}

/// What of a graph's values is stored where: only values that a node writes and that no caller holds are in
/// arenas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Written by a node, read by nodes alone.
    Intermediate,
    /// Written by a node into a buffer of the caller.
    Output,
    /// Written by the caller, or before the run.
    Given,
}

/// The kind of every value, by id.
pub(super) fn kinds(graph: &Graph) -> Vec<Kind> {
    let mut kinds = vec![Kind::Given; graph.values.len()];
    for id in graph.nodes.iter().flat_map(|n| &n.outputs) {
        kinds[id.index()] = Kind::Intermediate;
    }
    for id in &graph.outputs {
        kinds[id.index()] = Kind::Output;
    }
    kinds
}
