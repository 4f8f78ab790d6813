//! What a recorder hands out.

/// Node of a block that lies where the plan says.
pub const PLANNED: u32 = u32::MAX;

/// Bytes of a region, held until [`super::Recorder::release`] takes them back. No copy of it can be made, so
/// that nothing is released twice; what is dropped instead stays taken.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is not released stays taken"]
pub struct Block {
    pub(super) offset_bytes: u64,
    pub(super) size_bytes: u64,
    pub(super) stamp: u64,
    pub(super) region: u32,
    pub(super) node: u32,
    /// Which allocation of its iteration it is.
    pub(super) index: u32,
    /// How many allocations the iteration has made when the profile releases it.
    pub(super) due: u32,
}

impl Block {
    /// The region that it lies in: [`super::Region::index`].
    pub fn region(&self) -> usize {
        self.region as usize
    }

    /// First byte in the region.
    pub fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// Bytes that were asked for.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether it lies where the plan says, and not in the overflow.
    pub fn is_planned(&self) -> bool {
        self.node == PLANNED
    }
}
