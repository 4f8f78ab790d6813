//! Operators with graphs inside. Every shape is known before a run, so the branch that is taken must be too.

use crate::graph::Op;
use crate::model::onnx::site::{Fault, Site};

/// The nodes of the branch that a constant condition chooses take the place of the node.
pub(super) fn choose_branch(site: &mut Site) -> Result<(), Fault> {
    let taken = match site.input(0)?.i64_data() {
        Some([condition]) => *condition != 0,
        _ => {
            return Err("its condition is not constant: which branch is taken must be known at import".into());
        }
    };
    let name = if taken { "then_branch" } else { "else_branch" };
    let branch = site.attributes().get(name).and_then(|attribute| attribute.g.as_ref());
    let branch = branch.ok_or_else(|| format!("attribute '{name}' is not a graph"))?;
    site.importer.inline(branch).map_err(|e| e.to_string())?;
    for (i, output) in branch.output.iter().enumerate().take(site.output_count()) {
        let inner = output.name.as_deref().unwrap_or_default();
        let tensor = site.importer.known.get(inner).cloned();
        let tensor = tensor.ok_or_else(|| format!("nothing in '{name}' defines its output '{inner}'"))?;
        match tensor.value.filter(|_| tensor.data.is_none()) {
            None => site.set(i, tensor),
            Some(value) => {
                site.emit_output_as(i, Op::Copy, vec![value], tensor.shape, tensor.dtype)?;
            }
        }
    }
    Ok(())
}
