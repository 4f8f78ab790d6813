//! What can go wrong between a graph and its results.

/// A network that cannot be compiled or run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The graph breaks a rule.
    #[error(transparent)]
    Graph(#[from] crate::graph::GraphError),
    /// The planner refused.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanError),
    /// The plan is not valid for this graph.
    #[error("the plan is not valid: {0}")]
    Violation(#[from] crate::plan::Violation),
    /// No kernel computes a node.
    #[error(transparent)]
    Lower(crate::kernel::LowerError),
    /// A kernel could not be merged.
    #[cfg(feature = "legal")]
    #[error(transparent)]
    Merge(#[from] crate::legal::MergeError),
    /// The device refused.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(#[from] crate::device::DeviceError),
    /// A tensor is larger than one binding may be, and a node that binds it is not computed in segments;
    /// nothing has been allocated.
    #[error(
        "tensor '{tensor}' ({op} '{node}') needs {needed_bytes} bytes, one binding \
         holds at most {available_bytes} (max_storage_buffer_binding_size)"
    )]
    TensorOverLimit {
        /// The tensor.
        tensor: String,
        /// The node that binds it.
        node: String,
        /// That node's operator.
        op: &'static str,
        /// Bytes of the tensor.
        needed_bytes: u64,
        /// The limit in bytes.
        available_bytes: u64,
    },
    /// A constant that a dispatch binds is not among the weights given.
    #[error(
        "constant '{tensor}' ({len} elements from {start_len} on) is not among the weights: they are \
         another program's"
    )]
    NoWeight {
        /// The constant.
        tensor: String,
        /// First element that the dispatch binds.
        start_len: usize,
        /// Elements that it binds.
        len: usize,
    },
    /// A dispatch that WebGPU refuses, found before any driver saw it.
    #[error("{0}")]
    Unlawful(Box<crate::legal::Violation>),
    /// Another number of inputs than the graph has.
    #[error("the network has {expected} inputs, {got} were given")]
    InputCount {
        /// Inputs of the graph.
        expected: usize,
        /// Inputs given.
        got: usize,
    },
    /// An input of the wrong size.
    #[error("input '{name}' {shape:?} has {expected} elements, {got} were given")]
    InputLen {
        /// The input.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Elements of that shape.
        expected: usize,
        /// Elements given.
        got: usize,
    },
}

impl From<crate::kernel::LowerError> for ExecError {
    fn from(error: crate::kernel::LowerError) -> Self {
        use crate::kernel::LowerError::OverLimit;
        match error {
            OverLimit { node, op, tensor, needed_bytes, available_bytes } => {
                ExecError::TensorOverLimit { tensor, node, op, needed_bytes, available_bytes }
            }
            error => ExecError::Lower(error),
        }
    }
}
