//! One node being imported: its inputs, attributes and outputs, as the operators see them.

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::importer::Importer;
use super::tensor::{self, Tensor};
use crate::graph::{DType, Op, Value, ValueId};
pub(super) use crate::model::fault::Fault;
use crate::model::names::unique;

/// One node being imported.
pub(super) struct Site<'a, 'm> {
    pub importer: &'a mut Importer<'m>,
    pub proto: &'m NodeProto,
    pub name: String,
}

impl<'m> Site<'_, 'm> {
    pub(super) fn attributes(&self) -> Attributes<'m> {
        Attributes(self.proto)
    }

    pub(super) fn opset(&self) -> i64 {
        self.importer.opset
    }

    pub(super) fn op(&self) -> &'m str {
        self.proto.op_type.as_deref().unwrap_or_default()
    }

    fn input_name(&self, index: usize) -> Option<&'m str> {
        self.proto.input.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Inputs up to the last that is given.
    pub(super) fn input_count(&self) -> usize {
        self.proto.input.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1)
    }

    pub(super) fn output_count(&self) -> usize {
        self.proto.output.len()
    }

    pub(super) fn optional(&self, index: usize) -> Option<&Tensor> {
        self.input_name(index).and_then(|name| self.importer.known.get(name))
    }

    pub(super) fn input(&self, index: usize) -> Result<&Tensor, Fault> {
        self.optional(index).ok_or_else(|| format!("input {index} is missing").into())
    }

    pub(super) fn shape(&self, index: usize) -> Result<Vec<usize>, Fault> {
        Ok(self.input(index)?.shape.clone())
    }

    /// The tensor itself where this is its last use, so that its data can be changed in place; else a copy.
    pub(super) fn take(&mut self, index: usize) -> Result<Tensor, Fault> {
        let tensor = self.input(index)?.clone();
        let Some(name) = self.input_name(index) else { return Ok(tensor) };
        let once = self.proto.input.iter().filter(|other| *other == name).count() == 1;
        if once && self.importer.readers.get(name) == Some(&0) {
            drop(tensor);
            return self.importer.known.remove(name).ok_or_else(|| "was just seen".into());
        }
        Ok(tensor)
    }

    pub(super) fn all_constant(&self) -> bool {
        (0..self.proto.input.len()).all(|i| self.optional(i).is_none_or(|t| t.data.is_some()))
    }

    /// The integers of a constant input.
    pub(super) fn ints(&self, index: usize) -> Result<Vec<i64>, Fault> {
        let name = self.input_name(index).unwrap_or_default();
        match self.input(index)?.i64_data() {
            Some(data) => Ok(data.to_vec()),
            None => Err(format!("input {index} '{name}' must be constant integers").into()),
        }
    }

    pub(super) fn optional_ints(&self, index: usize) -> Result<Option<Vec<i64>>, Fault> {
        self.optional(index).is_some().then(|| self.ints(index)).transpose()
    }

    /// The one number of a constant float input, where it is given.
    pub(super) fn optional_float(&self, index: usize) -> Result<Option<f32>, Fault> {
        let Some(tensor) = self.optional(index) else { return Ok(None) };
        match tensor.f32_data() {
            Some([x]) => Ok(Some(*x)),
            _ => {
                let name = self.input_name(index).unwrap_or_default();
                Err(format!("input {index} '{name}' must be one constant float").into())
            }
        }
    }

    /// Whether anything reads that output.
    pub(super) fn output_used(&self, index: usize) -> bool {
        let name = self.proto.output.get(index).map(String::as_str);
        name.is_some_and(|name| self.importer.readers.get(name).is_some_and(|n| *n > 0))
    }

    /// States what output `index` is.
    pub(super) fn set(&mut self, index: usize, tensor: Tensor) {
        if self.output_used(index) {
            self.importer.known.insert(&self.proto.output[index], tensor);
        }
    }

    /// The value in the graph behind an input; a constant is put there at its first use.
    pub(super) fn value(&mut self, index: usize) -> Result<ValueId, Fault> {
        if let Some(id) = self.input(index)?.value {
            return Ok(id);
        }
        let name = self.input_name(index).unwrap_or_default();
        let tensor = self.input(index)?.clone();
        let id = self
            .importer
            .materialise(name, &tensor)
            .map_err(|dtype| Fault::Type { tensor: name.to_string(), dtype })?;
        if let Some(known) = self.importer.known.get_mut(name) {
            known.value = Some(id);
        }
        Ok(id)
    }

    /// Puts a constant made by the importer into the graph.
    pub(super) fn constant(&mut self, what: &str, shape: Vec<usize>, data: Vec<f32>) -> ValueId {
        let name = unique(&mut self.importer.value_names, format!("{}/{what}", self.name));
        self.importer.graph.value(Value::f32_constant(name, shape, data))
    }

    /// Appends the node that writes output 0.
    pub(super) fn emit(&mut self, op: Op, inputs: &[usize], shape: Vec<usize>) -> Result<(), Fault> {
        let inputs = inputs.iter().map(|i| self.value(*i)).collect::<Result<Vec<_>, _>>()?;
        self.emit_values(op, inputs, shape)
    }

    /// Appends the node that writes output 0, reading values of the graph.
    pub(super) fn emit_values(
        &mut self,
        op: Op,
        inputs: Vec<ValueId>,
        shape: Vec<usize>,
    ) -> Result<(), Fault> {
        let name = self.name.clone();
        self.append(name, 0, op, inputs, shape)
    }

    /// Appends a node that writes output `index` alone, from input 0.
    pub(super) fn emit_output(&mut self, index: usize, op: Op, shape: Vec<usize>) -> Result<(), Fault> {
        let input = self.value(0)?;
        let name = unique(&mut self.importer.node_names, format!("{}/{index}", self.name));
        self.append(name, index, op, vec![input], shape)
    }

    fn append(
        &mut self,
        node: String,
        output: usize,
        op: Op,
        inputs: Vec<ValueId>,
        shape: Vec<usize>,
    ) -> Result<(), Fault> {
        let Some(name) = self.proto.output.get(output).filter(|name| !name.is_empty()) else {
            return Err(format!("it has no output {output}").into());
        };
        tensor::checked_len(&shape, tensor::MAX_LEN)?;
        let id = self.importer.graph.value(Value::f32(name, shape.clone()));
        self.importer.graph.node(node, op, inputs, vec![id]);
        self.importer.known.insert(name, Tensor::runtime(DType::F32, shape, id));
        Ok(())
    }

    /// Name of output 0.
    pub(super) fn output_name(&self) -> String {
        self.proto.output.first().cloned().unwrap_or_default()
    }

    /// Appends a node in front of the one that writes output 0, and returns what it writes.
    pub(super) fn emit_before(
        &mut self,
        what: &str,
        op: Op,
        inputs: Vec<ValueId>,
        shape: Vec<usize>,
    ) -> Result<ValueId, Fault> {
        tensor::checked_len(&shape, tensor::MAX_LEN)?;
        let name = format!("{}/{what}", self.name);
        let value = unique(&mut self.importer.value_names, name.clone());
        let node = unique(&mut self.importer.node_names, name);
        let id = self.importer.graph.value(Value::f32(value, shape));
        self.importer.graph.node(node, op, inputs, vec![id]);
        Ok(id)
    }
}
