//! One node being imported: its inputs, attributes and outputs, as the operators see them.

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::importer::Importer;
use super::tensor::{self, Tensor};
use crate::graph::{DType, Node, Op, Value, ValueId};
use crate::kernel;
pub(super) use crate::model::fault::Fault;
use crate::model::names::unique;
use crate::model::npy;

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

    /// Whether the arithmetic of shapes applies: constants all, none of them floats.
    pub(super) fn all_constant_ints(&self) -> bool {
        let int = |t: &Tensor| t.data.is_some() && !t.dtype.is_float();
        (0..self.proto.input.len()).all(|i| self.optional(i).is_none_or(int))
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

    /// The word of a constant input of one element, where it is given.
    pub(super) fn optional_word(&self, index: usize) -> Result<Option<f32>, Fault> {
        let Some(tensor) = self.optional(index) else { return Ok(None) };
        let name = self.input_name(index).unwrap_or_default();
        match (tensor.f32_data(), tensor.i64_data(), tensor.dtype.int_range()) {
            (Some([x]), ..) => Ok(Some(*x)),
            (_, Some([x]), Some(range)) => Ok(Some(npy::checked_word(*x, tensor.dtype, range)?)),
            _ => Err(format!("input {index} '{name}' must be one constant number").into()),
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
        let id = self.importer.materialise(name, &tensor)?;
        if let Some(known) = self.importer.known.get_mut(name) {
            known.value = Some(id);
        }
        Ok(id)
    }

    /// The value in the graph behind a tensor that is not one of the inputs.
    pub(super) fn value_of(&mut self, what: &str, tensor: &Tensor) -> Result<ValueId, Fault> {
        match tensor.value {
            Some(id) => Ok(id),
            None => {
                let name = unique(&mut self.importer.value_names, format!("{}/{what}", self.name));
                Ok(self.importer.materialise(&name, tensor)?)
            }
        }
    }

    /// Puts a constant made by the importer into the graph.
    pub(super) fn constant(&mut self, what: &str, shape: Vec<usize>, data: Vec<f32>) -> ValueId {
        let name = unique(&mut self.importer.value_names, format!("{}/{what}", self.name));
        self.importer.graph.value(Value::f32_constant(name, shape, data))
    }

    /// The same of integers.
    pub(super) fn int_constant(&mut self, what: &str, shape: Vec<usize>, data: &[i32]) -> ValueId {
        let name = unique(&mut self.importer.value_names, format!("{}/{what}", self.name));
        self.importer.graph.value(Value::i32_constant(name, shape, data))
    }

    /// Element type of a value of the graph.
    pub(super) fn dtype_of(&self, value: ValueId) -> DType {
        self.importer.graph.get(value).dtype
    }

    /// Appends the node that writes output 0, of the element type of its first input. A node that reads
    /// constants alone is computed instead.
    pub(super) fn emit(&mut self, op: Op, inputs: &[usize], shape: Vec<usize>) -> Result<(), Fault> {
        let inputs = inputs.iter().map(|i| self.value(*i)).collect::<Result<Vec<_>, _>>()?;
        self.emit_values(op, inputs, shape)
    }

    /// The same, of another element type.
    pub(super) fn emit_as(
        &mut self,
        op: Op,
        inputs: &[usize],
        shape: Vec<usize>,
        dtype: DType,
    ) -> Result<(), Fault> {
        let inputs = inputs.iter().map(|i| self.value(*i)).collect::<Result<Vec<_>, _>>()?;
        self.emit_output_as(0, op, inputs, shape, dtype)
    }

    /// Appends the node that writes output 0, reading values of the graph; of the element type of the first.
    pub(super) fn emit_values(
        &mut self,
        op: Op,
        inputs: Vec<ValueId>,
        shape: Vec<usize>,
    ) -> Result<(), Fault> {
        let dtype = inputs.first().map_or(DType::F32, |id| self.dtype_of(*id));
        self.emit_output_as(0, op, inputs, shape, dtype)
    }

    /// Appends a node that writes output `index` alone, from input 0.
    pub(super) fn emit_output(&mut self, index: usize, op: Op, shape: Vec<usize>) -> Result<(), Fault> {
        let input = self.value(0)?;
        let dtype = self.dtype_of(input);
        self.emit_output_as(index, op, vec![input], shape, dtype)
    }

    /// Appends the node that writes output `index`, reading values of the graph.
    pub(super) fn emit_output_as(
        &mut self,
        index: usize,
        op: Op,
        inputs: Vec<ValueId>,
        shape: Vec<usize>,
        dtype: DType,
    ) -> Result<(), Fault> {
        let Some(name) = self.proto.output.get(index).filter(|name| !name.is_empty()) else {
            return Err(format!("it has no output {index}").into());
        };
        let node = match index {
            0 => self.name.clone(),
            _ => unique(&mut self.importer.node_names, format!("{}/{index}", self.name)),
        };
        let value = match self.importer.written.insert(name.clone()) {
            true => name.clone(),
            false => unique(&mut self.importer.value_names, name.clone()),
        };
        let id = self.append(node, op, inputs, Value::new(value, dtype, shape.clone()))?;
        let tensor = match &self.importer.graph.get(id).constant {
            Some(data) => Tensor::folded(dtype, shape, data, id),
            None => Tensor::runtime(dtype, shape, id),
        };
        self.importer.known.insert(name, tensor);
        Ok(())
    }

    /// Appends a node, or computes it where it reads constants alone, and returns what it writes.
    fn append(
        &mut self,
        node: String,
        op: Op,
        inputs: Vec<ValueId>,
        output: Value,
    ) -> Result<ValueId, Fault> {
        tensor::checked_len(&output.shape, tensor::MAX_LEN)?;
        let graph = &mut self.importer.graph;
        let values: Vec<&Value> = inputs.iter().map(|id| graph.get(*id)).collect();
        op.check_types(&values, &output)?;
        let foldable = values.iter().all(|value| value.constant.is_some());
        let len = output.len();
        let id = graph.value(output);
        let node = Node { name: node, op, inputs, outputs: vec![id] };
        if foldable && len <= tensor::MAX_CONSTANT_LEN {
            let folded = kernel::fold(graph, &node).map_err(|e| e.to_string())?;
            graph.values[id.index()].constant = folded;
        }
        if graph.get(id).constant.is_none() {
            graph.nodes.push(node);
        }
        Ok(id)
    }

    /// Appends a node in front of the one that writes output 0, and returns what it writes: a value of the
    /// element type of its first input.
    pub(super) fn emit_before(
        &mut self,
        what: &str,
        op: Op,
        inputs: Vec<ValueId>,
        shape: Vec<usize>,
    ) -> Result<ValueId, Fault> {
        let dtype = inputs.first().map_or(DType::F32, |id| self.dtype_of(*id));
        self.emit_before_as(what, op, inputs, shape, dtype)
    }

    /// The same, of another element type.
    pub(super) fn emit_before_as(
        &mut self,
        what: &str,
        op: Op,
        inputs: Vec<ValueId>,
        shape: Vec<usize>,
        dtype: DType,
    ) -> Result<ValueId, Fault> {
        let name = format!("{}/{what}", self.name);
        let value = unique(&mut self.importer.value_names, name.clone());
        let node = unique(&mut self.importer.node_names, name);
        self.append(node, op, inputs, Value::new(value, dtype, shape))
    }
}
