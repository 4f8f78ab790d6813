//! The numbers of a device that planning and binding need, and how to open a device for arenas.

use crate::legal::BindingLimits;
use wgpu::{Adapter, DeviceDescriptor, Features, Limits, MemoryHints};

/// Limits of a device as it was opened (not of its adapter). All sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Multiple that storage binding offsets must be of; plan with it.
    pub storage_alignment_bytes: u64,
    /// Multiple that uniform binding offsets must be of.
    pub uniform_alignment_bytes: u64,
    /// Largest buffer, rounded down to a multiple of 256.
    pub max_buffer_bytes: u64,
    /// Largest storage binding, rounded down to a multiple of 256.
    pub max_binding_bytes: u64,
    /// Largest uniform binding.
    pub max_uniform_binding_bytes: u64,
    /// Storage bindings in one dispatch.
    pub max_storage_bindings: u32,
    /// Workgroups in one dimension.
    pub max_workgroups: u32,
}

impl DeviceLimits {
    /// The limits that matter out of wgpu's. A limit such as 2^31 - 1 is no multiple of 4 and is rounded
    /// down.
    pub fn new(limits: &Limits) -> Self {
        let round = |bytes: u64| bytes / 256 * 256;
        DeviceLimits {
            storage_alignment_bytes: u64::from(limits.min_storage_buffer_offset_alignment),
            uniform_alignment_bytes: u64::from(limits.min_uniform_buffer_offset_alignment),
            max_buffer_bytes: round(limits.max_buffer_size),
            max_binding_bytes: round(limits.max_storage_buffer_binding_size),
            max_uniform_binding_bytes: limits.max_uniform_buffer_binding_size,
            max_storage_bindings: limits.max_storage_buffers_per_shader_stage,
            max_workgroups: limits.max_compute_workgroups_per_dimension,
        }
    }

    /// Whether whatever is planned for `stricter` runs on a device with these limits.
    pub fn cover(&self, stricter: &DeviceLimits) -> bool {
        let finer = |here: u64, there: u64| there.is_multiple_of(here);
        finer(self.storage_alignment_bytes, stricter.storage_alignment_bytes)
            && finer(self.uniform_alignment_bytes, stricter.uniform_alignment_bytes)
            && self.max_buffer_bytes >= stricter.max_buffer_bytes
            && self.max_binding_bytes >= stricter.max_binding_bytes
            && self.max_uniform_binding_bytes >= stricter.max_uniform_binding_bytes
            && self.max_storage_bindings >= stricter.max_storage_bindings
            && self.max_workgroups >= stricter.max_workgroups
    }

    /// As the rules of one dispatch need them.
    pub fn binding_limits(&self) -> BindingLimits {
        BindingLimits {
            storage_alignment_bytes: self.storage_alignment_bytes,
            uniform_alignment_bytes: self.uniform_alignment_bytes,
            max_storage_binding_bytes: self.max_binding_bytes,
            max_uniform_binding_bytes: self.max_uniform_binding_bytes,
            max_storage_bindings: self.max_storage_bindings as usize,
            max_workgroups: self.max_workgroups,
        }
    }
}

/// How to open a device whose reserved memory stays close to what arenas use: the adapter's own limits (a
/// device opened with wgpu's defaults binds 128 MiB at most whatever the adapter offers), and small
/// allocator blocks.
pub fn descriptor(adapter: &Adapter) -> DeviceDescriptor<'static> {
    DeviceDescriptor {
        label: Some("sublet"),
        required_features: Features::empty(),
        required_limits: adapter.limits(),
        // Blocks of 4 MiB: a larger buffer gets a block of its own size, so reserved bytes mean the plan.
        memory_hints: MemoryHints::Manual { suballocated_device_memory_block_size: 4 << 20..4 << 20 },
        ..DeviceDescriptor::default()
    }
}
