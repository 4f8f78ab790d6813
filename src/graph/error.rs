//! What can be wrong with a graph.

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
    /// An operator is not computed for the element type of one of its tensors.
    #[error("node '{node}' ({op}): {what}")]
    Type {
        /// The node that reads or writes it.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The tensor, its element type and what is due.
        what: String,
    },
    /// The planner refused the graph's tensors.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanError),
}
