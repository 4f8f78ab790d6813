//! A problem made small: the common divisor of all bytes taken out, time cut where nothing lives on.

use super::super::resolve::Block;
use super::exact::Item;
use super::lower::lower_bound;
use super::part::Part;

/// Blocks in units of `unit` bytes, and the parts that nothing links in time.
#[derive(Debug)]
pub(crate) struct Reduced {
    pub whole: Part,
    pub unit: u64,
    /// Part of each section of the whole.
    parts: Vec<u32>,
    pub count: usize,
}

impl Reduced {
    pub fn new(blocks: &[Block]) -> Self {
        let unit = unit(blocks);
        let blocks = blocks
            .iter()
            .map(|b| Block {
                size_bytes: b.size_bytes / unit,
                align_bytes: (b.align_bytes / unit).max(1),
                pin: b.pin.map(|pin| pin / unit),
                ..*b
            })
            .collect();
        let whole = Part::new(blocks);
        let parts = whole.sections.components();
        let count = parts.last().map_or(0, |last| *last as usize + 1);
        Reduced { whole, unit, parts, count }
    }

    pub fn part_of(&self, block: usize) -> usize {
        self.parts[self.whole.sections.spans[block].0 as usize] as usize
    }

    /// The blocks of one part by their number in the whole, and for themselves.
    pub fn part(&self, number: usize) -> (Vec<u32>, Part) {
        let blocks = &self.whole.blocks;
        let ids: Vec<u32> =
            (0..blocks.len() as u32).filter(|i| self.part_of(*i as usize) == number).collect();
        let part = Part::new(ids.iter().map(|i| blocks[*i as usize].clone()).collect());
        (ids, part)
    }

    /// Peak of every part under these offsets.
    pub fn peaks(&self, offsets: &[u64]) -> Vec<u64> {
        let mut peaks = vec![0; self.count];
        for (i, (block, offset)) in self.whole.blocks.iter().zip(offsets).enumerate() {
            let peak = &mut peaks[self.part_of(i)];
            *peak = (*peak).max(offset + block.size_bytes);
        }
        peaks
    }

    /// What no plan can undercut, in units, and why.
    pub fn lower_bound(&self) -> (u64, &'static str) {
        let item = |b: &Block| Item {
            size: b.size_bytes,
            first: b.first,
            last: b.last,
            align: b.align_bytes,
            pin: b.pin,
        };
        lower_bound(&self.whole.blocks.iter().map(item).collect::<Vec<_>>())
    }
}

/// Numbers of the parts, the highest peak last.
pub(crate) fn heaviest_first(peaks: &[u64]) -> Vec<usize> {
    let mut parts: Vec<usize> = (0..peaks.len()).collect();
    parts.sort_by_key(|i| (peaks[*i], std::cmp::Reverse(*i)));
    parts
}

/// The largest number of bytes that divides every size and pin, and either divides or is divided by every
/// alignment: then some best plan has only offsets that it divides.
fn unit(blocks: &[Block]) -> u64 {
    let mut unit = 0;
    for block in blocks {
        unit = gcd(gcd(unit, block.size_bytes), block.pin.unwrap_or(0));
    }
    // Taking a factor out for one alignment may leave another undivided.
    let mut before = 0;
    while before != unit {
        before = unit;
        for block in blocks {
            if !unit.is_multiple_of(block.align_bytes) {
                unit = gcd(unit, block.align_bytes);
            }
        }
    }
    unit.max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
