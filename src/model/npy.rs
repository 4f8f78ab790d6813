//! NumPy's `.npy` files: one array each, C order, little-endian.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use std::path::Path;

use super::ModelError;
use crate::graph::{DType, int_word, word_int};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Elements, row-major.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Of a floating-point type; float64 is held as float32.
    Floats(Vec<f32>),
    /// Of an integer type or bool (0 and 1).
    Ints(Vec<i64>),
}

/// An array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Element type of the file.
    pub dtype: DType,
    /// Dimensions, row-major; empty for a scalar.
    pub shape: Vec<usize>,
    /// As many elements as the shape holds.
    pub data: Data,
}

impl Array {
    /// An array of float32.
    pub fn floats(shape: impl Into<Vec<usize>>, data: Vec<f32>) -> Self {
        Array { dtype: DType::F32, shape: shape.into(), data: Data::Floats(data) }
    }

    /// An array of the type that run-time words stand for.
    pub fn from_words(dtype: DType, shape: impl Into<Vec<usize>>, words: &[f32]) -> Self {
        let data = match dtype.is_float() {
            true => Data::Floats(words.to_vec()),
            false => Data::Ints(words.iter().map(|word| i64::from(word_int(*word))).collect()),
        };
        Array { dtype, shape: shape.into(), data }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Floats(data) => data.len(),
            Data::Ints(data) => data.len(),
        }
    }

    /// Whether it holds no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as numbers.
    pub fn numbers(&self) -> Vec<f64> {
        match &self.data {
            Data::Floats(data) => data.iter().map(|x| f64::from(*x)).collect(),
            Data::Ints(data) => data.iter().map(|x| *x as f64).collect(),
        }
    }

    /// The elements as words of a value of type `dtype`.
    ///
    /// # Errors
    /// An integer that float32 cannot hold or that is out of the type's range, floats for an integer type.
    pub fn words(&self, dtype: DType) -> Result<Vec<f32>, String> {
        match (&self.data, dtype.int_range()) {
            (Data::Floats(data), None) => Ok(data.clone()),
            (Data::Ints(data), None) => data.iter().map(|x| exact(*x)).collect(),
            (Data::Ints(data), Some(range)) => data.iter().map(|x| checked_word(*x, dtype, range)).collect(),
            (Data::Floats(_), Some(_)) => Err(format!("holds {}, {dtype} is due", self.dtype)),
        }
    }
}

/// The word of an integer that a run holds in place of one of type `dtype`.
pub(crate) fn checked_word(int: i64, dtype: DType, (low, high): (i32, i32)) -> Result<f32, String> {
    match i32::try_from(int).ok().filter(|int| (low..=high).contains(int)) {
        Some(int) => Ok(int_word(int)),
        None => Err(format!("element {int} is outside {low}..={high}, which a run holds of {dtype}")),
    }
}

fn exact(value: i64) -> Result<f32, String> {
    let float = value as f32;
    if float as i128 == i128::from(value) {
        Ok(float)
    } else {
        Err(format!("the integer {value} is not exact in float32"))
    }
}

/// Reads a file of float32, float64 (rounded to float32), integers or bool.
///
/// # Errors
/// Names the file and what is wrong: unreadable, not `.npy`, cut short, another element type, Fortran
/// order.
pub fn read(path: &Path) -> Result<Array, ModelError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| ModelError::Io { path: name.clone(), source })?;
    parse(&bytes).map_err(|what| ModelError::Malformed { file: name, what })
}

/// Writes an array in its element type (float16 and bfloat16 as float32; format version 1.0).
///
/// # Errors
/// The file cannot be written, or the shape does not hold as many elements as there are.
pub fn write(path: &Path, array: &Array) -> Result<(), ModelError> {
    let name = path.display().to_string();
    let bytes = encode(array).map_err(|what| ModelError::Malformed { file: name.clone(), what })?;
    std::fs::write(path, bytes).map_err(|source| ModelError::Io { path: name, source })
}

/// How NumPy calls an element type, and its bytes in a file.
fn descr(dtype: DType) -> (&'static str, usize) {
    match dtype {
        DType::F64 => ("<f8", 8),
        DType::I64 => ("<i8", 8),
        DType::I32 => ("<i4", 4),
        DType::I16 => ("<i2", 2),
        DType::I8 => ("|i1", 1),
        DType::U64 => ("<u8", 8),
        DType::U32 => ("<u4", 4),
        DType::U16 => ("<u2", 2),
        DType::U8 => ("|u1", 1),
        DType::Bool => ("|b1", 1),
        DType::F32 | DType::F16 | DType::BF16 => ("<f4", 4),
    }
}

fn encode(array: &Array) -> Result<Vec<u8>, String> {
    let shape = &array.shape;
    if element_count(shape)? != array.len() {
        return Err(format!("shape {shape:?} does not hold {} elements", array.len()));
    }
    let (descr, width) = descr(array.dtype);
    let dims: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let dims = if shape.len() == 1 { dims.trim_end() } else { dims.trim_end_matches(", ") };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}");
    // Data starts at a multiple of 64 bytes: 10 bytes of preamble, header, padding, newline.
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let len = u16::try_from(header.len()).map_err(|_| format!("{} dimensions are too many", shape.len()))?;
    let mut bytes = Vec::with_capacity(10 + header.len() + array.len() * width);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    match &array.data {
        Data::Floats(data) if width == 8 => {
            bytes.extend(data.iter().flat_map(|x| f64::from(*x).to_le_bytes()))
        }
        Data::Floats(data) => bytes.extend(data.iter().flat_map(|x| x.to_le_bytes())),
        Data::Ints(data) => data.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()[..width])),
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Result<Array, String> {
    if bytes.len() < 10 || &bytes[..6] != MAGIC {
        return Err("not a .npy file (the magic bytes are missing)".into());
    }
    let (header_at, header_len): (usize, usize) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        2 | 3 if bytes.len() >= 12 => {
            (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize)
        }
        2 | 3 => return Err(format!("cut short: {} bytes", bytes.len())),
        major => return Err(format!("format version {major}; versions 1 to 3 are read")),
    };
    let data_at = header_at.checked_add(header_len).filter(|end| *end <= bytes.len()).ok_or_else(|| {
        format!("cut short: the header ends at byte {}, the file at {}", header_at + header_len, bytes.len())
    })?;
    let header = std::str::from_utf8(&bytes[header_at..data_at]).map_err(|_| "the header is not text")?;
    let descr = quoted(field(header, "descr")?)?;
    if !field(header, "fortran_order")?.starts_with("False") {
        return Err("Fortran (column-major) order; save it with numpy.ascontiguousarray".into());
    }
    let shape = tuple(field(header, "shape")?)?;
    let len = element_count(&shape)?;
    let (dtype, data) = elements(descr, &bytes[data_at..], len)?;
    Ok(Array { dtype, shape, data })
}

/// The text after `'key':` in the header's dictionary.
fn field<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let quoted = format!("'{key}'");
    let rest = header.find(&quoted).map(|at| header[at + quoted.len()..].trim_start());
    match rest.and_then(|r| r.strip_prefix(':')) {
        Some(value) => Ok(value.trim_start()),
        None => Err(format!("the header lacks '{key}'")),
    }
}

fn quoted(text: &str) -> Result<&str, String> {
    text.strip_prefix('\'')
        .and_then(|t| t.split_once('\''))
        .map(|(inner, _)| inner)
        .ok_or_else(|| "'descr' is not one element type (structured arrays are not read)".to_string())
}

fn tuple(text: &str) -> Result<Vec<usize>, String> {
    let inner = text.strip_prefix('(').and_then(|t| t.split_once(')')).map(|(inner, _)| inner);
    let inner = inner.ok_or("'shape' is not a tuple")?;
    inner
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().map_err(|_| format!("'shape' holds '{part}', not a size")))
        .collect()
}

fn element_count(shape: &[usize]) -> Result<usize, String> {
    shape
        .iter()
        .try_fold(1usize, |n, d| n.checked_mul(*d))
        .filter(|n| *n as u64 <= 1 << 40)
        .ok_or_else(|| format!("shape {shape:?} has more than 2^40 elements"))
}

fn elements(text: &str, bytes: &[u8], len: usize) -> Result<(DType, Data), String> {
    use DType::*;
    let known = [F32, F64, I64, I32, I16, I8, U64, U32, U16, U8, Bool];
    let Some(dtype) = known.into_iter().find(|dtype| descr(*dtype).0 == text) else {
        return Err(format!("element type '{text}'; read are floats of 4 and 8 bytes, integers and '|b1'"));
    };
    let (_, width) = descr(dtype);
    // At most 2^40 elements of 8 bytes, so this fits.
    if bytes.len() != len * width {
        return Err(format!("{len} elements of {width} bytes are due, {} bytes follow", bytes.len()));
    }
    let wide = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..width].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    let words = bytes.chunks_exact(width).map(wide);
    if dtype.is_float() {
        let float =
            |word: u64| if width == 4 { f32::from_bits(word as u32) } else { f64::from_bits(word) as f32 };
        return Ok((dtype, Data::Floats(words.map(float).collect())));
    }
    let int = |word: u64| match dtype {
        Bool => Ok(i64::from(word != 0)),
        I8 | I16 | I32 | I64 => {
            let shift = 64 - 8 * width;
            Ok((word << shift) as i64 >> shift)
        }
        _ => i64::try_from(word).map_err(|_| format!("the element {word} exceeds int64")),
    };
    Ok((dtype, Data::Ints(words.map(int).collect::<Result<_, _>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        if version == 1 {
            bytes.extend((header.len() as u16).to_le_bytes());
        } else {
            bytes.extend((header.len() as u32).to_le_bytes());
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn what_is_written_is_read_back() {
        for shape in [vec![], vec![3], vec![2, 3], vec![1, 0, 4]] {
            let len: usize = shape.iter().product();
            let data: Vec<f32> = (0..len).map(|i| i as f32 * 0.25 - 1.0).collect();
            let array = Array::floats(shape, data);
            let bytes = encode(&array).unwrap();
            assert_eq!((bytes.len() - len * 4) % 64, 0);
            assert_eq!(parse(&bytes).unwrap(), array);
        }
        for dtype in [DType::I64, DType::I32, DType::I16, DType::I8, DType::U64, DType::U8, DType::Bool] {
            let (low, high) = dtype.int_range().unwrap();
            let ints = vec![0, 1, i64::from(low), i64::from(high)];
            let array = Array { dtype, shape: vec![4], data: Data::Ints(ints) };
            let words = array.words(dtype).unwrap();
            assert_eq!(parse(&encode(&array).unwrap()).unwrap(), array);
            assert_eq!(Array::from_words(dtype, [4], &words), array);
        }
        let double = Array { dtype: DType::F64, ..Array::floats([2], vec![0.5, -3.0]) };
        assert_eq!(parse(&encode(&double).unwrap()).unwrap(), double);
        assert!(encode(&Array::floats([2, 2], vec![0.0; 3])).unwrap_err().contains("3 elements"));
    }

    #[test]
    fn integers_become_words_where_they_fit() {
        let ints: Vec<u8> = [7i64, -3].iter().flat_map(|x| x.to_le_bytes()).collect();
        let array = parse(&file(2, "<i8", "False", "(2,)", &ints)).unwrap();
        assert_eq!((array.dtype, &array.data), (DType::I64, &Data::Ints(vec![7, -3])));
        assert_eq!(array.words(DType::F32).unwrap(), [7.0, -3.0]);
        assert_eq!(array.words(DType::I32).unwrap().into_iter().map(word_int).collect::<Vec<_>>(), [7, -3]);
        assert!(array.words(DType::U8).unwrap_err().contains("element -3 is outside 0..=255"));
        let big = parse(&file(1, "<i8", "False", "()", &((1i64 << 24) + 1).to_le_bytes())).unwrap();
        assert!(big.words(DType::F32).unwrap_err().contains("16777217"));
        let huge = parse(&file(1, "<i8", "False", "()", &i64::MAX.to_le_bytes())).unwrap();
        assert!(huge.words(DType::I64).unwrap_err().contains("9223372036854775807"));
        assert!(parse(&file(1, "<u8", "False", "()", &u64::MAX.to_le_bytes())).is_err());
        let bools = parse(&file(3, "|b1", "False", "(2,)", &[0, 2])).unwrap();
        assert_eq!((bools.dtype, bools.data), (DType::Bool, Data::Ints(vec![0, 1])));
        assert!(Array::floats([1], vec![0.5]).words(DType::I32).unwrap_err().contains("float32"));
    }

    #[test]
    fn faults_are_named() {
        let good = file(1, "<f4", "False", "(1, 2)", &[0; 8]);
        assert!(parse(&good).is_ok());
        for cut in 0..good.len() {
            assert!(parse(&good[..cut]).is_err(), "{cut} bytes");
        }
        let fault = |bytes: Vec<u8>| parse(&bytes).unwrap_err();
        assert!(fault(file(1, "<c8", "False", "(1,)", &[0; 8])).contains("'<c8'"));
        assert!(fault(file(1, "<f4", "True", "(1,)", &[0; 4])).contains("Fortran"));
        assert!(fault(file(1, "<f4", "False", "(3,)", &[0; 8])).contains("3 elements"));
        assert!(fault(file(1, "<f4", "False", "(-3,)", &[0; 8])).contains("'-3'"));
        assert!(fault(file(9, "<f4", "False", "(1,)", &[0; 4])).contains("version 9"));
        assert!(fault(file(1, "<f4", "False", "(99999999999, 99999999999)", &[])).contains("2^40"));
        assert!(matches!(read(Path::new("/nonexistent/x.npy")), Err(ModelError::Io { .. })));
    }
}
