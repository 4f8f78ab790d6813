//! The state of an import: what is known of each name, and the graph that grows.

use std::collections::{HashMap, HashSet};

use rten_onnx::onnx::{GraphProto, ModelProto, NodeProto};

use super::tensor::{self, Tensor};
use super::{ImportOptions, attributes::Attributes, inputs, ops, order, prune};
use crate::graph::{Constant, DType, Graph, GraphError, Op, Value, ValueId};
use crate::model::ModelError;

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

pub(super) fn import(
    mut model: ModelProto,
    file: &str,
    name: String,
    options: &ImportOptions,
) -> Result<Graph, ModelError> {
    let malformed = |what: &str| ModelError::Malformed { file: file.to_string(), what: what.into() };
    let graph = model.graph.take().ok_or_else(|| malformed("no graph inside; is it an ONNX model?"))?;
    if graph.output.is_empty() {
        return Err(malformed("the graph has no output"));
    }
    let opset = order::opset(&model, file)?;
    order::check_operators(&model, &graph, file)?;
    let inputs = inputs::resolve(&model, &graph, options)?;
    let schedule = order::schedule(&graph, &inputs)?;
    let mut importer = Importer::new(name, opset, &graph);
    importer.inputs(&inputs);
    importer.initializers(&graph)?;
    for index in schedule {
        importer.node(&graph.node[index])?;
    }
    importer.outputs(&graph)?;
    let graph = prune::prune(importer.graph);
    graph.check()?;
    Ok(graph)
}

pub(super) struct Importer<'m> {
    graph: Graph,
    opset: i64,
    known: HashMap<&'m str, Tensor>,
    /// How often each name is still to be read, graph outputs included.
    readers: HashMap<&'m str, usize>,
    value_names: HashSet<String>,
    node_names: HashSet<String>,
    /// Constants in the graph by the address of their data and their shape, so that each is held once.
    shared: HashMap<(usize, Vec<usize>), ValueId>,
}

impl<'m> Importer<'m> {
    fn new(name: String, opset: i64, graph: &'m GraphProto) -> Self {
        let mut readers: HashMap<&str, usize> = HashMap::new();
        let outputs = graph.output.iter().filter_map(|o| o.name.as_deref());
        for name in graph.node.iter().flat_map(|n| &n.input).map(String::as_str).chain(outputs) {
            *readers.entry(name).or_default() += 1;
        }
        // Names that sublet makes up must not meet any of these.
        let mut value_names: HashSet<String> = graph.node.iter().flat_map(|n| n.output.clone()).collect();
        value_names.extend(graph.input.iter().filter_map(|i| i.name.clone()));
        value_names.extend(graph.initializer.iter().filter_map(|t| t.name.clone()));
        Importer {
            graph: Graph::new(name),
            opset,
            known: HashMap::new(),
            readers,
            value_names,
            node_names: HashSet::new(),
            shared: HashMap::new(),
        }
    }

    fn inputs(&mut self, inputs: &[inputs::Input]) {
        for input in inputs {
            let id = self.graph.value(Value::f32(&input.name, input.shape.clone()));
            self.graph.inputs.push(id);
        }
    }

    fn initializers(&mut self, graph: &'m GraphProto) -> Result<(), ModelError> {
        for id in &self.graph.inputs {
            let value = self.graph.get(*id);
            let name = graph.input.iter().filter_map(|i| i.name.as_deref()).find(|n| *n == value.name);
            let name = name.expect("inputs were resolved from this list");
            let tensor = Tensor::runtime(DType::F32, value.shape.clone(), *id);
            if self.known.insert(name, tensor).is_some() {
                return Err(ModelError::Tensor { tensor: name.into(), what: "is an input twice".into() });
            }
        }
        for proto in &graph.initializer {
            let name = proto.name.as_deref().unwrap_or_default();
            let fault = |what| ModelError::Tensor { tensor: name.to_string(), what };
            if self.known.contains_key(name) {
                return Err(fault("is an initializer twice".into()));
            }
            if self.readers.contains_key(name) {
                let tensor = tensor::decode(proto).map_err(fault)?;
                self.known.insert(name, tensor);
            }
        }
        Ok(())
    }

    fn node(&mut self, proto: &'m NodeProto) -> Result<(), ModelError> {
        let op = proto.op_type.as_deref().unwrap_or_default();
        let handler = ops::handler(op).expect("unknown operators are refused before");
        for input in &proto.input {
            if let Some(count) = self.readers.get_mut(input.as_str()) {
                *count -= 1;
            }
        }
        let label = order::label(proto);
        let name = unique(&mut self.node_names, label.clone());
        let result = handler(&mut Site { importer: self, proto, name });
        for input in &proto.input {
            if self.readers.get(input.as_str()) == Some(&0) {
                self.known.remove(input.as_str());
            }
        }
        result.map_err(|fault| match fault {
            Fault::What(what) => ModelError::Node { node: label, op: op.to_string(), what },
            Fault::Type { tensor, dtype } => {
                let op = ops::static_name(op);
                ModelError::Graph(GraphError::RuntimeType { node: label, op, tensor, dtype })
            }
        })
    }

    /// The graph's outputs: each is written by a node of its own, so an input, a constant or a second listing of the
    /// same tensor is copied.
    fn outputs(&mut self, graph: &'m GraphProto) -> Result<(), ModelError> {
        for output in &graph.output {
            let name = output.name.as_deref().unwrap_or_default();
            let fault = |what: &str| ModelError::Tensor { tensor: name.to_string(), what: what.into() };
            let tensor = self.known.get(name).cloned();
            let tensor = tensor.ok_or_else(|| fault("is a graph output, and nothing defines it"))?;
            let node = unique(&mut self.node_names, format!("{name}/copy"));
            let runtime_type = |dtype| {
                ModelError::Graph(GraphError::RuntimeType {
                    node: node.clone(),
                    op: "Output",
                    tensor: name.into(),
                    dtype,
                })
            };
            let constant = tensor.data.is_some();
            let source = match tensor.value {
                Some(id) => id,
                None => self.materialise(&format!("{name}/constant"), &tensor).map_err(runtime_type)?,
            };
            let written = !constant && !self.graph.inputs.contains(&source);
            if written && !self.graph.outputs.contains(&source) {
                self.graph.outputs.push(source);
                continue;
            }
            // The name of a constant is free: its value is called after its place.
            let taken = self.graph.values.iter().any(|v| v.name == name);
            let copy =
                if taken { unique(&mut self.value_names, format!("{name}/copy")) } else { name.to_string() };
            let id = self.graph.value(Value::f32(copy, tensor.shape));
            self.graph.node(node, Op::Copy, vec![source], vec![id]);
            self.graph.outputs.push(id);
        }
        Ok(())
    }

    /// Puts a constant into the graph, or finds it there.
    fn materialise(&mut self, name: &str, tensor: &Tensor) -> Result<ValueId, DType> {
        let data = match &tensor.data {
            Some(Constant::F32(data)) => data,
            _ => return Err(tensor.dtype),
        };
        let key = (std::sync::Arc::as_ptr(data) as usize, tensor.shape.clone());
        if let Some(id) = self.shared.get(&key) {
            return Ok(*id);
        }
        let id = self.graph.value(Value {
            name: name.to_string(),
            dtype: DType::F32,
            shape: tensor.shape.clone(),
            constant: tensor.data.clone(),
        });
        self.shared.insert(key, id);
        Ok(id)
    }
}

fn unique(taken: &mut HashSet<String>, wish: String) -> String {
    let mut name = wish.clone();
    let mut count = 2;
    while !taken.insert(name.clone()) {
        name = format!("{wish}#{count}");
        count += 1;
    }
    name
}

/// One node being imported.
pub(super) struct Site<'a, 'm> {
    importer: &'a mut Importer<'m>,
    proto: &'m NodeProto,
    name: String,
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
