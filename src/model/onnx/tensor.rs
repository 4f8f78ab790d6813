//! Tensors known while importing, and the initializers they start from.

use std::sync::Arc;

use rten_onnx::onnx::{DataLocation, DataType, TensorProto};

use crate::graph::{self, DType, ValueId, word_int};
use crate::model::npy::{Array, Data};
pub(super) use crate::model::size::{MAX_CONSTANT_LEN, MAX_LEN, checked_len, room};

/// Data of a constant while importing: integers as they are in the file, since the arithmetic of shapes
/// needs 64 bits. f16, bf16 and f64 are widened or rounded to float32.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Constant {
    F32(Arc<Vec<f32>>),
    I64(Arc<Vec<i64>>),
}

/// A tensor as the importer sees it: shape always, data where it is constant.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub data: Option<Constant>,
    /// Its value in the graph, once a node of the graph reads or writes it.
    pub value: Option<ValueId>,
}

impl Tensor {
    pub(super) fn constant(dtype: DType, shape: Vec<usize>, data: Constant) -> Self {
        Tensor { dtype, shape, data: Some(data), value: None }
    }

    pub(super) fn ints(shape: Vec<usize>, data: Vec<i64>) -> Self {
        Tensor::constant(DType::I64, shape, Constant::I64(Arc::new(data)))
    }

    pub(super) fn floats(shape: Vec<usize>, data: Vec<f32>) -> Self {
        Tensor::constant(DType::F32, shape, Constant::F32(Arc::new(data)))
    }

    pub(super) fn from_array(array: &Array) -> Self {
        let data = match &array.data {
            Data::Floats(data) => Constant::F32(Arc::new(data.clone())),
            Data::Ints(data) => Constant::I64(Arc::new(data.clone())),
        };
        Tensor::constant(array.dtype, array.shape.clone(), data)
    }

    pub(super) fn into_array(self) -> Option<Array> {
        let data = match self.data? {
            Constant::F32(data) => Data::Floats(Arc::unwrap_or_clone(data)),
            Constant::I64(data) => Data::Ints(Arc::unwrap_or_clone(data)),
        };
        Some(Array { dtype: self.dtype, shape: self.shape, data })
    }

    /// A constant of the graph.
    pub(super) fn folded(dtype: DType, shape: Vec<usize>, data: &graph::Constant, value: ValueId) -> Self {
        let data = match dtype.is_float() {
            true => Constant::F32(data.shared()),
            false => Constant::I64(Arc::new(data.words().iter().map(|w| i64::from(word_int(*w))).collect())),
        };
        Tensor { value: Some(value), ..Tensor::constant(dtype, shape, data) }
    }

    /// A value computed at run time.
    pub(super) fn runtime(dtype: DType, shape: Vec<usize>, value: ValueId) -> Self {
        Tensor { dtype, shape, data: None, value: Some(value) }
    }

    pub(super) fn i64_data(&self) -> Option<&[i64]> {
        match &self.data {
            Some(Constant::I64(data)) => Some(data),
            _ => None,
        }
    }

    pub(super) fn f32_data(&self) -> Option<&[f32]> {
        match &self.data {
            Some(Constant::F32(data)) => Some(data),
            _ => None,
        }
    }
}

/// The element type of the file as the graph floor knows it.
///
/// # Errors
/// A type that is neither a number of 8 to 64 bits nor bool.
pub(super) fn dtype(data_type: Option<DataType>) -> Result<DType, String> {
    Ok(match data_type.unwrap_or(DataType(0)) {
        DataType::FLOAT => DType::F32,
        DataType::DOUBLE => DType::F64,
        DataType::FLOAT16 => DType::F16,
        DataType::BFLOAT16 => DType::BF16,
        DataType::INT64 => DType::I64,
        DataType::INT16 => DType::I16,
        DataType::UINT64 => DType::U64,
        DataType::UINT32 => DType::U32,
        DataType::UINT16 => DType::U16,
        DataType::INT32 => DType::I32,
        DataType::UINT8 => DType::U8,
        DataType::INT8 => DType::I8,
        DataType::BOOL => DType::Bool,
        other => return Err(format!("element type {other} is not supported")),
    })
}

/// Decodes an initializer or the tensor of an attribute.
///
/// # Errors
/// The element type is not supported, the data lies in another file, or there is more or less of it
/// than the shape demands.
pub(super) fn decode(proto: &TensorProto) -> Result<Tensor, String> {
    if proto.data_location == Some(DataLocation::EXTERNAL) {
        let key = |k: &str| proto.external_data.iter().find(|e| e.key.as_deref() == Some(k));
        let file = key("location").and_then(|e| e.value.as_deref()).unwrap_or("an unnamed file");
        return Err(format!("its data lies in '{file}'; data outside the model file is not read"));
    }
    let shape = proto.dims.iter().map(|d| usize::try_from(*d)).collect::<Result<Vec<_>, _>>();
    let shape = shape.map_err(|_| format!("dimensions {:?} are negative", proto.dims))?;
    let len = checked_len(&shape, MAX_CONSTANT_LEN)?;
    let dtype = dtype(proto.data_type)?;
    let data = match &proto.raw_data {
        Some(raw) => from_raw(proto.data_type, &raw.take(), len)?,
        None => from_fields(proto, len)?,
    };
    let found = match &data {
        Constant::F32(d) => d.len(),
        Constant::I64(d) => d.len(),
    };
    if found != len {
        return Err(format!("shape {shape:?} needs {len} elements, the file holds {found}"));
    }
    Ok(Tensor::constant(dtype, shape, data))
}

fn floats(data: impl Iterator<Item = f32>) -> Constant {
    Constant::F32(Arc::new(data.collect()))
}

fn ints(data: impl Iterator<Item = i64>) -> Constant {
    Constant::I64(Arc::new(data.collect()))
}

fn from_raw(data_type: Option<DataType>, raw: &[u8], len: usize) -> Result<Constant, String> {
    let data_type = data_type.unwrap_or(DataType(0));
    let width = match data_type {
        DataType::UINT8 | DataType::INT8 | DataType::BOOL => 1,
        DataType::FLOAT16 | DataType::BFLOAT16 | DataType::INT16 | DataType::UINT16 => 2,
        DataType::FLOAT | DataType::INT32 | DataType::UINT32 => 4,
        _ => 8,
    };
    if raw.len() != len * width {
        return Err(format!("{len} elements of {width} bytes are due, the file holds {} bytes", raw.len()));
    }
    let (twos, fours, eights) = (raw.as_chunks::<2>().0, raw.as_chunks::<4>().0, raw.as_chunks::<8>().0);
    Ok(match data_type {
        DataType::FLOAT => floats(fours.iter().map(|b| f32::from_le_bytes(*b))),
        DataType::DOUBLE => floats(eights.iter().map(|b| f64::from_le_bytes(*b) as f32)),
        DataType::FLOAT16 => floats(twos.iter().map(|b| half::f16::from_le_bytes(*b).to_f32())),
        DataType::BFLOAT16 => floats(twos.iter().map(|b| half::bf16::from_le_bytes(*b).to_f32())),
        DataType::INT64 => ints(eights.iter().map(|b| i64::from_le_bytes(*b))),
        DataType::UINT64 => {
            let wide = eights.iter().map(|b| i64::try_from(u64::from_le_bytes(*b)));
            let data: Result<Vec<i64>, _> = wide.collect();
            Constant::I64(Arc::new(data.map_err(|_| "a uint64 element exceeds int64")?))
        }
        DataType::INT32 => ints(fours.iter().map(|b| i64::from(i32::from_le_bytes(*b)))),
        DataType::UINT32 => ints(fours.iter().map(|b| i64::from(u32::from_le_bytes(*b)))),
        DataType::INT16 => ints(twos.iter().map(|b| i64::from(i16::from_le_bytes(*b)))),
        DataType::UINT16 => ints(twos.iter().map(|b| i64::from(u16::from_le_bytes(*b)))),
        DataType::INT8 => ints(raw.iter().map(|b| i64::from(*b as i8))),
        DataType::BOOL => ints(raw.iter().map(|b| i64::from(*b != 0))),
        _ => ints(raw.iter().map(|b| i64::from(*b))),
    })
}

/// The typed fields, where `raw_data` is absent (onnx.proto says which field holds which type).
fn from_fields(proto: &TensorProto, len: usize) -> Result<Constant, String> {
    let small = || proto.int32_data.iter().copied();
    Ok(match proto.data_type.unwrap_or(DataType(0)) {
        DataType::FLOAT => floats(proto.float_data.iter().copied()),
        DataType::DOUBLE => floats(proto.double_data.iter().map(|x| *x as f32)),
        DataType::FLOAT16 => floats(small().map(|x| half::f16::from_bits(x as u16).to_f32())),
        DataType::BFLOAT16 => floats(small().map(|x| half::bf16::from_bits(x as u16).to_f32())),
        DataType::INT64 => ints(proto.int64_data.iter().copied()),
        DataType::UINT32 | DataType::UINT64 if len > 0 => {
            return Err("uint32 and uint64 are read from raw data only".into());
        }
        DataType::BOOL => ints(small().map(|x| i64::from(x != 0))),
        DataType::UINT16 => ints(small().map(|x| i64::from(x as u16))),
        DataType::UINT8 => ints(small().map(|x| i64::from(x as u8))),
        _ => ints(small().map(i64::from)),
    })
}
