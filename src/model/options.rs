//! What the caller adds to a model file.

use std::collections::BTreeMap;

/// Sizes that a model file leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Whole shapes of graph inputs, by input name. A dimension that the model fixes must agree.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// Named dimensions, by the name in the model.
    pub dims: BTreeMap<String, usize>,
}
