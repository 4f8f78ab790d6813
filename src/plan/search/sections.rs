//! Time cut down to what matters: the steps at which the set of live blocks is largest by inclusion.

use super::super::resolve::Block;

/// The distinct crowds of a problem in the order of time, and each block's first and last crowd.
///
/// Two blocks meet exactly where they share such a crowd, so nothing is lost; there are never more of them
/// than blocks, however many steps there are.
#[derive(Debug, Clone)]
pub(crate) struct Sections {
    /// First and last section of each block, inclusive.
    pub spans: Vec<(u32, u32)>,
    pub count: u32,
}

impl Sections {
    pub fn new(blocks: &[Block]) -> Self {
        let mut births: Vec<u32> = (0..blocks.len() as u32).collect();
        births.sort_unstable_by_key(|i| blocks[*i as usize].first);
        let mut deaths: Vec<u32> = (0..blocks.len() as u32).collect();
        deaths.sort_unstable_by_key(|i| blocks[*i as usize].last);
        let mut spans = vec![(0, 0); blocks.len()];
        let (mut section, mut dead) = (0u32, 0);
        for i in births {
            let first = blocks[i as usize].first;
            let before = dead;
            while blocks[deaths[dead] as usize].last < first {
                spans[deaths[dead] as usize].1 = section;
                dead += 1;
            }
            // A birth after a death opens a new crowd; births in a row join the same one.
            section += u32::from(dead > before);
            spans[i as usize].0 = section;
        }
        for i in &deaths[dead..] {
            spans[*i as usize].1 = section;
        }
        Sections { spans, count: if blocks.is_empty() { 0 } else { section + 1 } }
    }

    /// Live bytes of every section.
    pub fn loads(&self, blocks: &[Block]) -> Vec<u64> {
        let mut change = vec![(0u64, 0u64); self.count as usize + 1];
        for (block, (first, last)) in blocks.iter().zip(&self.spans) {
            change[*first as usize].0 += block.size_bytes;
            change[*last as usize + 1].1 += block.size_bytes;
        }
        let mut live = 0;
        change[..self.count as usize]
            .iter()
            .map(|(born, died)| {
                live = live + born - died;
                live
            })
            .collect()
    }

    /// The component of each section: a new one begins where no block lives on from the section before.
    pub fn components(&self) -> Vec<u32> {
        let mut crosses = vec![0i64; self.count as usize + 1];
        for (first, last) in &self.spans {
            crosses[*first as usize + 1] += 1;
            crosses[*last as usize + 1] -= 1;
        }
        let (mut live, mut component) = (0, 0);
        (0..self.count as usize)
            .map(|s| {
                live += crosses[s];
                component += u32::from(s > 0 && live == 0);
                component
            })
            .collect()
    }
}
