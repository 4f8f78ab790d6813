//! One operator test of the ONNX project: a model of mostly one node, inputs and expected outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rten_onnx::onnx::{DataType, GraphProto, ModelProto, ValueInfoProto};
use sublet::graph::{DType, Graph};
use sublet::model::npy::{Array, Data};
use sublet::model::onnx::{ImportOptions, parse, tensor};

/// What the ONNX project's own test runner allows: `atol + rtol * |expected|` for each element.
const RTOL: f64 = 1e-3;
const ATOL: f64 = 1e-7;

/// A test case.
pub struct Case {
    /// Its folder's name.
    pub name: String,
    /// The operator it is about.
    pub op: String,
    model: Vec<u8>,
    /// What the model holds.
    pub graph: GraphProto,
    /// Inputs by name, in the order of the graph.
    inputs: Vec<(String, Array)>,
    outputs: Vec<Array>,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Every output is as expected.
    Passed,
    /// An output is not, or the run broke off.
    Failed(String),
    /// The model was refused.
    Unsupported(String),
}

/// Why there are no outputs.
pub enum Refusal {
    /// The graph is not computed.
    Unsupported(String),
    /// It should have been.
    Failed(String),
}

impl Case {
    /// Reads a case from its folder.
    ///
    /// # Errors
    /// What is not read: tensors of strings, sequences.
    pub fn load(folder: &Path) -> Result<Case, (String, String)> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let read = |path: &str| {
            std::fs::read(folder.join(path)).map_err(|e| ("unknown".to_owned(), format!("{path}: {e}")))
        };
        let model = read("model.onnx")?;
        let op = op_of(folder, &name).unwrap_or("unknown".into());
        let fault = |what: String| (op.clone(), what);
        let proto = ModelProto::parse_buf(&model).map_err(|e| fault(e.to_string()))?;
        let graph = proto.graph.ok_or_else(|| fault("no graph".into()))?;
        let mut inputs = Vec::new();
        for (i, info) in graph.input.iter().enumerate() {
            let file = format!("test_data_set_0/input_{i}.pb");
            let input = info.name.clone().unwrap_or_default();
            if is_no_tensor(info) {
                return Err(fault(format!("input '{input}' is not a tensor")));
            }
            let array = tensor(&read(&file)?, &file).map_err(|e| fault(e.to_string()))?.1;
            inputs.push((input, declared(array, info)));
        }
        let mut outputs = Vec::new();
        for (i, info) in graph.output.iter().enumerate() {
            if is_no_tensor(info) {
                return Err(fault(format!("output {i} is not a tensor")));
            }
            let file = format!("test_data_set_0/output_{i}.pb");
            let array = tensor(&read(&file)?, &file).map_err(|e| fault(e.to_string()))?.1;
            outputs.push(declared(array, info));
        }
        Ok(Case { name, op, model, graph, inputs, outputs })
    }

    /// Imports the case: what an operator's shapes depend on is given as constants, since every shape is
    /// known before a run. Where that does not suffice (an operator spelled out in others), all integers
    /// are.
    fn import(&self) -> Result<Graph, String> {
        let needed = constant_inputs(&self.graph);
        let integers: BTreeSet<&str> = (self.inputs.iter())
            .filter(|(_, array)| matches!(array.data, Data::Ints(_)))
            .map(|(name, _)| name.as_str())
            .collect();
        let tried = self.import_with(&needed).or_else(|first| match integers.is_subset(&needed) {
            true => Err(first),
            false => self.import_with(&needed.union(&integers).copied().collect()).map_err(|_| first),
        });
        let all = || self.inputs.iter().map(|(name, _)| name.as_str()).collect();
        tried.or_else(|first| self.import_with(&all()).map_err(|_| first))
    }

    fn import_with(&self, constant: &BTreeSet<&str>) -> Result<Graph, String> {
        let mut options = ImportOptions::default();
        for (name, array) in &self.inputs {
            match constant.contains(name.as_str()) {
                true => drop(options.constants.insert(name.clone(), array.clone())),
                false => drop(options.shapes.insert(name.clone(), array.shape.clone())),
            }
        }
        parse(&self.model, &self.name, &options).map_err(|e| e.to_string())
    }

    /// Runs the case; `run` computes the outputs of a graph from its inputs, all as words.
    pub fn judge(
        &self,
        mut run: impl FnMut(Graph, &[Vec<f32>]) -> Result<Vec<Vec<f32>>, Refusal>,
    ) -> Verdict {
        let graph = match self.import() {
            Ok(graph) => graph,
            Err(what) => return Verdict::Unsupported(what),
        };
        let mut inputs = Vec::new();
        for value in graph.inputs.iter().map(|id| graph.get(*id)) {
            let given = self.inputs.iter().find(|(name, _)| *name == value.name);
            match given.map(|(_, array)| array.words(value.dtype)) {
                Some(Ok(words)) => inputs.push(words),
                Some(Err(what)) => return Verdict::Unsupported(format!("input '{}': {what}", value.name)),
                None => return Verdict::Failed(format!("input '{}' is not in the files", value.name)),
            }
        }
        let outputs: Vec<_> = graph.outputs.iter().map(|id| graph.get(*id).clone()).collect();
        let results = match run(graph, &inputs) {
            Ok(results) => results,
            Err(Refusal::Unsupported(what)) => return Verdict::Unsupported(what),
            Err(Refusal::Failed(what)) => return Verdict::Failed(what),
        };
        if outputs.len() != self.outputs.len() {
            return Verdict::Failed(format!("{} outputs, {} are due", outputs.len(), self.outputs.len()));
        }
        for ((value, words), due) in outputs.iter().zip(&results).zip(&self.outputs) {
            let found = Array::from_words(value.dtype, value.shape.clone(), words);
            if let Err(what) = due.words(value.dtype) {
                return Verdict::Unsupported(format!("expected output: {what}"));
            }
            if let Some(what) = difference(&found, due) {
                return Verdict::Failed(format!("output '{}': {what}", value.name));
            }
        }
        Verdict::Passed
    }
}

/// Whether a graph input or output is a sequence or the like.
fn is_no_tensor(info: &ValueInfoProto) -> bool {
    info.r#type.as_ref().is_none_or(|t| t.tensor_type.is_none())
}

/// The files hold bfloat16 as the uint16 of the same bits.
fn declared(array: Array, info: &ValueInfoProto) -> Array {
    let tensor_type = info.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    match (&array.data, tensor_type.and_then(|t| t.elem_type)) {
        (Data::Ints(bits), Some(DataType::BFLOAT16)) => {
            let floats = bits.iter().map(|bits| f32::from_bits((*bits as u32) << 16)).collect();
            Array { dtype: DType::BF16, data: Data::Floats(floats), ..array }
        }
        _ => array,
    }
}

/// The operator that a case is about. Cases whose operator is spelled out in others are named after the
/// case that has it whole.
fn op_of(folder: &Path, name: &str) -> Option<String> {
    let base = name.split("_expanded").next().unwrap_or(name);
    let whole = folder.with_file_name(base).join("model.onnx");
    let bytes = std::fs::read(whole).or_else(|_| std::fs::read(folder.join("model.onnx"))).ok()?;
    ModelProto::parse_buf(&bytes).ok()?.graph?.node.last()?.op_type.clone()
}

/// Inputs of the graph that a shape, or what is fixed before a run, depends on.
fn constant_inputs(graph: &GraphProto) -> BTreeSet<&str> {
    let positions: BTreeMap<&str, &[usize]> = [
        ("AffineGrid", &[1][..]),
        ("CenterCropPad", &[1]),
        ("Col2Im", &[1, 2]),
        ("Compress", &[1]),
        ("ConstantOfShape", &[0]),
        ("CumSum", &[1]),
        ("Dropout", &[1, 2]),
        ("Expand", &[1]),
        ("If", &[0]),
        ("Loop", &[0, 1]),
        ("MaxUnpool", &[2]),
        ("NonZero", &[0]),
        ("OneHot", &[1]),
        ("Pad", &[1, 2, 3]),
        ("Range", &[0, 1, 2]),
        ("ReduceL1", &[1]),
        ("ReduceL2", &[1]),
        ("ReduceLogSum", &[1]),
        ("ReduceLogSumExp", &[1]),
        ("ReduceMax", &[1]),
        ("ReduceMean", &[1]),
        ("ReduceMin", &[1]),
        ("ReduceProd", &[1]),
        ("ReduceSum", &[1]),
        ("ReduceSumSquare", &[1]),
        ("Reshape", &[1]),
        ("Resize", &[1, 2, 3]),
        ("Slice", &[1, 2, 3, 4]),
        ("Split", &[1]),
        ("Squeeze", &[1]),
        ("Tile", &[1]),
        ("TopK", &[1]),
        ("Trilu", &[1]),
        ("Unique", &[0]),
        ("Unsqueeze", &[1]),
        ("Upsample", &[1]),
    ]
    .into();
    let mut names = BTreeSet::new();
    for node in &graph.node {
        let op = node.op_type.as_deref().unwrap_or_default();
        for at in positions.get(op).copied().unwrap_or_default() {
            names.extend(node.input.get(*at).map(String::as_str).filter(|name| !name.is_empty()));
        }
    }
    names.retain(|name| graph.input.iter().any(|input| input.name.as_deref() == Some(name)));
    names
}

/// What is not as expected.
fn difference(found: &Array, due: &Array) -> Option<String> {
    if found.shape != due.shape {
        return Some(format!("shape {:?}, {:?} is due", found.shape, due.shape));
    }
    if found.dtype != due.dtype {
        return Some(format!("{}, {} is due", found.dtype, due.dtype));
    }
    let exact = matches!(due.data, Data::Ints(_));
    for (i, (got, want)) in found.numbers().into_iter().zip(due.numbers()).enumerate() {
        let same = got == want || (got.is_nan() && want.is_nan());
        let near = !exact && (got - want).abs() <= ATOL + RTOL * want.abs();
        if !same && !near {
            return Some(format!("element {i} is {got}, {want} is due"));
        }
    }
    None
}
