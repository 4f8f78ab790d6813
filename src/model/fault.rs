//! What can be wrong with one node.

/// Why a node cannot be imported; the driver adds which node.
#[derive(Debug)]
pub(super) struct Fault(pub String);

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Fault(what)
    }
}

impl From<&str> for Fault {
    fn from(what: &str) -> Self {
        Fault(what.to_string())
    }
}
