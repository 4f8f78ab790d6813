//! A part of a problem that is planned for itself: blocks that are linked in time.

use super::super::resolve::Block;
use super::sections::Sections;

/// Blocks with their sections and the live bytes of each.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub blocks: Vec<Block>,
    pub sections: Sections,
    pub loads: Vec<u64>,
}

impl Part {
    pub fn new(blocks: Vec<Block>) -> Self {
        let sections = Sections::new(&blocks);
        let loads = sections.loads(&blocks);
        Part { blocks, sections, loads }
    }

    /// Highest byte used by these offsets.
    pub fn peak(&self, offsets: &[u64]) -> u64 {
        self.blocks.iter().zip(offsets).map(|(b, o)| b.size_bytes + o).max().unwrap_or(0)
    }
}
