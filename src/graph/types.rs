//! Which element types an operator takes.

use super::{Op, Value};

impl Op {
    /// Holds the element types of a node against what its operator computes: float32 and int32 as they are at
    /// run time, not as the model has them.
    ///
    /// # Errors
    /// Names the tensor, its type and what is due.
    pub fn check_types(&self, inputs: &[&Value], output: &Value) -> Result<(), String> {
        let fault = |value: &Value, due: &str| {
            Err(format!("tensor '{}' is {}, {} takes {due}", value.name, value.dtype, self.name()))
        };
        match self {
            // What only moves elements takes both kinds, and does not change them.
            Op::Copy
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Concat { .. }
            | Op::Pad { .. }
            | Op::Expand => match inputs.iter().find(|value| value.is_float() != output.is_float()) {
                Some(value) => fault(value, &format!("the kind of its output, {}", output.dtype)),
                None => Ok(()),
            },
            _ => match inputs.iter().chain([&output]).find(|value| !value.is_float()) {
                Some(value) => fault(value, "floats"),
                None => Ok(()),
            },
        }
    }
}
