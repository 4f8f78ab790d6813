//! Outputs that may take the bytes of an input: element-wise operators, where element i of the output needs
//! element i of that input alone.

use super::Kind;
use crate::graph::{Graph, GruPart, Node, Op, Sharing};

/// Positions of inputs that the node's kernels read, element by element, no later than they write the same
/// element of the output.
///
/// Safe are kernels whose invocation writes the element that it read; where a node runs as several
/// dispatches, only inputs of the first.
fn candidates(node: &Node) -> &'static [usize] {
    match node.op {
        Op::Unary(_) | Op::BatchNormalization { .. } | Op::Gate { .. } => &[0],
        Op::Cast | Op::Trilu { .. } | Op::CumSum { .. } => &[0],
        Op::LstmCell { .. } | Op::GruCell { part: GruPart::Reset, .. } => &[1],
        Op::GruCell { .. } => &[2],
        Op::Binary(_) => &[0, 1],
        Op::Select => &[0, 1, 2],
        // The addend.
        Op::Conv { .. } | Op::MatMul { .. } | Op::Gemm { .. } if node.inputs.len() == 4 => &[3],
        Op::Sum if node.inputs.len() == 2 => &[0, 1],
        _ => &[],
    }
}

/// Permits every output what its operator allows. Whether the input dies there, and whether it pays, is the
/// planner's to see.
pub(super) fn permit(graph: &Graph, kinds: &[Kind], sharing: &mut Sharing) {
    for node in &graph.nodes {
        let [output] = node.outputs[..] else { continue };
        for position in candidates(node) {
            let Some(input) = node.inputs.get(*position) else { continue };
            let both = [output, *input].iter().all(|id| {
                let root = sharing.place(*id).0;
                kinds[root.index()] == Kind::Intermediate
            });
            let in_rows = sharing.rows(output).or(sharing.rows(*input)).is_some();
            if both && !in_rows && graph.get(*input).shape == graph.get(output).shape {
                sharing.permit(output, *input);
            }
        }
    }
}
