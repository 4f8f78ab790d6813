//! What can be wrong with a graph.

use super::DType;

/// A graph that cannot be planned or run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A rule of [`super::Graph::check`] is broken.
    #[error("node '{node}': {what}")]
    Invalid {
        /// The node, or `graph inputs` / `graph outputs`.
        node: String,
        /// The rule and the value.
        what: String,
    },
    /// A tensor that only exists at run time is not float32.
    #[error(
        "node '{node}' ({op}): tensor '{tensor}' is {dtype} at run time; \
         only float32 tensors are executed, the others must fold to constants"
    )]
    RuntimeType {
        /// The node that reads or writes it.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The tensor.
        tensor: String,
        /// Its element type.
        dtype: DType,
    },
    /// The planner refused the graph's tensors.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanError),
}
