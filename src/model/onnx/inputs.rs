//! Shapes of the graph's inputs: what the model fixes, what the caller gives, what may be assumed.

use std::collections::{BTreeMap, BTreeSet};

use rten_onnx::onnx::{GraphProto, ModelProto, ValueInfoProto};

use super::{ImportOptions, tensor};
use crate::graph::DType;
use crate::model::ModelError;
use crate::model::npy::Array;

/// One dimension as the model declares it.
#[derive(Clone)]
enum Dim {
    Fixed(usize),
    Open(Option<String>),
}

impl std::fmt::Display for Dim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Dim::Fixed(size) => write!(f, "{size}"),
            Dim::Open(Some(name)) => f.write_str(name),
            Dim::Open(None) => f.write_str("?"),
        }
    }
}

/// An input with every dimension known.
pub(super) struct Input<'m> {
    pub name: &'m str,
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// Given by the caller, so that no run is asked for it.
    pub constant: Option<Array>,
}

struct Declared<'m> {
    name: &'m str,
    dtype: DType,
    dims: Option<Vec<Dim>>,
}

impl Declared<'_> {
    fn text(&self) -> String {
        match &self.dims {
            Some(dims) => format!("[{}]", dims.iter().map(Dim::to_string).collect::<Vec<_>>().join(", ")),
            None => "an undeclared shape".into(),
        }
    }
}

/// Resolves every input of the graph that is not an initializer.
///
/// # Errors
/// An open dimension without an option, an option that does not fit, an input that is not a tensor.
pub(super) fn resolve<'m>(
    model: &ModelProto,
    graph: &'m GraphProto,
    options: &ImportOptions,
) -> Result<Vec<Input<'m>>, ModelError> {
    let constants: BTreeSet<&str> = graph.initializer.iter().filter_map(|t| t.name.as_deref()).collect();
    let free = |i: &&ValueInfoProto| !constants.contains(i.name.as_deref().unwrap_or_default());
    let declared: Vec<Declared<'m>> =
        graph.input.iter().filter(free).map(declare).collect::<Result<_, _>>()?;
    check_option_names(&declared, options)?;

    let mut named = options.dims.clone();
    for input in &declared {
        let given = options.constants.get(input.name).map(|array| &array.shape);
        if let Some(shape) = given.or(options.shapes.get(input.name)) {
            bind(input, shape, &mut named)?;
        }
        if let Some(array) = options.constants.get(input.name)
            && array.dtype.is_float() != input.dtype.is_float()
        {
            let (name, given, due) = (input.name, array.dtype, input.dtype);
            return Err(ModelError::Option(format!(
                "constant '{name}' is {given}, the model declares {due}"
            )));
        }
    }
    let assumed = known_model(model, graph, &declared);
    declared
        .iter()
        .map(|input| {
            let constant = options.constants.get(input.name).cloned();
            let given = constant.as_ref().map(|array| &array.shape);
            let shape = match (given.or(options.shapes.get(input.name)), &assumed) {
                (Some(shape), _) => shape.clone(),
                (None, Some(shape)) if options.dims.is_empty() => {
                    log::info!("input '{}' {}: taken as {shape:?}", input.name, input.text());
                    shape.clone()
                }
                _ => from_declaration(input, &named)?,
            };
            match tensor::checked_len(&shape, tensor::MAX_LEN) {
                Ok(_) => Ok(Input { name: input.name, dtype: input.dtype, shape, constant }),
                Err(what) => Err(ModelError::Tensor { tensor: input.name.to_string(), what }),
            }
        })
        .collect()
}

fn declare(info: &ValueInfoProto) -> Result<Declared<'_>, ModelError> {
    let name = info.name.as_deref().unwrap_or_default();
    let fault = |what: String| ModelError::Tensor { tensor: name.to_string(), what };
    if name.is_empty() {
        return Err(fault("a graph input has no name".into()));
    }
    let tensor_type = info.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    let tensor_type = tensor_type.ok_or_else(|| fault("the graph input is not a tensor".into()))?;
    let dtype = tensor::dtype(tensor_type.elem_type).map_err(fault)?;
    let dims = tensor_type.shape.as_ref().map(|shape| {
        let dim = |d: &rten_onnx::onnx::Dimension| match d.dim_value.map(usize::try_from) {
            Some(Ok(size)) => Dim::Fixed(size),
            // Some exporters write -1 or '?' for a dimension without a name.
            _ => Dim::Open(d.dim_param.clone().filter(|name| !name.is_empty() && name != "?")),
        };
        shape.dim.iter().map(dim).collect()
    });
    Ok(Declared { name, dtype, dims })
}

fn check_option_names(declared: &[Declared], options: &ImportOptions) -> Result<(), ModelError> {
    let unknown = |name: &&String| declared.iter().all(|d| d.name != name.as_str());
    if let Some(name) = options.constants.keys().find(unknown) {
        return Err(ModelError::Option(format!("constant '{name}': the model has no such input")));
    }
    if let Some(name) = options.shapes.keys().find(unknown) {
        let known: Vec<&str> = declared.iter().map(|d| d.name).collect();
        return Err(ModelError::Option(format!(
            "--shape {name}=..: the model has no such input; its inputs are {}",
            known.join(", ")
        )));
    }
    let known: BTreeSet<&str> = declared
        .iter()
        .flat_map(|d| d.dims.iter().flatten())
        .filter_map(|d| if let Dim::Open(Some(name)) = d { Some(name.as_str()) } else { None })
        .collect();
    match options.dims.keys().find(|name| !known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) if known.is_empty() => {
            Err(ModelError::Option(format!("--dim {name}=..: the model's inputs have no named dimension")))
        }
        Some(name) => Err(ModelError::Option(format!(
            "--dim {name}=..: the model has no such dimension; it has {}",
            known.into_iter().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Holds a shape given by the caller against the declaration, and learns the named dimensions from it.
fn bind(input: &Declared, shape: &[usize], named: &mut BTreeMap<String, usize>) -> Result<(), ModelError> {
    let Some(dims) = &input.dims else { return Ok(()) };
    let fault =
        |what: String| Err(ModelError::Option(format!("--shape {}={}: {what}", input.name, crosses(shape))));
    if dims.len() != shape.len() {
        return fault(format!("{} dimensions given, the model declares {}", shape.len(), input.text()));
    }
    for (axis, (dim, size)) in dims.iter().zip(shape).enumerate() {
        match dim {
            Dim::Fixed(fixed) if fixed != size => {
                return fault(format!("dimension {axis} is {size}, the model fixes it to {fixed}"));
            }
            Dim::Open(Some(name)) => {
                let known = *named.entry(name.clone()).or_insert(*size);
                if known != *size {
                    return fault(format!("dimension '{name}' is {size} here and {known} elsewhere"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn from_declaration(input: &Declared, named: &BTreeMap<String, usize>) -> Result<Vec<usize>, ModelError> {
    let Some(dims) = &input.dims else {
        return Err(ModelError::Option(format!(
            "input '{0}': the model declares no shape; give --shape {0}=..",
            input.name
        )));
    };
    let size = |axis: usize, dim: &Dim| match dim {
        Dim::Fixed(size) => Some(*size),
        Dim::Open(name) => {
            let given = name.as_ref().and_then(|n| named.get(n).copied());
            given.or((axis == 0).then_some(1))
        }
    };
    let shape: Vec<Option<usize>> = dims.iter().enumerate().map(|(axis, dim)| size(axis, dim)).collect();
    match shape.iter().position(Option::is_none) {
        None => Ok(shape.into_iter().flatten().collect()),
        Some(axis) => {
            let part = |s: &Option<usize>| s.map_or_else(|| "?".to_string(), |s| s.to_string());
            let parts: Vec<String> = shape.iter().map(part).collect();
            let dimension = match &dims[axis] {
                Dim::Open(Some(name)) => format!("'{name}'"),
                _ => "unnamed".into(),
            };
            Err(ModelError::OpenDimension {
                input: input.name.to_string(),
                axis,
                dimension,
                declared: input.text(),
                flag: format!("{}={} with a size for each '?'", input.name, parts.join("x")),
            })
        }
    }
}

/// Input sizes that a published model is made for but its file does not carry.
///
/// PP-OCR mobile v2.0's text direction classifier declares `x [-1, 3, ?, ?]`, and its global pooling
/// accepts any size; PaddleOCR feeds it 3 x 48 x 192 (`cls_image_shape` of its tools). It is known by
/// its producer and by the names and shapes of its one input and one output.
fn known_model(model: &ModelProto, graph: &GraphProto, declared: &[Declared]) -> Option<Vec<usize>> {
    let paddle = model.producer_name.as_deref() == Some("PaddlePaddle");
    let [input] = declared else { return None };
    let [output] = graph.output.as_slice() else { return None };
    let dims = input.dims.as_deref()?;
    let [Dim::Open(None), Dim::Fixed(3), Dim::Open(None), Dim::Open(None)] = dims else { return None };
    let classes = output.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref()?.dim.last()?.dim_value;
    let names = (input.name, output.name.as_deref());
    let classifier = names == ("x", Some("save_infer_model/scale_0.tmp_1")) && classes == Some(2);
    (paddle && classifier).then(|| vec![1, 3, 48, 192])
}

fn crosses(shape: &[usize]) -> String {
    shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}
