//! What can be wrong with one node.

use crate::graph::DType;

/// Why a node cannot be imported; the driver adds which node.
pub(super) enum Fault {
    What(String),
    /// A tensor that would exist at run time with another type than float32.
    Type {
        tensor: String,
        dtype: DType,
    },
}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Fault::What(what)
    }
}

impl From<&str> for Fault {
    fn from(what: &str) -> Self {
        Fault::What(what.to_string())
    }
}
