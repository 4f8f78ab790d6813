//! Values of a graph: shape, element type, and data where it is constant.
//!
//! At run time every element is one word of 4 bytes: a float32, or an int32, with bool as 0 and 1. Words
//! travel as `f32`; those of an integer tensor are only moved or taken by their bits ([`int_word`],
//! [`word_int`]).

use std::sync::{Arc, LazyLock};

/// Bytes of an element at run time, whatever its type in the model.
pub const WORD_BYTES: u64 = 4;

/// The word of an integer.
pub fn int_word(int: i32) -> f32 {
    f32::from_bits(int as u32)
}

/// The integer of a word.
pub fn word_int(word: f32) -> i32 {
    word.to_bits() as i32
}

/// Index of a value in [`super::Graph::values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    /// As an index into [`super::Graph::values`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Element types as models have them. At run time there are two: float32 for every floating-point type, int32
/// for the others; what a type says beyond that holds for files, reports and the range of the integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// IEEE 754 half precision.
    F16,
    /// The upper half of a float32.
    BF16,
    /// Signed 64-bit integer.
    I64,
    /// Signed 32-bit integer.
    I32,
    /// Signed 16-bit integer.
    I16,
    /// Signed byte.
    I8,
    /// Unsigned 64-bit integer.
    U64,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned byte.
    U8,
    /// 0 or 1.
    Bool,
}

impl DType {
    /// Whether it is a floating-point type: float32 at run time.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F64 | DType::F16 | DType::BF16)
    }

    /// Smallest and largest integer of the type that a run can hold; `None` for floats.
    pub fn int_range(self) -> Option<(i32, i32)> {
        Some(match self {
            DType::F32 | DType::F64 | DType::F16 | DType::BF16 => return None,
            DType::I64 | DType::I32 => (i32::MIN, i32::MAX),
            DType::I16 => (i32::from(i16::MIN), i32::from(i16::MAX)),
            DType::I8 => (i32::from(i8::MIN), i32::from(i8::MAX)),
            DType::U64 | DType::U32 => (0, i32::MAX),
            DType::U16 => (0, i32::from(u16::MAX)),
            DType::U8 => (0, i32::from(u8::MAX)),
            DType::Bool => (0, 1),
        })
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::F16 => "float16",
            DType::BF16 => "bfloat16",
            DType::I64 => "int64",
            DType::I32 => "int32",
            DType::I16 => "int16",
            DType::I8 => "int8",
            DType::U64 => "uint64",
            DType::U32 => "uint32",
            DType::U16 => "uint16",
            DType::U8 => "uint8",
            DType::Bool => "bool",
        })
    }
}

/// Data of a constant: one word an element, row-major. The value's type says what the words are. Copies
/// share their words.
#[derive(Debug, Clone)]
pub struct Constant(Words);

/// Makes the words of a constant when they are first asked for.
type Maker = Box<dyn FnOnce() -> Vec<f32> + Send>;

#[derive(Debug, Clone)]
enum Words {
    Known(Arc<Vec<f32>>),
    Later { len: usize, words: Arc<LazyLock<Vec<f32>, Maker>> },
}

impl Constant {
    /// A constant of these words.
    pub fn new(words: impl Into<Arc<Vec<f32>>>) -> Self {
        Constant(Words::Known(words.into()))
    }

    /// A constant whose `len` words are made when they are first asked for: planning asks for none.
    pub(crate) fn later(len: usize, make: impl FnOnce() -> Vec<f32> + Send + 'static) -> Self {
        let make: Maker = Box::new(make);
        Constant(Words::Later { len, words: Arc::new(LazyLock::new(make)) })
    }

    /// The words.
    pub fn words(&self) -> &[f32] {
        match &self.0 {
            Words::Known(words) => words,
            Words::Later { words, .. } => words,
        }
    }

    /// The words, held together with the constant where they are known.
    #[cfg(any(feature = "onnx", feature = "tflite"))]
    pub(crate) fn shared(&self) -> Arc<Vec<f32>> {
        match &self.0 {
            Words::Known(words) => words.clone(),
            Words::Later { words, .. } => Arc::new((**words).clone()),
        }
    }

    /// How many there are; makes none.
    pub fn len(&self) -> usize {
        match &self.0 {
            Words::Known(words) => words.len(),
            Words::Later { len, .. } => *len,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bit for bit, since words may be integers.
impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
        self.len() == other.len() && self.words().iter().zip(other.words()).all(same)
    }
}

/// A tensor of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Name as in the model; unique.
    pub name: String,
    /// Element type in the model.
    pub dtype: DType,
    /// Dimensions, row-major; empty for a scalar. A dimension may be 0.
    pub shape: Vec<usize>,
    /// Present where the value is known before the run.
    pub constant: Option<Constant>,
}

impl Value {
    /// A value computed at run time.
    pub fn new(name: impl Into<String>, dtype: DType, shape: impl Into<Vec<usize>>) -> Self {
        Value { name: name.into(), dtype, shape: shape.into(), constant: None }
    }

    /// A float32 value computed at run time.
    pub fn f32(name: impl Into<String>, shape: impl Into<Vec<usize>>) -> Self {
        Value::new(name, DType::F32, shape)
    }

    /// A float32 constant.
    pub fn f32_constant(name: impl Into<String>, shape: impl Into<Vec<usize>>, data: Vec<f32>) -> Self {
        Value { constant: Some(Constant::new(data)), ..Value::f32(name, shape) }
    }

    /// An int32 constant.
    pub fn i32_constant(name: impl Into<String>, shape: impl Into<Vec<usize>>, data: &[i32]) -> Self {
        let words: Vec<f32> = data.iter().map(|int| int_word(*int)).collect();
        Value { constant: Some(Constant::new(words)), ..Value::new(name, DType::I32, shape) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it holds no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all elements at run time, unaligned.
    pub fn size_bytes(&self) -> u64 {
        self.len() as u64 * WORD_BYTES
    }

    /// Whether its words are float32 (else int32).
    pub fn is_float(&self) -> bool {
        self.dtype.is_float()
    }

    /// The words of a constant, whatever its type.
    pub fn words(&self) -> Option<&[f32]> {
        self.constant.as_ref().map(Constant::words)
    }

    /// The data of a float constant.
    pub fn f32_data(&self) -> Option<&[f32]> {
        self.words().filter(|_| self.is_float())
    }

    /// The data of an integer or bool constant.
    pub fn i32_data(&self) -> Option<Vec<i32>> {
        let words = self.words().filter(|_| !self.is_float())?;
        Some(words.iter().map(|word| word_int(*word)).collect())
    }
}
