//! Where constants lie: packed into buffers of their own, apart from the arenas, so that they stay read-only.

use super::Program;
use crate::graph::ValueId;
use crate::kernel::Operand;
use std::collections::BTreeMap;

/// A range of a constant, as some dispatch binds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The constant.
    pub value: ValueId,
    /// First element.
    pub start_len: usize,
    /// Elements.
    pub len: usize,
    /// Which weights buffer.
    pub buffer: usize,
    /// First byte in it.
    pub offset_bytes: u64,
}

/// Places of all constants that a program binds. A constant over the binding limit lies there in pieces,
/// which may be in different buffers; each piece lies there once. Pieces of one constant share elements where
/// dispatches cut it differently, or where a row starts at no multiple of 256 bytes.
#[derive(Debug, Clone, Default)]
pub struct WeightMap {
    /// Bytes of each weights buffer.
    pub buffers: Vec<u64>,
    /// Every piece.
    pub pieces: Vec<Piece>,
    index: BTreeMap<(ValueId, usize, usize), usize>,
}

impl WeightMap {
    /// Packs the pieces in order of first use, each aligned, into as few buffers of at most
    /// `max_buffer_bytes` as that order needs.
    pub fn new(program: &Program, alignment_bytes: u64, max_buffer_bytes: u64) -> Self {
        let mut map = WeightMap::default();
        for operand in program.constant_operands() {
            let Operand::Value { value, start_len, len } = operand else { continue };
            if map.index.contains_key(&(value, start_len, len)) {
                continue;
            }
            let bytes = len as u64 * 4;
            let aligned = map.buffers.last().map(|end| end.next_multiple_of(alignment_bytes));
            let offset_bytes = match aligned {
                Some(start) if start + bytes <= max_buffer_bytes => start,
                _ => {
                    map.buffers.push(0);
                    0
                }
            };
            let buffer = map.buffers.len() - 1;
            map.buffers[buffer] = offset_bytes + bytes;
            map.index.insert((value, start_len, len), map.pieces.len());
            map.pieces.push(Piece { value, start_len, len, buffer, offset_bytes });
        }
        map
    }

    /// Pieces that lie where somebody else put them, in buffers of these sizes.
    pub fn placed(buffers: Vec<u64>, pieces: Vec<Piece>) -> Self {
        let index = pieces.iter().enumerate().map(|(i, p)| ((p.value, p.start_len, p.len), i)).collect();
        WeightMap { buffers, pieces, index }
    }

    /// The piece that shows exactly this range of a constant.
    pub fn find(&self, value: ValueId, start_len: usize, len: usize) -> Option<&Piece> {
        self.index.get(&(value, start_len, len)).map(|i| &self.pieces[*i])
    }

    /// Bytes of all weights buffers.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().sum()
    }
}
