//! Which values are bytes of other values, and which outputs may take the bytes of an input.

use std::collections::{BTreeMap, BTreeSet};

use super::{Graph, Node, ValueId};

/// Elements that lie in rows of a larger value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// Elements of a row, one after the other.
    pub len: usize,
    /// Elements from the start of a row to the start of the next one.
    pub stride: usize,
}

impl Rows {
    /// Elements from the first to the last of `len` that lie in such rows, those between them included.
    pub fn span(self, len: usize) -> usize {
        match len {
            0 => 0,
            len => (len - 1) / self.len * self.stride + (len - 1) % self.len + 1,
        }
    }

    /// Where element `i` lies, counted from the first.
    pub fn place(self, i: usize) -> usize {
        i / self.len * self.stride + i % self.len
    }

    /// Strides of a tensor of that shape whose elements lie in such rows; `None` where no dimension begins
    /// with a row.
    pub fn strides(self, shape: &[usize]) -> Option<Vec<i64>> {
        let mut strides = vec![0; shape.len()];
        let (mut dense, mut is_outside) = (1, self.len == 1);
        for d in (0..shape.len()).rev() {
            strides[d] = if is_outside { dense / self.len * self.stride } else { dense } as i64;
            dense *= shape[d];
            is_outside |= dense == self.len;
        }
        is_outside.then_some(strides)
    }
}

/// How values share storage. Empty where every value has bytes of its own and every node runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sharing {
    /// Of a value that is part of another: which, and its first element in it.
    parents: BTreeMap<ValueId, (ValueId, usize)>,
    /// Of a part that does not lie in its whole in one piece: its rows there.
    rows: BTreeMap<ValueId, Rows>,
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

    /// The rows of the value that [`Sharing::place`] tells in which a value lies; `None` where it lies in one
    /// piece.
    pub fn rows(&self, value: ValueId) -> Option<Rows> {
        let (mut at, mut found) = (value, None);
        while let Some((parent, _)) = self.parents.get(&at) {
            if let Some(outer) = self.rows.get(&at) {
                // As many rows there as here: a row of the one lies in a row of the other.
                found = Some(Rows { len: found.map_or(outer.len, |inner: Rows| inner.len), ..*outer });
            }
            at = *parent;
        }
        found
    }

    /// Whether a node reads or writes a value that lies in rows.
    pub fn in_rows(&self, node: &Node) -> bool {
        !self.rows.is_empty() && node.inputs.iter().chain(&node.outputs).any(|id| self.rows(*id).is_some())
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

    /// The same with each row of the part at a row of the whole.
    pub(super) fn put_rows(&mut self, part: ValueId, whole: ValueId, start_len: usize, rows: Rows) {
        self.put(part, whole, start_len);
        self.rows.insert(part, rows);
    }

    /// Gives a value that lies in rows storage of its own again: the concatenation copies it.
    pub(crate) fn gather(&mut self, graph: &Graph, value: ValueId) {
        let mut part = value;
        while !self.rows.contains_key(&part) {
            let Some((parent, _)) = self.parents.get(&part) else { return };
            part = *parent;
        }
        let Some((whole, _)) = self.parents.remove(&part) else { return };
        self.rows.remove(&part);
        let Some(node) = graph.nodes.iter().position(|n| n.outputs.contains(&whole)) else { return };
        for (i, input) in graph.nodes[node].inputs.iter().enumerate() {
            if self.place(*input).0 == part {
                self.elided.remove(&(node, i));
            }
        }
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
