//! What a recorder hands out.

use std::num::NonZeroU64;

/// Bytes of a region, held until [`super::Recorder::release`] takes them back. No copy of it can be made, so
/// that nothing is released twice; what is dropped instead stays taken.
///
/// Four words, each read and written whole: a replay is bound by how fast blocks go through memory.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is not released stays taken"]
pub struct Block {
    /// Offset; above it the region and whether it is overflow.
    pub(super) place: Place,
    pub(super) size_bytes: u64,
    /// The iteration that allocated it.
    pub(super) stamp: NonZeroU64,
    pub(super) turn: Turn,
}

/// Where a block lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

impl Place {
    const OFFSET_BITS: u32 = 51;
    const REGION_BITS: u32 = 12;
    const OVERFLOW: u64 = 1 << 63;
    /// No region reaches as far.
    pub const MAX_BYTES: u64 = 1 << Self::OFFSET_BITS;
    /// No more regions at a time.
    pub const MAX_REGIONS: usize = 1 << Self::REGION_BITS;

    #[inline]
    pub fn planned(region: usize, offset_bytes: u64) -> Self {
        Place((region as u64) << Self::OFFSET_BITS | offset_bytes)
    }

    pub fn overflow(region: usize, offset_bytes: u64) -> Self {
        Place(Self::planned(region, offset_bytes).0 | Self::OVERFLOW)
    }

    #[inline]
    pub fn is_planned(self) -> bool {
        self.0 < Self::OVERFLOW
    }

    #[inline]
    pub fn region(self) -> usize {
        (self.0 >> Self::OFFSET_BITS) as usize % Self::MAX_REGIONS
    }

    #[inline]
    pub fn offset_bytes(self) -> u64 {
        self.0 % Self::MAX_BYTES
    }
}

/// Which allocation of its iteration a block is, and when its release is due: after how many allocations
/// of the iteration. In overflow the node to give back stands there instead, as a number that no iteration
/// counts up to, so that a replay need not ask where a block lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn(u64);

impl Turn {
    const NODE: u32 = 1 << 31;
    /// An iteration has fewer allocations.
    pub const MAX_ALLOCATIONS: usize = Self::NODE as usize;

    #[inline]
    pub fn planned(index: u32, due: u32) -> Self {
        Turn(u64::from(due) << 32 | u64::from(index))
    }

    pub fn overflow(index: u32, node: u32) -> Self {
        Self::planned(index, node | Self::NODE)
    }

    #[inline]
    pub fn index(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub fn due(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn node(self) -> u32 {
        self.due() % Self::NODE
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
        self.size_bytes
    }

    /// Whether it lies where the plan says, and not in the overflow.
    pub fn is_planned(&self) -> bool {
        self.place.is_planned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_their_parts() {
        for (region, offset) in [(0, 0), (1, 5), (Place::MAX_REGIONS - 1, Place::MAX_BYTES - 1)] {
            let (planned, overflow) = (Place::planned(region, offset), Place::overflow(region, offset));
            assert!(planned.is_planned() && !overflow.is_planned());
            for place in [planned, overflow] {
                assert_eq!((place.region(), place.offset_bytes()), (region, offset));
            }
        }
        let (planned, overflow) = (Turn::planned(7, u32::MAX), Turn::overflow(7, 9));
        assert_eq!((planned.index(), planned.due()), (7, u32::MAX));
        assert_eq!((overflow.index(), overflow.node()), (7, 9));
        assert!(overflow.due() as usize >= Turn::MAX_ALLOCATIONS);
        assert_eq!((size_of::<Block>(), size_of::<Option<Block>>()), (32, 32));
    }
}
