//! Attributes of a node, by name and type.

use rten_onnx::onnx::{AttributeProto, NodeProto};

use super::tensor::{self, Tensor};

/// Reads the attributes of one node.
pub(super) struct Attributes<'a>(pub &'a NodeProto);

impl<'a> Attributes<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a AttributeProto> {
        self.0.attribute.iter().find(|a| a.name.as_deref() == Some(name))
    }

    pub(super) fn int(&self, name: &str) -> Result<Option<i64>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(a) => a.i.map(Some).ok_or_else(|| format!("attribute '{name}' is not an integer")),
        }
    }

    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, String> {
        match self.int(name)? {
            None => Ok(default),
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(other) => Err(format!("attribute '{name}' is {other}, not 0 or 1")),
        }
    }

    pub(super) fn float(&self, name: &str) -> Result<Option<f32>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(a) => a.f.map(Some).ok_or_else(|| format!("attribute '{name}' is not a float")),
        }
    }

    pub(super) fn string(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(a) => a.s.as_deref().map(Some).ok_or_else(|| format!("attribute '{name}' is not a string")),
        }
    }

    /// A list of integers; an empty list is a list.
    pub(super) fn ints(&self, name: &str) -> Result<Option<&'a [i64]>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(a) if a.ints.is_empty() && (a.i.is_some() || a.f.is_some() || !a.floats.is_empty()) => {
                Err(format!("attribute '{name}' is not a list of integers"))
            }
            Some(a) => Ok(Some(&a.ints)),
        }
    }

    /// A list of floats; an empty list is a list.
    pub(super) fn floats(&self, name: &str) -> Result<Option<&'a [f32]>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(a) if a.floats.is_empty() && (a.i.is_some() || a.f.is_some() || !a.ints.is_empty()) => {
                Err(format!("attribute '{name}' is not a list of floats"))
            }
            Some(a) => Ok(Some(&a.floats)),
        }
    }

    pub(super) fn tensor(&self, name: &str) -> Result<Option<Tensor>, String> {
        match self.get(name).map(|a| a.t.as_ref()) {
            None => Ok(None),
            Some(None) => Err(format!("attribute '{name}' is not a tensor")),
            Some(Some(t)) => {
                tensor::decode(t).map(Some).map_err(|what| format!("attribute '{name}': {what}"))
            }
        }
    }
}
