//! NumPy's `.npy` files: one array each, C order, little-endian.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use std::path::Path;

use super::ModelError;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// An array as float32.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Dimensions, row-major; empty for a scalar.
    pub shape: Vec<usize>,
    /// Elements, row-major.
    pub data: Vec<f32>,
}

/// Reads a file of float32, or of int64, int32 or bool where every element is exact in float32.
///
/// # Errors
/// Names the file and what is wrong: unreadable, not `.npy`, cut short, another element type, Fortran
/// order, an integer that float32 cannot hold.
pub fn read(path: &Path) -> Result<Array, ModelError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| ModelError::Io { path: name.clone(), source })?;
    parse(&bytes).map_err(|what| ModelError::Malformed { file: name, what })
}

/// Writes float32 data (format version 1.0).
///
/// # Errors
/// The file cannot be written, or the shape does not hold as many elements as there are.
pub fn write(path: &Path, shape: &[usize], data: &[f32]) -> Result<(), ModelError> {
    let name = path.display().to_string();
    let bytes = encode(shape, data).map_err(|what| ModelError::Malformed { file: name.clone(), what })?;
    std::fs::write(path, bytes).map_err(|source| ModelError::Io { path: name, source })
}

fn encode(shape: &[usize], data: &[f32]) -> Result<Vec<u8>, String> {
    if element_count(shape)? != data.len() {
        return Err(format!("shape {shape:?} does not hold {} elements", data.len()));
    }
    let dims: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let dims = if shape.len() == 1 { dims.trim_end() } else { dims.trim_end_matches(", ") };
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({dims}), }}");
    // Data starts at a multiple of 64 bytes: 10 bytes of preamble, header, padding, newline.
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let len = u16::try_from(header.len()).map_err(|_| format!("{} dimensions are too many", shape.len()))?;
    let mut bytes = Vec::with_capacity(10 + header.len() + data.len() * 4);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(data.iter().flat_map(|x| x.to_le_bytes()));
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
    let data = elements(descr, &bytes[data_at..], len)?;
    Ok(Array { shape, data })
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

fn elements(descr: &str, bytes: &[u8], len: usize) -> Result<Vec<f32>, String> {
    let width = match descr {
        "<f4" | "<i4" => 4,
        "<i8" => 8,
        "|b1" => 1,
        other => {
            return Err(format!("element type '{other}'; read are '<f4', '<i8', '<i4' and '|b1'"));
        }
    };
    // At most 2^40 elements of 8 bytes, so this fits.
    if bytes.len() != len * width {
        return Err(format!("{len} elements of {width} bytes are due, {} bytes follow", bytes.len()));
    }
    match descr {
        "<f4" => Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()),
        "<i4" => bytes
            .chunks_exact(4)
            .map(|b| exact(i64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))))
            .collect(),
        "<i8" => bytes
            .chunks_exact(8)
            .map(|b| exact(i64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])))
            .collect(),
        _ => Ok(bytes.iter().map(|b| f32::from(*b != 0)).collect()),
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
            let bytes = encode(&shape, &data).unwrap();
            assert_eq!((bytes.len() - len * 4) % 64, 0);
            assert_eq!(parse(&bytes).unwrap(), Array { shape, data });
        }
        assert!(encode(&[2, 2], &[0.0; 3]).unwrap_err().contains("3 elements"));
    }

    #[test]
    fn integers_are_widened_where_exact() {
        let ints: Vec<u8> = [7i64, -3].iter().flat_map(|x| x.to_le_bytes()).collect();
        let array = parse(&file(2, "<i8", "False", "(2,)", &ints)).unwrap();
        assert_eq!(array, Array { shape: vec![2], data: vec![7.0, -3.0] });
        let big = ((1i64 << 24) + 1).to_le_bytes();
        assert!(parse(&file(1, "<i8", "False", "()", &big)).unwrap_err().contains("16777217"));
        assert!(parse(&file(1, "<i8", "False", "()", &i64::MAX.to_le_bytes())).is_err());
        assert_eq!(parse(&file(3, "|b1", "False", "(2,)", &[0, 1])).unwrap().data, [0.0, 1.0]);
    }

    #[test]
    fn faults_are_named() {
        let good = file(1, "<f4", "False", "(1, 2)", &[0; 8]);
        assert!(parse(&good).is_ok());
        for cut in 0..good.len() {
            assert!(parse(&good[..cut]).is_err(), "{cut} bytes");
        }
        let fault = |bytes: Vec<u8>| parse(&bytes).unwrap_err();
        assert!(fault(file(1, "<f8", "False", "(1,)", &[0; 8])).contains("'<f8'"));
        assert!(fault(file(1, "<f4", "True", "(1,)", &[0; 4])).contains("Fortran"));
        assert!(fault(file(1, "<f4", "False", "(3,)", &[0; 8])).contains("3 elements"));
        assert!(fault(file(1, "<f4", "False", "(-3,)", &[0; 8])).contains("'-3'"));
        assert!(fault(file(9, "<f4", "False", "(1,)", &[0; 4])).contains("version 9"));
        assert!(fault(file(1, "<f4", "False", "(99999999999, 99999999999)", &[])).contains("2^40"));
        assert!(matches!(read(Path::new("/nonexistent/x.npy")), Err(ModelError::Io { .. })));
    }
}
