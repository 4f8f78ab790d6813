//! What a replay is measured against: an offset allocator from a crate, and a plain best-fit pool.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use super::trace::{Event, Trace};

/// Hands out ranges of bytes.
pub trait Peer {
    /// What a release takes; an engine keeps it with its tensor, and gives it away once.
    type Token;
    /// Takes `size_bytes`; `None` where there is no room.
    fn allocate(&mut self, size_bytes: u64) -> Option<Self::Token>;
    /// Gives them back; `None` where they are not its own.
    fn release(&mut self, token: Self::Token) -> Option<()>;
}

/// Runs the whole stream, the same way whoever serves it; `None` where an allocation found no room. Tokens
/// wait in `hands`, a place for each slot.
pub fn run<P: Peer>(peer: &mut P, trace: &Trace, hands: &mut [Option<P::Token>]) -> Option<()> {
    for event in &trace.events {
        match *event {
            Event::Allocate(slot, size_bytes) => {
                hands[slot as usize] = Some(peer.allocate(size_bytes)?);
            }
            Event::Release(slot) => peer.release(hands[slot as usize].take()?)?,
        }
    }
    Some(())
}

/// Allocates nothing, and hands out as many words as a block has: what the loop itself takes.
pub struct Nothing(pub u64);

impl Peer for Nothing {
    type Token = (NonZeroU64, u64, u64);

    fn allocate(&mut self, size_bytes: u64) -> Option<Self::Token> {
        self.0 = self.0.wrapping_add(1);
        Some((NonZeroU64::MIN, size_bytes, self.0))
    }

    fn release(&mut self, (_, size_bytes, _): Self::Token) -> Option<()> {
        self.0 = self.0.wrapping_add(size_bytes);
        Some(())
    }
}

/// Sizes in units of a power of two, without a division: it would be a tenth of what a peer does.
#[derive(Debug, Clone, Copy)]
struct Unit {
    shift: u32,
}

impl Unit {
    fn new(bytes: u64) -> Self {
        assert!(bytes.is_power_of_two(), "alignments are");
        Unit { shift: bytes.trailing_zeros() }
    }

    /// How many units hold that many bytes; at least one.
    fn count(self, size_bytes: u64) -> u64 {
        ((size_bytes + (1 << self.shift) - 1) >> self.shift).max(1)
    }
}

/// Crate `offset-allocator`, which counts in 32 bits: in units of the alignment.
pub struct Offset {
    allocator: offset_allocator::Allocator,
    unit: Unit,
}

impl Offset {
    /// A region of `bytes` for at most `allocations` at a time.
    pub fn new(bytes: u64, unit_bytes: u64, allocations: usize) -> Option<Self> {
        let units = u32::try_from(bytes / unit_bytes).ok()?;
        // Free ranges need nodes as well: at most one beside each that is taken.
        let nodes = u32::try_from(2 * allocations + 16).ok()?;
        let allocator = offset_allocator::Allocator::with_max_allocs(units, nodes);
        Some(Offset { allocator, unit: Unit::new(unit_bytes) })
    }

    /// The smallest region in which the stream finds room, to a thousandth.
    pub fn peak_bytes(trace: &Trace, unit_bytes: u64) -> Option<u64> {
        let fits = |bytes: u64| {
            let mut peer = Offset::new(bytes, unit_bytes, trace.slots)?;
            run(&mut peer, trace, &mut trace.hands())
        };
        let mut low = trace.load_bytes(unit_bytes);
        let mut high = low;
        while fits(high).is_none() {
            (low, high) =
                (high, high.checked_mul(2).filter(|bytes| bytes / unit_bytes < u64::from(u32::MAX))?);
        }
        while high - low > (high / 1000).max(unit_bytes) {
            let middle = low + (high - low) / 2;
            match fits(middle) {
                Some(()) => high = middle,
                None => low = middle,
            }
        }
        Some(high)
    }
}

impl Peer for Offset {
    type Token = offset_allocator::Allocation;

    fn allocate(&mut self, size_bytes: u64) -> Option<Self::Token> {
        self.allocator.allocate(u32::try_from(self.unit.count(size_bytes)).ok()?)
    }

    fn release(&mut self, token: Self::Token) -> Option<()> {
        self.allocator.free(token);
        Some(())
    }
}

/// The smallest free range that fits, joined with its neighbours when it is free again; grows at its end.
pub struct BestFit {
    unit: Unit,
    by_size: BTreeSet<(u64, u64)>,
    by_offset: BTreeMap<u64, u64>,
    /// Bytes so far.
    pub end_bytes: u64,
}

impl BestFit {
    /// An empty pool.
    pub fn new(unit_bytes: u64) -> Self {
        BestFit {
            unit: Unit::new(unit_bytes),
            by_size: BTreeSet::new(),
            by_offset: BTreeMap::new(),
            end_bytes: 0,
        }
    }

    fn remove(&mut self, offset: u64, size: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }

    fn insert(&mut self, offset: u64, size: u64) {
        self.by_offset.insert(offset, size);
        self.by_size.insert((size, offset));
    }
}

impl Peer for BestFit {
    /// Offset and size.
    type Token = (u64, u64);

    fn allocate(&mut self, size_bytes: u64) -> Option<(u64, u64)> {
        let size = self.unit.count(size_bytes) << self.unit.shift;
        if let Some((held, offset)) = self.by_size.range((size, 0)..).next().copied() {
            self.remove(offset, held);
            if held > size {
                self.insert(offset + size, held - size);
            }
            return Some((offset, size));
        }
        // The free range at the end, if there is one, grows.
        let last = self.by_offset.last_key_value().map(|(offset, size)| (*offset, *size));
        let offset = match last.filter(|(offset, size)| offset + size == self.end_bytes) {
            Some((offset, held)) => {
                self.remove(offset, held);
                offset
            }
            None => self.end_bytes,
        };
        self.end_bytes = offset + size;
        Some((offset, size))
    }

    fn release(&mut self, (mut offset, mut size): (u64, u64)) -> Option<()> {
        if let Some((before, held)) = self.by_offset.range(..offset).next_back().map(|(o, s)| (*o, *s))
            && before + held == offset
        {
            self.remove(before, held);
            (offset, size) = (before, size + held);
        }
        if let Some(held) = self.by_offset.get(&(offset + size)).copied() {
            self.remove(offset + size, held);
            size += held;
        }
        self.insert(offset, size);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both peers keep what lives apart, and neither needs less than lives.
    #[test]
    fn peers_hand_out_what_is_free() {
        let records: Vec<_> =
            (0..400u32).map(|i| (1 + u64::from(i * 7919 % 1000), i, i + i * 31 % 17)).collect();
        let trace = Trace::new(&records);
        let load = trace.load_bytes(16);
        let mut pool = BestFit::new(16);
        let mut live: Vec<Option<(u64, u64)>> = trace.hands();
        for event in &trace.events {
            match *event {
                Event::Release(slot) => pool.release(live[slot as usize].take().unwrap()).unwrap(),
                Event::Allocate(slot, wanted) => {
                    let (offset, size) = pool.allocate(wanted).unwrap();
                    let apart = |(o, s): &(u64, u64)| offset + size <= *o || o + s <= offset;
                    assert!(size >= wanted && live.iter().flatten().all(apart));
                    live[slot as usize] = Some((offset, size));
                }
            }
        }
        assert!(pool.end_bytes >= load && pool.by_size.len() == 1, "all is free again, in one range");
        let peak = Offset::peak_bytes(&trace, 16).unwrap();
        assert!(peak >= load && peak < 4 * load, "{peak} {load}");
    }
}
