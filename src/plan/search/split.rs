//! A problem made small: the common divisor of all bytes taken out, time cut where nothing lives on.

use std::collections::BTreeMap;

use super::super::ids::align_up;
use super::super::resolve::Block;
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
        let blocks = &self.whole.blocks;
        let pins = blocks.iter().filter_map(|b| b.pin.map(|pin| pin + b.size_bytes)).max().unwrap_or(0);
        let (load, aligned) = (self.whole.max_load(), aligned_load(blocks));
        [(load, "max load"), (aligned, "aligned load"), (pins, "pins")]
            .into_iter()
            .rev()
            .max_by_key(|(bound, _)| *bound)
            .unwrap_or((0, "max load"))
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

/// Every offset is a multiple of the least alignment, so all live blocks but the topmost take a multiple
/// of it.
fn aligned_load(blocks: &[Block]) -> u64 {
    let align = blocks.iter().map(|b| b.align_bytes).min().unwrap_or(1);
    if align == 1 {
        return 0;
    }
    let mut births: Vec<&Block> = blocks.iter().collect();
    births.sort_by_key(|b| b.first);
    let mut deaths = births.clone();
    deaths.sort_by_key(|b| b.last);
    let padding = |b: &Block| align_up(b.size_bytes, align) - b.size_bytes;
    let mut paddings: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut live, mut most, mut dead) = (0u64, 0, 0);
    for block in births {
        while deaths[dead].last < block.first {
            live -= deaths[dead].size_bytes + padding(deaths[dead]);
            if let Some(count) = paddings.get_mut(&padding(deaths[dead])) {
                *count -= 1;
                if *count == 0 {
                    paddings.remove(&padding(deaths[dead]));
                }
            }
            dead += 1;
        }
        live += block.size_bytes + padding(block);
        *paddings.entry(padding(block)).or_default() += 1;
        most = most.max(live - paddings.last_key_value().map_or(0, |(padding, _)| *padding));
    }
    most
}
