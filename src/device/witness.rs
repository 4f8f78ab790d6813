//! What others say about memory: wgpu's allocator, its counters, the operating system.

use wgpu::Device;

/// Bytes on a device as wgpu sees them; `None` where the backend does not tell (Metal, GL, browsers).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryWitness {
    /// Sum of live allocations.
    pub used_bytes: Option<u64>,
    /// Sum of the memory blocks they lie in.
    pub reserved_bytes: Option<u64>,
    /// Sum of live buffers by wgpu's own counter.
    pub buffer_bytes: Option<u64>,
    /// What the driver counts for this process (feature `driver-memory`; Vulkan with VK_EXT_memory_budget,
    /// DX12, Metal).
    pub driver_bytes: Option<u64>,
}

impl MemoryWitness {
    /// Asks the device now. Sample it after allocating: no source reports a peak.
    pub fn sample(device: &Device) -> Self {
        let report = device.generate_allocator_report();
        let counted = u64::try_from(device.get_internal_counters().hal.buffer_memory.read()).ok();
        MemoryWitness {
            used_bytes: report.as_ref().map(|r| r.total_allocated_bytes),
            reserved_bytes: report.as_ref().map(|r| r.total_reserved_bytes),
            buffer_bytes: counted.filter(|bytes| *bytes > 0),
            driver_bytes: driver_bytes(device),
        }
    }

    /// What came on top of a baseline taken before. A fresh device already uses half a megabyte of its own,
    /// in blocks of several; what it uses is taken off everywhere, since arenas may well lie in the rest of
    /// those blocks.
    pub fn since(self, baseline: Self) -> Self {
        let minus = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        MemoryWitness {
            used_bytes: minus(self.used_bytes, baseline.used_bytes),
            reserved_bytes: minus(self.reserved_bytes, baseline.used_bytes),
            buffer_bytes: minus(self.buffer_bytes, baseline.buffer_bytes),
            driver_bytes: minus(self.driver_bytes, baseline.driver_bytes),
        }
    }
}

#[cfg(all(feature = "driver-memory", not(target_arch = "wasm32")))]
fn driver_bytes(device: &Device) -> Option<u64> {
    super::driver::used_bytes(device)
}

#[cfg(not(all(feature = "driver-memory", not(target_arch = "wasm32"))))]
fn driver_bytes(_: &Device) -> Option<u64> {
    None
}

/// Largest resident set of this process so far, where the system tells (Linux). On a software driver this
/// is a true second opinion, since device memory is host memory there.
pub fn resident_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
