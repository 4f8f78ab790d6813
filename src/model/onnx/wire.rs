//! Walks the protobuf bytes of a model before they are decoded.
//!
//! The decoder allocates what a length field says and adds lengths to positions; a file that lies would
//! make it abort. Here every length is held against the bytes that are really there, so that decoding
//! cannot run past them.

/// Nested messages deeper than this are refused; a graph inside an attribute costs three levels.
const MAX_DEPTH: usize = 48;

/// Messages of onnx.proto whose insides are decoded.
#[derive(Clone, Copy)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    ValueInfo,
    Type,
    Sequence,
    TensorType,
    Shape,
    /// Only scalars and strings inside.
    Flat,
}

/// How the payload of a length-delimited field is built.
enum Payload {
    Message(Message),
    Varints,
    Words(usize),
    Opaque,
}

fn payload(message: Message, field: u64) -> Payload {
    use Message::*;
    match (message, field) {
        (Model, 7) | (Attribute, 6) => Payload::Message(Graph),
        (Model, 8 | 14) | (Tensor, 13) | (Shape, 1) => Payload::Message(Flat),
        (Graph, 1) => Payload::Message(Node),
        (Graph, 5) | (Attribute, 5) => Payload::Message(Tensor),
        (Graph, 11..=13) => Payload::Message(ValueInfo),
        (Node, 5) => Payload::Message(Attribute),
        (ValueInfo, 2) | (Sequence, 1) => Payload::Message(Type),
        (Type, 1) => Payload::Message(TensorType),
        (Type, 4) => Payload::Message(Sequence),
        (TensorType, 2) => Payload::Message(Shape),
        (Tensor, 5 | 7) => Payload::Varints,
        (Tensor, 4) => Payload::Words(4),
        (Tensor, 10) => Payload::Words(8),
        _ => Payload::Opaque,
    }
}

/// Checks the bytes of a `ModelProto`.
///
/// # Errors
/// Says at which byte the encoding breaks, and how.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    Walker { bytes }.message(Message::Model, 0, bytes.len(), 0)
}

/// Checks the bytes of a `TensorProto`.
///
/// # Errors
/// As [`check`].
pub(super) fn check_tensor(bytes: &[u8]) -> Result<(), String> {
    Walker { bytes }.message(Message::Tensor, 0, bytes.len(), 0)
}

struct Walker<'a> {
    bytes: &'a [u8],
}

impl Walker<'_> {
    fn message(&self, message: Message, mut at: usize, end: usize, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("messages nested deeper than {MAX_DEPTH} at byte {at}"));
        }
        while at < end {
            let start = at;
            let tag = self.varint(&mut at, end)?;
            let field = tag >> 3;
            match tag & 7 {
                0 => {
                    self.varint(&mut at, end)?;
                }
                1 => at = self.advance(at, 8, end)?,
                5 => at = self.advance(at, 4, end)?,
                2 => {
                    let len = self.varint(&mut at, end)?;
                    let next = self.advance(at, len, end)?;
                    self.payload(payload(message, field), at, next, depth)?;
                    at = next;
                }
                wire => return Err(format!("wire type {wire} at byte {start} is not used by ONNX")),
            }
        }
        Ok(())
    }

    fn payload(&self, payload: Payload, mut at: usize, end: usize, depth: usize) -> Result<(), String> {
        match payload {
            Payload::Message(inner) => self.message(inner, at, end, depth + 1),
            Payload::Words(width) if (end - at).is_multiple_of(width) => Ok(()),
            Payload::Words(width) => Err(format!("{} bytes of {width}-byte numbers at byte {at}", end - at)),
            Payload::Varints => {
                while at < end {
                    self.varint(&mut at, end)?;
                }
                Ok(())
            }
            Payload::Opaque => Ok(()),
        }
    }

    fn advance(&self, at: usize, len: u64, end: usize) -> Result<usize, String> {
        let left = end - at;
        match usize::try_from(len) {
            Ok(len) if len <= left => Ok(at + len),
            _ => Err(format!("cut short: a field at byte {at} needs {len} bytes, {left} are left")),
        }
    }

    fn varint(&self, at: &mut usize, end: usize) -> Result<u64, String> {
        let start = *at;
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            if *at >= end {
                return Err(format!("cut short: the number at byte {start} has no end"));
            }
            let byte = self.bytes[*at];
            *at += 1;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(format!("the number at byte {start} has more than 64 bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn lengths_that_lie_are_refused() {
        assert!(check(&[]).is_ok());
        assert!(check(&[0x08, 0x07]).is_ok());
        // Graph of 2^60 bytes.
        let huge = [0x3a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
        assert!(check(&huge).unwrap_err().contains("are left"));
        // A node (field 1) that is longer than its graph.
        assert!(check(&[0x3a, 0x03, 0x0a, 0x05, 0x00]).unwrap_err().contains("needs 5 bytes, 1 are left"));
        // Packed int64_data whose last number runs over the end.
        assert!(check(&[0x3a, 0x05, 0x2a, 0x03, 0x3a, 0x01, 0x80]).unwrap_err().contains("no end"));
        // Packed float_data of three bytes.
        let floats = [0x3a, 0x07, 0x2a, 0x05, 0x22, 0x03, 0, 0, 0];
        assert!(check(&floats).unwrap_err().contains("4-byte"));
        assert!(check(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]).is_err());
        assert!(check(&[0x0b]).unwrap_err().contains("wire type 3"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        // graph { node { attribute { graph { .. } } } }
        let mut bytes = Vec::new();
        for _ in 0..40 {
            for tag in [0x32, 0x2a, 0x0a] {
                let mut outer = vec![tag];
                let mut len = bytes.len();
                while len >= 0x80 {
                    outer.push(len as u8 | 0x80);
                    len >>= 7;
                }
                outer.push(len as u8);
                outer.extend(&bytes);
                bytes = outer;
            }
        }
        let mut model = vec![0x3a];
        let len = bytes.len();
        model.extend([len as u8 | 0x80, (len >> 7) as u8]);
        model.extend(&bytes);
        assert!(check(&model).unwrap_err().contains("nested deeper"));
    }
}
