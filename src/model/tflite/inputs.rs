//! Shapes of the graph's inputs: what the file fixes, what the caller gives.

use super::file::{File, TensorInfo};
use super::tensor;
use crate::graph::DType;
use crate::model::npy::Array;
use crate::model::size::{MAX_LEN, checked_len};
use crate::model::{ImportOptions, ModelError};

/// An input with every dimension known.
pub(super) struct Input {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// Its data, where the caller knows it.
    pub constant: Option<Array>,
}

/// Every input of the file, in its order.
///
/// # Errors
/// An open dimension without an option, an option that does not fit.
pub(super) fn resolve(
    file: &File,
    names: &[String],
    options: &ImportOptions,
) -> Result<Vec<Input>, ModelError> {
    let known: Vec<&str> = file.inputs.iter().map(|i| names[*i].as_str()).collect();
    let mut given = options.shapes.keys().chain(options.constants.keys());
    if let Some(name) = given.find(|name| !known.contains(&name.as_str())) {
        let known = known.join(", ");
        return Err(ModelError::Option(format!("the model has no input '{name}'; its inputs are {known}")));
    }
    if let Some(name) = options.dims.keys().next() {
        let what = format!("--dim {name}=..: a .tflite file names no dimensions; give --shape");
        return Err(ModelError::Option(what));
    }
    let resolve = |index: &usize| one(&file.tensors[*index], &names[*index], options);
    file.inputs.iter().map(resolve).collect()
}

fn one(info: &TensorInfo, name: &str, options: &ImportOptions) -> Result<Input, ModelError> {
    let fault = |what: String| ModelError::Tensor { tensor: name.to_string(), what };
    let dtype = tensor::dtype(info.dtype).map_err(fault)?;
    let declared = if info.signature.is_empty() { &info.shape } else { &info.signature };
    let text: Vec<String> =
        declared.iter().map(|d| if *d < 0 { "?".into() } else { d.to_string() }).collect();
    let constant = options.constants.get(name).cloned();
    if let Some(array) = constant.as_ref().filter(|array| array.dtype.is_float() != dtype.is_float()) {
        let given = array.dtype;
        return Err(ModelError::Option(format!("constant '{name}' is {given}, the model declares {dtype}")));
    }
    let given = constant.as_ref().map(|array| &array.shape).or(options.shapes.get(name));
    if let Some(given) = given
        && given.len() != declared.len()
    {
        let (found, due) = (given.len(), text.join("x"));
        return Err(ModelError::Option(format!(
            "input '{name}': {found} dimensions given, the model declares {due}"
        )));
    }
    let mut shape = Vec::with_capacity(declared.len());
    for (axis, dim) in declared.iter().enumerate() {
        let given = given.map(|g| g[axis]);
        shape.push(match (usize::try_from(*dim).ok(), given) {
            (Some(fixed), Some(size)) if fixed != size => {
                return Err(ModelError::Option(format!(
                    "input '{name}': dimension {axis} is {size}, the model fixes it to {fixed}"
                )));
            }
            (Some(fixed), _) => fixed,
            (None, Some(size)) => size,
            (None, None) if axis == 0 => 1,
            (None, None) => {
                return Err(ModelError::OpenDimension {
                    input: name.to_string(),
                    axis,
                    dimension: "unnamed".into(),
                    declared: format!("[{}]", text.join(", ")),
                    flag: format!("{name}={} with a size for each '?'", text.join("x")),
                });
            }
        });
    }
    checked_len(&shape, MAX_LEN).map_err(fault)?;
    Ok(Input { dtype, shape, constant })
}
