//! What the caller adds to a model file.

use std::collections::BTreeMap;

use super::npy::Array;

/// Sizes that a model file leaves open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportOptions {
    /// Whole shapes of graph inputs, by input name. A dimension that the model fixes must agree.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// Named dimensions, by the name in the model; `.tflite` files name none.
    pub dims: BTreeMap<String, usize>,
    /// Graph inputs whose data is known, by input name: they are constants of the graph then. What a shape
    /// depends on must be constant.
    pub constants: BTreeMap<String, Array>,
}
