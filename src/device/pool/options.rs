//! How lanes grow and shrink.

use crate::device::DeviceError;

/// How a buffer that is too small is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extend {
    /// By one of exactly the size asked for.
    #[default]
    AsRequested,
    /// By one of the next power of two, so that many small growths are few large ones.
    PowerOfTwo,
}

/// Sizes of a pool's lanes; the names are those of ONNX Runtime's `OrtArenaCfg` where it has them. Arenas
/// have planned offsets, so none of these changes where a tensor lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOptions {
    /// Least size of the first arena of each lane, bytes.
    pub initial_bytes: u64,
    /// How an arena that is too small is replaced.
    pub extend: Extend,
    /// Sizes are rounded up to a multiple of this, bytes; 4 or more.
    pub growth_chunk_bytes: u64,
    /// Largest arena, bytes, where that is less than the device's largest buffer.
    pub max_arena_bytes: u64,
    /// Bytes of a lane that no session needs any more (the one that did has left) before its arenas are
    /// dropped, to come back smaller with the next run.
    pub max_dead_bytes: u64,
    /// Whether a lane's arenas are dropped after each run, to come back with the next. Costs an allocation a
    /// run.
    pub shrink_after_run: bool,
    /// Most bytes of arenas, weights and state together that joining may lead to.
    pub budget_bytes: u64,
}

impl Default for PoolOptions {
    fn default() -> Self {
        PoolOptions {
            initial_bytes: 0,
            extend: Extend::AsRequested,
            growth_chunk_bytes: 4,
            max_arena_bytes: u64::MAX,
            max_dead_bytes: 0,
            shrink_after_run: false,
            budget_bytes: u64::MAX,
        }
    }
}

impl PoolOptions {
    /// Size of the buffer for an arena of which `need` bytes are used, on a device whose largest buffer has
    /// `max_buffer_bytes`. Rounding gives way to the limits, the need does not.
    pub(super) fn size_bytes(
        &self,
        arena: usize,
        need: u64,
        max_buffer_bytes: u64,
    ) -> Result<u64, DeviceError> {
        let (limit, available_bytes) = match self.max_arena_bytes < max_buffer_bytes {
            true => ("max_arena_bytes of the pool", self.max_arena_bytes),
            false => ("max_buffer_size", max_buffer_bytes),
        };
        let need = need.next_multiple_of(4);
        if need > available_bytes {
            let what = format!("arena {arena}");
            return Err(DeviceError::OverLimit { what, needed_bytes: need, limit, available_bytes });
        }
        let least = if arena == 0 { need.max(self.initial_bytes) } else { need };
        let extended = match self.extend {
            Extend::AsRequested => Some(least),
            Extend::PowerOfTwo => least.checked_next_power_of_two(),
        };
        let chunk = self.growth_chunk_bytes.max(4).next_multiple_of(4);
        let rounded = extended.and_then(|bytes| bytes.checked_next_multiple_of(chunk));
        Ok(rounded.unwrap_or(u64::MAX).min(available_bytes / 4 * 4).max(need))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_as_asked_and_never_below_the_need() {
        let plain = PoolOptions::default();
        assert_eq!(plain.size_bytes(0, 1001, 1 << 20).unwrap(), 1004);
        let power = PoolOptions { extend: Extend::PowerOfTwo, ..plain.clone() };
        assert_eq!(power.size_bytes(0, 1001, 1 << 20).unwrap(), 1024);
        assert_eq!(power.size_bytes(0, 70_000, 100_000).unwrap(), 100_000, "the limit cuts the rounding");
        let chunk = PoolOptions { growth_chunk_bytes: 4096, initial_bytes: 5000, ..plain.clone() };
        assert_eq!(chunk.size_bytes(0, 8, 1 << 20).unwrap(), 8192);
        assert_eq!(chunk.size_bytes(1, 8, 1 << 20).unwrap(), 4096, "the initial size is the first arena's");
    }

    #[test]
    fn a_need_over_a_limit_names_it() {
        let refused = |options: &PoolOptions, need, max| match options.size_bytes(2, need, max) {
            Err(DeviceError::OverLimit { needed_bytes, limit, available_bytes, .. }) => {
                (needed_bytes, limit, available_bytes)
            }
            other => panic!("{other:?}"),
        };
        let capped = PoolOptions { max_arena_bytes: 500, ..PoolOptions::default() };
        assert_eq!(refused(&capped, 600, 4096), (600, "max_arena_bytes of the pool", 500));
        assert_eq!(refused(&PoolOptions::default(), 5000, 4096), (5000, "max_buffer_size", 4096));
    }
}
