//! The state of an import: what is known of each tensor, and the graph that grows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::file::{self, File};
use super::layout::Layout;
use super::site::Site;
use super::{inputs, ops, tensor};
use crate::graph::{DType, Graph, Op, Value, ValueId};
use crate::model::fault::Fault;
use crate::model::names::unique;
use crate::model::{ImportOptions, ModelError, UnknownOperator, npy, prune};

/// A value of the graph that holds a tensor.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub value: ValueId,
    pub layout: Layout,
}

/// What is known of a tensor's elements.
#[derive(Debug, Clone)]
pub(super) enum Data {
    /// Nothing: no operator has written it yet.
    Missing,
    /// They are in the file, not decoded yet.
    Stored,
    /// Constant integers, as TFLite stores them; the arithmetic of shapes needs 64 bits.
    Ints(Arc<Vec<i64>>),
    /// Constant words of a run, and where the graph holds them.
    Words(Arc<Vec<f32>>, Layout, Vec<Placed>),
    /// Computed at run time: the same elements in one or more orders, the first as they were written.
    Run(Vec<Placed>),
}

/// A tensor as the importer sees it.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub data: Data,
}

/// What tells apart constants in the graph: the bytes they come from, their order, their shape.
pub(super) type ConstantKey = (usize, Layout, Vec<usize>);

pub(super) struct Importer<'m> {
    pub graph: Graph,
    pub file: &'m File<'m>,
    /// Unique names of the file's tensors.
    pub names: &'m [String],
    pub known: Vec<Tensor>,
    /// How often each tensor is still to be read, graph outputs included.
    pub readers: Vec<usize>,
    pub value_names: HashSet<String>,
    pub node_names: HashSet<String>,
    /// Constants in the graph, so that each is held once, with the data that the keys point at.
    pub shared: HashMap<ConstantKey, ValueId>,
    /// An operator that reads each tensor: the only one where it has one reader.
    pub reader: Vec<Option<usize>>,
    /// Padding of tensors that stand here without it, since a convolution alone reads them: top, left,
    /// bottom, right.
    pub pads: HashMap<usize, [usize; 4]>,
    /// Tensors whose own name a constant of the graph has.
    pub constants: HashSet<usize>,
}

pub(super) fn import(
    bytes: &[u8],
    file_name: &str,
    name: String,
    options: &ImportOptions,
) -> Result<Graph, ModelError> {
    let malformed = |what: String| ModelError::Malformed { file: file_name.to_string(), what };
    let file = file::read(bytes).map_err(|e| malformed(format!("not a TFLite model, or damaged: {e}")))?;
    if file.outputs.is_empty() {
        return Err(malformed("the graph has no output".into()));
    }
    let mut taken = HashSet::new();
    let named = |(i, t): (usize, &file::TensorInfo)| match t.name.is_empty() {
        true => unique(&mut taken, format!("tensor {i}")),
        false => unique(&mut taken, t.name.clone()),
    };
    let names: Vec<String> = file.tensors.iter().enumerate().map(named).collect();
    check_operators(&file, &names, file_name)?;
    let inputs = inputs::resolve(&file, &names, options)?;
    refuse_quantised(&file, &names)?;
    let mut importer = Importer::new(name, &file, &names)?;
    importer.inputs(inputs)?;
    for index in 0..file.operators.len() {
        importer.node(index)?;
    }
    importer.outputs()?;
    let graph = prune::prune(importer.graph);
    graph.check()?;
    Ok(graph)
}

/// What an operator is called in errors: its first output.
fn label(operator: &file::Operator, names: &[String]) -> String {
    operator.outputs.first().map_or_else(|| "unnamed".into(), |i| names[*i].clone())
}

fn check_operators(file: &File, names: &[String], file_name: &str) -> Result<(), ModelError> {
    let unknown = |o: &file::Operator| {
        if !o.is_custom && ops::handler(&o.op).is_some() {
            return None;
        }
        let domain = if o.is_custom { "TFLite custom" } else { "TFLite" }.to_string();
        Some(UnknownOperator {
            node: label(o, names),
            op: o.op.clone(),
            domain,
            version: Some(o.version.into()),
        })
    };
    let operators: Vec<UnknownOperator> = file.operators.iter().filter_map(unknown).collect();
    match operators.is_empty() {
        true => Ok(()),
        false => Err(ModelError::UnknownOperators { file: file_name.to_string(), operators }),
    }
}

/// Quantised constants become floats; what is computed at run time must be floats.
fn refuse_quantised(file: &File, names: &[String]) -> Result<(), ModelError> {
    let written = file.operators.iter().flat_map(|o| &o.outputs).chain(&file.inputs);
    let quantised = |i: &&usize| file.tensors[**i].data.is_none() && tensor::is_quantised(&file.tensors[**i]);
    match written.copied().collect::<Vec<_>>().iter().find(quantised) {
        None => Ok(()),
        Some(index) => {
            let what = format!(
                "is quantised to {} at run time; float models are supported, with weights quantised or not",
                tensor::dtype(file.tensors[*index].dtype).map_or_else(|e| e, |d| d.to_string())
            );
            Err(ModelError::Tensor { tensor: names[*index].clone(), what })
        }
    }
}

impl<'m> Importer<'m> {
    fn new(name: String, file: &'m File<'m>, names: &'m [String]) -> Result<Self, ModelError> {
        let mut readers = vec![0; file.tensors.len()];
        for index in file.operators.iter().flat_map(|o| o.inputs.iter().flatten()).chain(&file.outputs) {
            readers[*index] += 1;
        }
        let mut reader = vec![None; file.tensors.len()];
        for (at, operator) in file.operators.iter().enumerate() {
            operator.inputs.iter().flatten().for_each(|input| reader[*input] = Some(at));
        }
        let tensor = |(info, name): (&file::TensorInfo, &String)| {
            let fault = |what| ModelError::Tensor { tensor: name.clone(), what };
            // Shapes of intermediates are inferred; the file may leave them open.
            match info.data {
                Some(_) => {
                    let dtype = tensor::dtype(info.dtype).map_err(fault)?;
                    Ok(Tensor { dtype, shape: tensor::shape(info).map_err(fault)?, data: Data::Stored })
                }
                None => Ok(Tensor { dtype: DType::F32, shape: Vec::new(), data: Data::Missing }),
            }
        };
        let known = file.tensors.iter().zip(names).map(tensor).collect::<Result<_, ModelError>>()?;
        Ok(Importer {
            graph: Graph::new(name),
            file,
            names,
            known,
            readers,
            // Names that sublet makes up must not meet any of these.
            value_names: names.iter().cloned().collect(),
            node_names: HashSet::new(),
            shared: HashMap::new(),
            reader,
            pads: HashMap::new(),
            constants: HashSet::new(),
        })
    }

    fn inputs(&mut self, inputs: Vec<inputs::Input>) -> Result<(), ModelError> {
        for (index, input) in self.file.inputs.iter().zip(inputs) {
            let name = &self.names[*index];
            if !matches!(self.known[*index].data, Data::Missing) {
                let what = "is an input twice, or constant".into();
                return Err(ModelError::Tensor { tensor: name.clone(), what });
            }
            let inputs::Input { dtype, shape, constant } = input;
            let layout = Layout::plain(&shape);
            let data = match constant.map(|array| array.data) {
                Some(npy::Data::Ints(data)) => Data::Ints(Arc::new(data)),
                Some(npy::Data::Floats(data)) => Data::Words(Arc::new(data), layout, Vec::new()),
                None => {
                    let value = self.graph.value(Value::new(name, dtype, shape.clone()));
                    self.graph.inputs.push(value);
                    Data::Run(vec![Placed { value, layout }])
                }
            };
            self.known[*index] = Tensor { dtype, shape, data };
        }
        Ok(())
    }

    fn node(&mut self, index: usize) -> Result<(), ModelError> {
        let file = self.file;
        let operator = &file.operators[index];
        for input in operator.inputs.iter().flatten() {
            self.readers[*input] -= 1;
        }
        let label = label(operator, self.names);
        let name = unique(&mut self.node_names, label.clone());
        let result = match ops::handler(&operator.op) {
            Some(handler) => {
                let mut site = Site { importer: self, operator, name };
                site.check().and_then(|()| handler(&mut site))
            }
            None => Err("no such operator".into()),
        };
        for input in operator.inputs.iter().flatten() {
            if self.readers[*input] == 0 {
                self.known[*input].data = Data::Missing;
            }
        }
        result.map_err(|Fault(what)| ModelError::Node { node: label, op: operator.op.clone(), what })
    }

    /// The graph's outputs, as the file stores them: each is written by a node of its own and has the name of
    /// its tensor.
    fn outputs(&mut self) -> Result<(), ModelError> {
        for index in &self.file.outputs {
            let name = &self.names[*index];
            let fault = |what: String| ModelError::Tensor { tensor: name.clone(), what };
            let node = format!("{name}/copy");
            let Tensor { dtype, shape, data } = &self.known[*index];
            let (dtype, shape) = (*dtype, shape.clone());
            if matches!(data, Data::Missing) {
                return Err(fault("is a graph output, and nothing defines it".into()));
            }
            let placed = self.place(*index, &Layout::plain(&shape), &shape);
            let source = placed.map_err(|Fault(what)| fault(what))?;
            let value = self.graph.get(source);
            let written = value.constant.is_none() && !self.graph.inputs.contains(&source);
            if written && !self.graph.outputs.contains(&source) {
                self.graph.outputs.push(source);
                self.give_name(source, name);
                continue;
            }
            let copy = unique(&mut self.value_names, node.clone());
            let id = self.graph.value(Value::new(copy, dtype, shape));
            let node = unique(&mut self.node_names, node);
            self.graph.node(node, Op::Copy, vec![source], vec![id]);
            self.graph.outputs.push(id);
            self.give_name(id, name);
        }
        Ok(())
    }

    /// Gives a value the name of its tensor; what bore it till now takes the other's, unless the caller knows
    /// it by that name.
    fn give_name(&mut self, id: ValueId, name: &str) {
        let holder = self.graph.values.iter().position(|v| v.name == name);
        if holder == Some(id.index()) {
            return;
        }
        let own = std::mem::replace(&mut self.graph.values[id.index()].name, name.to_string());
        match holder {
            Some(at) if self.is_io(at) => self.graph.values[id.index()].name = own,
            Some(at) => self.graph.values[at].name = own,
            None => {}
        }
    }

    fn is_io(&self, index: usize) -> bool {
        let io = self.graph.inputs.iter().chain(&self.graph.outputs);
        io.filter(|id| id.index() == index).count() > 0
    }
}
