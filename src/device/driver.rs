//! What the driver itself says: the only unsafe code of the library, behind the feature `driver-memory`.
//!
//! wgpu does not pass these figures on, so they are asked for below it.
#![allow(unsafe_code, reason = "handles below wgpu are given out by unsafe functions alone")]

use ash::vk;
use wgpu::Device;

/// Bytes that the driver counts for this process on the device's own heaps; `None` on other backends than
/// Vulkan, and where the driver lacks VK_EXT_memory_budget.
pub(super) fn used_bytes(device: &Device) -> Option<u64> {
    // SAFETY: the guard is dropped before the function returns, and nothing is destroyed through it.
    let device = unsafe { device.as_hal::<wgpu::hal::api::Vulkan>() }?;
    // Without the extension the structure would come back as it was.
    if !device.enabled_device_extensions().contains(&ash::ext::memory_budget::NAME) {
        return None;
    }
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
    let instance = device.shared_instance().raw_instance();
    // SAFETY: the physical device belongs to that instance, both outlive the call, and the extension, which
    // asks for this function, is enabled.
    unsafe { instance.get_physical_device_memory_properties2(device.raw_physical_device(), &mut properties) };
    let memory = properties.memory_properties;
    let heaps = &memory.memory_heaps[..memory.memory_heap_count as usize];
    let local = heaps.iter().map(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    Some(budget.heap_usage.iter().zip(local).filter(|(_, local)| *local).map(|(bytes, _)| *bytes).sum())
}
