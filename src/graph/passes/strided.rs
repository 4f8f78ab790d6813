//! Concatenations along an inner axis: each input is a column of the result, and its producer writes it there
//! row by row.

use super::Kind;
use crate::graph::{Graph, Node, Op, Rows, Sharing, ValueId};

/// Which nodes write and read each value.
pub(super) struct Uses {
    writer: Vec<Option<usize>>,
    readers: Vec<Vec<usize>>,
}

impl Uses {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut uses =
            Uses { writer: vec![None; graph.values.len()], readers: vec![Vec::new(); graph.values.len()] };
        for (at, node) in graph.nodes.iter().enumerate() {
            node.outputs.iter().for_each(|id| uses.writer[id.index()] = Some(at));
            node.inputs.iter().for_each(|id| uses.readers[id.index()].push(at));
        }
        uses
    }
}

/// Makes inputs of a concatenation columns of its result, where dimensions before the axis are longer than 1.
///
/// Nobody but concatenations reads such an input, since kernels read what lies in one piece; one of them has
/// it in its result, the others copy it from there.
pub(super) fn elide(graph: &Graph, kinds: &[Kind], uses: &Uses, node: usize, sharing: &mut Sharing) {
    let Op::Concat { axis } = graph.nodes[node].op else { return };
    let [output] = graph.nodes[node].outputs[..] else { return };
    let whole = graph.get(output);
    let before: usize = whole.shape[..axis].iter().product();
    if before == 1 || whole.is_empty() || sharing.touches(node) {
        return;
    }
    let stride = whole.len() / before;
    // A result that lies in rows itself has to have a row for each of these.
    if sharing.rows(output).is_some_and(|rows| rows.len != stride) {
        return;
    }
    let mut start = 0;
    for (i, input) in graph.nodes[node].inputs.iter().enumerate() {
        let (root, first) = sharing.place(*input);
        let rows = Rows { len: graph.get(*input).len() / before, stride };
        let is_all = first == 0 && graph.get(root).len() == graph.get(*input).len() && rows.len > 0;
        let is_free = kinds[root.index()] == Kind::Intermediate && root != sharing.place(output).0;
        if is_all && is_free && is_column(graph, uses, root, node, rows, sharing) {
            sharing.put_rows(root, output, start, rows);
            sharing.elide(node, i);
        }
        start += rows.len;
    }
}

/// Whether all that is stored with a value can lie in those rows: it is all of it, its kernels write each
/// element once, and concatenations read it, the one at `concat` once.
fn is_column(
    graph: &Graph,
    uses: &Uses,
    root: ValueId,
    concat: usize,
    rows: Rows,
    sharing: &Sharing,
) -> bool {
    // What is written by parts has no kernel that writes all of it.
    let writer = uses.writer[root.index()].filter(|at| !sharing.touches(*at));
    let Some(writer) = writer.map(|at| &graph.nodes[at]) else { return false };
    // A concatenation whose own inputs would have to be copied then loses more than is won.
    if let Op::Concat { axis } = writer.op {
        let before: usize = graph.get(root).shape[..axis].iter().product();
        if before != graph.get(root).len() / rows.len {
            return false;
        }
    }
    if !is_written_once(writer) {
        return false;
    }
    let (mut reads, mut stored) = (0, vec![root]);
    while let Some(id) = stored.pop() {
        for at in &uses.readers[id.index()] {
            let node = &graph.nodes[*at];
            reads += usize::from(*at == concat);
            let can_read = *at == concat || rows.strides(&graph.get(id).shape).is_some();
            let is_view = node.inputs.len() == 1 && sharing.is_elided(*at, 0);
            match (is_view, &node.op) {
                (true, _) if graph.get(node.outputs[0]).len() == graph.get(root).len() => {
                    stored.push(node.outputs[0]);
                }
                (false, Op::Concat { .. }) if can_read => {}
                _ => return false,
            }
        }
    }
    reads == 1
}

/// Whether the kernels of a node write each element of its output once, and do not read it again.
fn is_written_once(node: &Node) -> bool {
    let again = match node.op {
        Op::Softmax { .. } | Op::LogSoftmax { .. } => true,
        Op::ScatterNd { .. } | Op::ScatterElements { .. } => true,
        Op::Sum => node.inputs.len() > 2,
        _ => false,
    };
    !again && node.outputs.len() == 1
}
