//! Placement into the smallest gap: what the greedy strategies of arXiv 2001.03288 share.

use super::super::ids::align_up;
use super::super::resolve::Block;

/// The placed blocks of one arena, by offset.
#[derive(Debug, Default, Clone)]
pub(crate) struct Arena {
    /// Offset and index of each placed block, ascending.
    placed: Vec<(u64, usize)>,
    /// One past the highest byte used.
    pub top_bytes: u64,
}

/// A place for a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    pub offset_bytes: u64,
    /// Bytes of the gap, alignment taken off; `None` above everything that the block meets.
    pub gap_bytes: Option<u64>,
}

impl Arena {
    /// The smallest gap between blocks met in time that holds `block`, else the end of the highest of them.
    pub fn best_fit(&self, blocks: &[Block], block: &Block) -> Fit {
        let (mut floor, mut best): (u64, Option<Fit>) = (0, None);
        for (offset, other) in &self.placed {
            let other = &blocks[*other];
            if !other.meets(block) {
                continue;
            }
            if *offset >= floor {
                let gap = offset - floor;
                if gap >= block.size_bytes && best.and_then(|b| b.gap_bytes).is_none_or(|least| gap < least) {
                    best = Some(Fit { offset_bytes: floor, gap_bytes: Some(gap) });
                }
            }
            floor = floor.max(align_up(offset + other.size_bytes, block.align_bytes));
        }
        best.unwrap_or(Fit { offset_bytes: floor, gap_bytes: None })
    }

    /// Puts a block at an offset.
    pub fn insert(&mut self, blocks: &[Block], index: usize, offset_bytes: u64) {
        let at = self.placed.partition_point(|(offset, _)| *offset <= offset_bytes);
        self.placed.insert(at, (offset_bytes, index));
        self.top_bytes = self.top_bytes.max(offset_bytes + blocks[index].size_bytes);
    }
}
