//! Values of a graph: shape, element type, and data where it is constant.

use std::sync::Arc;

/// Index of a value in [`super::Graph::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    /// As an index into [`super::Graph::values`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Element types an importer may meet. Only `F32` exists at run time; the others must fold away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 single precision, 4 bytes.
    F32,
    /// IEEE 754 double precision, 8 bytes.
    F64,
    /// IEEE 754 half precision, 2 bytes.
    F16,
    /// Signed 64-bit integer.
    I64,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned byte.
    U8,
    /// Signed byte.
    I8,
    /// One byte, 0 or 1.
    Bool,
}

impl DType {
    /// Bytes of one element.
    pub fn size_bytes(self) -> u64 {
        match self {
            DType::F64 | DType::I64 => 8,
            DType::F32 | DType::I32 => 4,
            DType::F16 => 2,
            DType::U8 | DType::I8 | DType::Bool => 1,
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::F16 => "float16",
            DType::I64 => "int64",
            DType::I32 => "int32",
            DType::U8 => "uint8",
            DType::I8 => "int8",
            DType::Bool => "bool",
        })
    }
}

/// Data of a constant. Narrow integer and bool constants are widened to `I64` at import, f16 and f64 to
/// `F32`.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// Floating-point data, row-major.
    F32(Arc<Vec<f32>>),
    /// Integer and bool data, row-major.
    I64(Arc<Vec<i64>>),
}

/// A tensor of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Name as in the model; unique.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Dimensions, row-major; empty for a scalar. A dimension may be 0.
    pub shape: Vec<usize>,
    /// Present where the value is known before the run.
    pub constant: Option<Constant>,
}

impl Value {
    /// A float32 value computed at run time.
    pub fn f32(name: impl Into<String>, shape: impl Into<Vec<usize>>) -> Self {
        Value { name: name.into(), dtype: DType::F32, shape: shape.into(), constant: None }
    }

    /// A float32 constant.
    pub fn f32_constant(name: impl Into<String>, shape: impl Into<Vec<usize>>, data: Vec<f32>) -> Self {
        Value { constant: Some(Constant::F32(Arc::new(data))), ..Value::f32(name, shape) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it holds no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all elements, unaligned.
    pub fn size_bytes(&self) -> u64 {
        self.len() as u64 * self.dtype.size_bytes()
    }

    /// The data of a float constant.
    pub fn f32_data(&self) -> Option<&[f32]> {
        match &self.constant {
            Some(Constant::F32(data)) => Some(data),
            _ => None,
        }
    }
}
