//! What a recorder hands out.

use std::num::NonZeroU64;

/// Bytes of a region, held until [`super::Recorder::release`] takes them back. No copy of it can be made, so
/// that nothing is released twice; what is dropped instead stays taken.
///
/// Three words, each read and written whole: a replay is bound by how fast blocks go through memory.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is not released stays taken"]
pub struct Block {
    pub(super) place: Place,
    pub(super) size: Extent,
    pub(super) ticket: Ticket,
}

/// Bits that count bytes.
const BYTE_BITS: u32 = 44;
/// No region reaches as far.
pub const MAX_BYTES: u64 = 1 << BYTE_BITS;
/// No overflow has a node of such a number. Its upper bits stand above the offset, the others above the size.
pub const MAX_NODES: u32 = 1 << 27;
const NODE_BITS: u32 = 64 - BYTE_BITS;

/// Where a block lies: offset, bits of a node, region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

impl Place {
    const REGION_AT: u32 = 51;
    /// No more regions at a time.
    pub const MAX_REGIONS: usize = 1 << 12;

    #[inline]
    pub fn planned(region: usize, offset_bytes: u64) -> Self {
        Place((region as u64) << Self::REGION_AT | offset_bytes)
    }

    pub fn overflow(region: usize, offset_bytes: u64, node: u32) -> Self {
        Place(Self::planned(region, offset_bytes).0 | u64::from(node >> NODE_BITS) << BYTE_BITS)
    }

    #[inline]
    pub fn region(self) -> usize {
        (self.0 >> Self::REGION_AT) as usize % Self::MAX_REGIONS
    }

    #[inline]
    pub fn offset_bytes(self) -> u64 {
        self.0 % MAX_BYTES
    }
}

/// Bytes of a block, and the other bits of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent(u64);

impl Extent {
    #[inline]
    pub fn planned(size_bytes: u64) -> Self {
        Extent(size_bytes)
    }

    pub fn overflow(size_bytes: u64, node: u32) -> Self {
        Extent(u64::from(node) << BYTE_BITS | size_bytes)
    }

    #[inline]
    pub fn bytes(self) -> u64 {
        self.0 % MAX_BYTES
    }

    /// What overflow takes back.
    pub fn node(self, place: Place) -> u32 {
        let high = place.0 >> BYTE_BITS << NODE_BITS;
        (high as u32 % MAX_NODES) | (self.0 >> BYTE_BITS) as u32
    }
}

/// Which allocation a block is: a number that a recorder gives once, with the recorder's own above it. In
/// overflow it is marked, so that a replay need not ask where a block lies: no release of a script has such
/// a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(NonZeroU64);

impl Ticket {
    const OVERFLOW: u64 = 1 << 63;
    const SERIAL_BITS: u32 = 44;
    /// A recorder gives fewer under one number.
    pub const MAX_SERIALS: u64 = 1 << Self::SERIAL_BITS;
    /// Numbers of recorders, of which 0 is none.
    pub const MAX_RECORDERS: u64 = 1 << 19;
    /// An iteration has fewer allocations.
    pub const MAX_ALLOCATIONS: usize = 1 << 31;

    /// The ticket of the allocation `index` behind `first`.
    #[inline]
    pub fn planned(first: u64, index: u32) -> Option<Self> {
        NonZeroU64::new(first.wrapping_add(u64::from(index))).map(Ticket)
    }

    /// A recorder's first ticket; those of serial 0 are outside of any iteration.
    pub fn new(recorder: u64) -> Self {
        Ticket(NonZeroU64::MIN.saturating_add((recorder << Self::SERIAL_BITS) - 1))
    }

    /// The ticket so many behind this.
    pub fn after(self, count: u64) -> Self {
        Ticket(self.0.saturating_add(count))
    }

    pub fn in_overflow(self) -> Self {
        Ticket(self.0 | Self::OVERFLOW)
    }

    #[inline]
    pub fn get(self) -> u64 {
        self.0.get()
    }

    #[inline]
    pub fn is_planned(self) -> bool {
        self.get() < Self::OVERFLOW
    }

    pub fn recorder(self) -> u64 {
        (self.get() % Self::OVERFLOW) >> Self::SERIAL_BITS
    }

    pub fn serial(self) -> u64 {
        self.get() % Self::MAX_SERIALS
    }
}

impl Block {
    /// The region that it lies in: [`super::Region::index`].
    pub fn region(&self) -> usize {
        self.place.region()
    }

    /// First byte in the region.
    pub fn offset_bytes(&self) -> u64 {
        self.place.offset_bytes()
    }

    /// Bytes that were asked for.
    pub fn size_bytes(&self) -> u64 {
        self.size.bytes()
    }

    /// Whether it lies where the plan says, and not in the overflow.
    pub fn is_planned(&self) -> bool {
        self.ticket.is_planned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_their_parts() {
        for (region, bytes) in [(0, 0), (1, 5), (Place::MAX_REGIONS - 1, MAX_BYTES - 1)] {
            let planned = Place::planned(region, bytes);
            assert_eq!((planned.region(), planned.offset_bytes()), (region, bytes));
            assert_eq!(Extent::planned(bytes).bytes(), bytes);
            for node in [0, 9, 1 << 20, MAX_NODES - 1] {
                let (place, size) = (Place::overflow(region, bytes, node), Extent::overflow(bytes, node));
                assert_eq!((place.region(), place.offset_bytes()), (region, bytes));
                assert_eq!((size.bytes(), size.node(place)), (bytes, node));
            }
        }
        for recorder in [1, 7, Ticket::MAX_RECORDERS - 1] {
            let first = Ticket::new(recorder).after(1);
            assert_eq!((first.recorder(), first.serial(), first.is_planned()), (recorder, 1, true));
            let planned = Ticket::planned(first.get(), 41).unwrap();
            assert_eq!((planned, planned.serial()), (first.after(41), 42));
            let overflow = planned.in_overflow();
            assert_ne!(overflow, planned);
            assert_eq!(
                (overflow.recorder(), overflow.serial(), overflow.is_planned()),
                (recorder, 42, false)
            );
        }
        assert_eq!((size_of::<Block>(), size_of::<Option<Block>>()), (24, 24));
    }
}
