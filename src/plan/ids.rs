//! Dense ids and the alignment type: plain numbers that the compiler keeps apart.

use super::PlanError;

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The id with that number.
            pub const fn new(number: u32) -> Self {
                $name(number)
            }

            /// The number, to index a slice with.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

dense_id! {
    /// A tensor of a [`super::Problem`]: 0, 1, 2, .. in the order in which they were added.
    TensorId
}
dense_id! {
    /// A position in the schedule (the papers' task or operator), from 0.
    StepId
}
dense_id! {
    /// An arena of a [`super::Plan`], from 0.
    ArenaId
}

/// A power of two from 1 to 65,536 bytes that an offset must be a multiple of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Alignment(u64);

impl Alignment {
    /// No constraint.
    pub const ONE: Alignment = Alignment(1);
    /// Any offset that every WebGPU device can bind: 256 bytes.
    pub const PORTABLE: Alignment = Alignment(256);
    /// Largest alignment, bytes.
    pub const MAX_BYTES: u64 = 65_536;

    /// An alignment of that many bytes.
    ///
    /// # Errors
    /// [`PlanError::Alignment`] where `bytes` is not a power of two from 1 to 65,536.
    pub fn new(bytes: u64) -> Result<Self, PlanError> {
        if bytes.is_power_of_two() && bytes <= Self::MAX_BYTES {
            Ok(Alignment(bytes))
        } else {
            Err(PlanError::Alignment { bytes })
        }
    }

    /// The alignment in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// `bytes` rounded up to a multiple of `align_bytes`, which is a power of two.
pub(crate) fn align_up(bytes: u64, align_bytes: u64) -> u64 {
    (bytes + (align_bytes - 1)) & !(align_bytes - 1)
}
