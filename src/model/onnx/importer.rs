//! The state of an import: what is known of each name, and the graph that grows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rten_onnx::onnx::{GraphProto, ModelProto, NodeProto, TensorProto};

use super::site::{Fault, Site};
use super::tensor::{self, Constant, Tensor};
use super::{ImportOptions, inputs, inputs::Input, ops, order};
use crate::graph::{self, Graph, Op, Value, ValueId};
use crate::model::names::unique;
use crate::model::{ModelError, npy, prune};

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
    importer.inputs(&inputs)?;
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
    pub graph: Graph,
    pub opset: i64,
    pub known: HashMap<&'m str, Tensor>,
    /// How often each name is still to be read, graph outputs included.
    pub readers: HashMap<&'m str, usize>,
    pub value_names: HashSet<String>,
    /// Names of the model that values of the graph have; those of a graph that is inlined twice come again.
    pub written: HashSet<String>,
    pub node_names: HashSet<String>,
    /// Constants in the graph by the address of their data and their shape, so that each is held once; the
    /// data is held with them, so that the address stays taken.
    shared: HashMap<(usize, Vec<usize>), (ValueId, Constant)>,
}

impl<'m> Importer<'m> {
    fn new(name: String, opset: i64, graph: &'m GraphProto) -> Self {
        let mut readers: HashMap<&str, usize> = HashMap::new();
        for name in order::names_read_in(graph) {
            *readers.entry(name).or_default() += 1;
        }
        let nodes = order::all_nodes(graph);
        // Names that sublet makes up must not meet any of these.
        let mut value_names: HashSet<String> = nodes.iter().flat_map(|n| n.output.clone()).collect();
        value_names.extend(graph.input.iter().filter_map(|i| i.name.clone()));
        value_names.extend(graph.initializer.iter().filter_map(|t| t.name.clone()));
        Importer {
            graph: Graph::new(name),
            opset,
            known: HashMap::new(),
            readers,
            value_names,
            written: HashSet::new(),
            node_names: HashSet::new(),
            shared: HashMap::new(),
        }
    }

    fn inputs(&mut self, inputs: &[Input<'m>]) -> Result<(), ModelError> {
        for input in inputs {
            let tensor = match &input.constant {
                Some(array) => Tensor::from_array(array),
                None => {
                    let id = self.graph.value(Value::new(input.name, input.dtype, input.shape.clone()));
                    self.graph.inputs.push(id);
                    Tensor::runtime(input.dtype, input.shape.clone(), id)
                }
            };
            if self.known.insert(input.name, tensor).is_some() {
                let what = "is an input twice".into();
                return Err(ModelError::Tensor { tensor: input.name.into(), what });
            }
        }
        Ok(())
    }

    fn initializers(&mut self, graph: &'m GraphProto) -> Result<(), ModelError> {
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

    /// The nodes of a graph inside an operator, in their own order, as nodes of this one. Names are unique
    /// over both graphs; a graph that is inlined again defines its names anew.
    pub(super) fn inline(&mut self, graph: &'m GraphProto) -> Result<(), ModelError> {
        // A graph that is inlined again keeps its initializers, which are decoded once.
        let known = |t: &TensorProto| self.known.contains_key(t.name.as_deref().unwrap_or_default());
        if !graph.initializer.iter().any(known) {
            self.initializers(graph)?;
        }
        graph.node.iter().try_for_each(|node| self.node(node))
    }

    /// States that a graph inside an operator will be inlined so many times more than once.
    pub(super) fn read_again(&mut self, graph: &'m GraphProto, times: usize) {
        for name in order::names_read_in(graph) {
            if let Some(count) = self.readers.get_mut(name) {
                *count = count.saturating_add(times);
            }
        }
    }

    fn node(&mut self, proto: &'m NodeProto) -> Result<(), ModelError> {
        let op = proto.op_type.as_deref().unwrap_or_default();
        for input in &proto.input {
            if let Some(count) = self.readers.get_mut(input.as_str()) {
                *count = count.saturating_sub(1);
            }
        }
        let label = order::label(proto);
        let name = unique(&mut self.node_names, label.clone());
        let result = match ops::handler(op) {
            Some(handler) => handler(&mut Site { importer: self, proto, name }),
            None => Err("no such operator".into()),
        };
        for input in &proto.input {
            if self.readers.get(input.as_str()) == Some(&0) {
                self.known.remove(input.as_str());
            }
        }
        result.map_err(|Fault(what)| ModelError::Node { node: label, op: op.to_string(), what })
    }

    /// The graph's outputs: each is written by a node of its own, so an input, a constant or a second
    /// listing of the same tensor is copied.
    fn outputs(&mut self, graph: &'m GraphProto) -> Result<(), ModelError> {
        for output in &graph.output {
            let name = output.name.as_deref().unwrap_or_default();
            let fault = |what: &str| ModelError::Tensor { tensor: name.to_string(), what: what.into() };
            let tensor = self.known.get(name).cloned();
            let tensor = tensor.ok_or_else(|| fault("is a graph output, and nothing defines it"))?;
            let node = unique(&mut self.node_names, format!("{name}/copy"));
            let constant = tensor.data.is_some();
            let source = match tensor.value {
                Some(id) => id,
                None => {
                    self.materialise(&format!("{name}/constant"), &tensor).map_err(|what| fault(&what))?
                }
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
            let id = self.graph.value(Value::new(copy, tensor.dtype, tensor.shape));
            self.graph.node(node, Op::Copy, vec![source], vec![id]);
            self.graph.outputs.push(id);
        }
        Ok(())
    }

    /// Puts a constant into the graph, or finds it there.
    ///
    /// # Errors
    /// An integer that a run cannot hold.
    pub(super) fn materialise(&mut self, name: &str, tensor: &Tensor) -> Result<ValueId, String> {
        let data = tensor.data.as_ref().ok_or("it is not constant")?;
        let address = match data {
            Constant::F32(data) => Arc::as_ptr(data) as usize,
            Constant::I64(data) => Arc::as_ptr(data) as usize,
        };
        let key = (address, tensor.shape.clone());
        if let Some((id, _)) = self.shared.get(&key) {
            return Ok(*id);
        }
        let words = match data {
            Constant::F32(data) => data.clone(),
            Constant::I64(data) => {
                let range = tensor.dtype.int_range().ok_or("it holds integers of a floating-point type")?;
                let words = data.iter().map(|x| npy::checked_word(*x, tensor.dtype, range));
                let words: Result<Vec<f32>, String> = words.collect();
                Arc::new(words.map_err(|what| format!("tensor '{name}': {what}"))?)
            }
        };
        let unused = match self.written.insert(name.to_string()) {
            true => name.to_string(),
            false => unique(&mut self.value_names, name.to_string()),
        };
        let id = self.graph.value(Value {
            constant: Some(graph::Constant::new(words)),
            ..Value::new(unused, tensor.dtype, tensor.shape.clone())
        });
        self.shared.insert(key, (id, data.clone()));
        Ok(id)
    }
}
