//! Constants of a file: decoded when an operator first reads them.

use super::file::TensorInfo;
use super::flat::{Broken, Scalar};
use super::schema::{self, quantization};
use super::sparse;
use crate::graph::DType;
use crate::model::size::{MAX_CONSTANT_LEN, MAX_LEN, checked_len};

/// Numbers of element types.
mod code {
    pub(super) const FLOAT32: i8 = 0;
    pub(super) const FLOAT16: i8 = 1;
    pub(super) const INT32: i8 = 2;
    pub(super) const UINT8: i8 = 3;
    pub(super) const INT64: i8 = 4;
    pub(super) const BOOL: i8 = 6;
    pub(super) const INT16: i8 = 7;
    pub(super) const INT8: i8 = 9;
    pub(super) const FLOAT64: i8 = 10;
    pub(super) const UINT32: i8 = 15;
    pub(super) const UINT16: i8 = 16;
}

/// The element type as the graph floor knows it.
///
/// # Errors
/// A type that is neither a number of 8 to 64 bits nor bool.
pub(super) fn dtype(number: i8) -> Result<DType, String> {
    Ok(match number {
        code::FLOAT32 => DType::F32,
        code::FLOAT16 => DType::F16,
        code::FLOAT64 => DType::F64,
        code::INT32 => DType::I32,
        code::INT64 => DType::I64,
        code::INT16 => DType::I16,
        code::UINT16 => DType::U16,
        code::UINT32 => DType::U32,
        code::UINT8 => DType::U8,
        code::INT8 => DType::I8,
        code::BOOL => DType::Bool,
        other => return Err(format!("element type {} is not supported", schema::type_name(other))),
    })
}

/// Whether the elements are integers or bools that stand for themselves.
pub(super) fn is_integer(info: &TensorInfo) -> bool {
    !is_quantised(info) && dtype(info.dtype).is_ok_and(|d| !d.is_float())
}

/// Whether the elements are integers that stand for others by a scale.
pub(super) fn is_quantised(info: &TensorInfo) -> bool {
    let scales = info.quantization.map(|q| q.scalars::<f32>(quantization::SCALE).unwrap_or_default());
    scales.is_some_and(|s| !s.is_empty()) && dtype(info.dtype).is_ok_and(|d| !d.is_float())
}

/// The shape that the file declares.
///
/// # Errors
/// A dimension is negative, or all together are too large.
pub(super) fn shape(info: &TensorInfo) -> Result<Vec<usize>, String> {
    let shape = info.shape.iter().map(|d| usize::try_from(*d)).collect::<Result<Vec<_>, _>>();
    let shape = shape.map_err(|_| format!("shape {:?} is negative", info.shape))?;
    checked_len(&shape, MAX_LEN)?;
    Ok(shape)
}

/// The elements of a constant as float32: half and double precision converted, quantised integers back to
/// what they stand for, zeros of sparse tensors filled in.
///
/// # Errors
/// Integers without a scale, or more or fewer elements than the shape demands.
pub(super) fn floats(info: &TensorInfo) -> Result<Vec<f32>, String> {
    match info.dtype {
        code::FLOAT32 => elements(info, |x: f32| x),
        code::FLOAT16 => elements(info, |x: u16| half::f16::from_bits(x).to_f32()),
        code::FLOAT64 => elements(info, |x: u64| f64::from_bits(x) as f32),
        _ => dequantise(info, ints(info)?),
    }
}

/// The elements of a constant of integers or bools.
///
/// # Errors
/// Other element types, or more or fewer elements than the shape demands.
pub(super) fn ints(info: &TensorInfo) -> Result<Vec<i64>, String> {
    match info.dtype {
        code::INT32 => elements(info, |x: i32| i64::from(x)),
        code::INT64 => elements(info, |x: i64| x),
        code::INT16 => elements(info, |x: u16| i64::from(x as i16)),
        code::INT8 => elements(info, |x: i8| i64::from(x)),
        code::UINT8 => elements(info, |x: u8| i64::from(x)),
        code::UINT16 => elements(info, |x: u16| i64::from(x)),
        code::UINT32 => elements(info, |x: u32| i64::from(x)),
        code::BOOL => elements(info, |x: u8| i64::from(x != 0)),
        other => Err(format!("it is {}, integers are due", schema::type_name(other))),
    }
}

fn elements<T: Scalar, O: Copy + Default>(
    info: &TensorInfo,
    convert: impl Fn(T) -> O,
) -> Result<Vec<O>, Broken> {
    let shape = shape(info)?;
    let len = checked_len(&shape, MAX_CONSTANT_LEN)?;
    let bytes = info.data.unwrap_or_default();
    let found = bytes.len() / T::WIDTH;
    let exact = found == len && bytes.len().is_multiple_of(T::WIDTH);
    if !exact && info.sparsity.is_none() {
        let width = T::WIDTH;
        let held = bytes.len();
        return Err(format!(
            "shape {shape:?} needs {len} elements of {width} bytes, the file holds {held} bytes"
        ));
    }
    let values = (0..found).map(|i| T::read(bytes, i * T::WIDTH).map(&convert));
    let values = values.collect::<Result<Vec<O>, _>>()?;
    match &info.sparsity {
        Some(table) => sparse::densify(&values, &shape, table),
        None => Ok(values),
    }
}

/// `scale * (q - zero point)`, of the whole tensor or of each index along one dimension.
fn dequantise(info: &TensorInfo, data: Vec<i64>) -> Result<Vec<f32>, String> {
    let integers = || format!("it is {} without a scale, floats are due", schema::type_name(info.dtype));
    let table = info.quantization.as_ref().ok_or_else(integers)?;
    let scales = table.scalars::<f32>(quantization::SCALE)?;
    let zeros = table.scalars::<i64>(quantization::ZERO_POINT)?;
    let zero = |i: usize| zeros.get(i).or(zeros.first()).copied().unwrap_or(0);
    let shape = shape(info)?;
    let axis = table.scalar::<i32>(quantization::DIMENSION, 0)?;
    let (channels, inner) = match scales.len() {
        0 => return Err(integers()),
        1 => (1, data.len().max(1)),
        count => match usize::try_from(axis).ok().filter(|a| shape.get(*a) == Some(&count)) {
            Some(axis) => (count, shape[axis + 1..].iter().product::<usize>().max(1)),
            None => return Err(format!("{count} scales along dimension {axis} of {shape:?}")),
        },
    };
    let channel = |i: usize| i / inner % channels;
    let float = |(i, q): (usize, &i64)| scales[channel(i)] * q.saturating_sub(zero(channel(i))) as f32;
    Ok(data.iter().enumerate().map(float).collect())
}
