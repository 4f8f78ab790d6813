//! Dispatches on the CPU, by their twins: single ones for whoever holds the bytes, and whole nodes of
//! constants.

use super::{Dispatch, LowerError, LowerLimits, Operand, lower};
use crate::graph::{Constant, Graph, Node, ValueId};

/// Bound where an optional input is absent.
const ZEROS: [f32; 4] = [0.0; 4];

/// Runs one dispatch by its twin. `fetch` shows an input's words; `scratch` enters with the former contents
/// of the output range and leaves with the new ones.
pub fn run_twin<'a>(dispatch: &Dispatch, fetch: impl Fn(ValueId) -> &'a [f32], scratch: &mut [f32]) {
    let show = |operand: &Operand| match *operand {
        Operand::Value { value, start_len, len } => &fetch(value)[start_len..start_len + len],
        Operand::Absent => &ZEROS[..],
    };
    let inputs: Vec<&[f32]> = dispatch.inputs.iter().map(show).collect();
    let twin = dispatch.kernel.kernel().twin;
    let Some(rows) = dispatch.rows else { return twin(&dispatch.params, &inputs, scratch) };
    // The kernel writes front to back; where that lands is not its to know.
    let mut dense: Vec<f32> = scratch.chunks(rows.stride).flat_map(|row| &row[..rows.len]).copied().collect();
    twin(&dispatch.params, &inputs, &mut dense);
    for (row, written) in scratch.chunks_mut(rows.stride).zip(dense.chunks(rows.len)) {
        row[..rows.len].copy_from_slice(written);
    }
}

/// What a node of one output computes from constants: folding is a run of the very twins. `None` where an
/// input is not constant, or where there is none.
///
/// # Errors
/// No kernel computes the node.
pub fn fold(graph: &Graph, node: &Node) -> Result<Option<Constant>, LowerError> {
    let constant = |id: &ValueId| graph.get(*id).constant.is_some();
    let [output] = node.outputs[..] else { return Ok(None) };
    if node.inputs.is_empty() || !node.inputs.iter().all(constant) {
        return Ok(None);
    }
    let limits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: u32::MAX };
    let mut words = vec![0.0; graph.get(output).len()];
    for dispatch in lower(graph, node, limits)? {
        let Operand::Value { start_len, len, .. } = dispatch.output else { continue };
        // A later dispatch may read what an earlier one wrote.
        let reads_itself = |o: &Operand| matches!(o, Operand::Value { value, .. } if *value == output);
        let so_far = if dispatch.inputs.iter().any(reads_itself) { words.clone() } else { Vec::new() };
        let fetch = |id: ValueId| match id == output {
            true => &so_far[..],
            false => graph.get(id).words().unwrap_or_default(),
        };
        run_twin(&dispatch, fetch, &mut words[start_len..start_len + len]);
    }
    Ok(Some(Constant::new(words)))
}
