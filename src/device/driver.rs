//! What the driver itself says: the only unsafe code of the library, behind the feature `driver-memory`.
//!
//! wgpu does not pass these figures on, so they are asked for below it: VK_EXT_memory_budget on Vulkan, DXGI
//! on DX12, the device on Metal. Each counts what this process holds, whatever it was taken for.
#![allow(unsafe_code, reason = "handles below wgpu are given out by unsafe functions alone")]

use wgpu::Device;

/// Bytes that the driver counts for this process in the device's own memory; `None` on other backends, and
/// where Vulkan's driver lacks VK_EXT_memory_budget.
pub(super) fn used_bytes(device: &Device) -> Option<u64> {
    vulkan(device).or_else(|| system(device))
}

/// wgpu has no Vulkan backend there, unless MoltenVK is asked for.
#[cfg(target_vendor = "apple")]
fn vulkan(_: &Device) -> Option<u64> {
    None
}

#[cfg(not(target_vendor = "apple"))]
fn vulkan(device: &Device) -> Option<u64> {
    use ash::vk;
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

/// DXGI's count in the adapter's local segment group, which is all there is where memory is one.
#[cfg(windows)]
fn system(device: &Device) -> Option<u64> {
    use windows::Win32::Graphics::Dxgi::{
        CreateDXGIFactory1, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, DXGI_QUERY_VIDEO_MEMORY_INFO, IDXGIAdapter3,
        IDXGIFactory4,
    };
    // SAFETY: the guard is dropped before the function returns, and nothing is destroyed through it.
    let device = unsafe { device.as_hal::<wgpu::hal::api::Dx12>() }?;
    let mut info = DXGI_QUERY_VIDEO_MEMORY_INFO::default();
    // SAFETY: the device lives as long as the guard; the factory and the adapter hold themselves; `info` is
    // of the type that the call fills in and outlives it.
    unsafe {
        let factory: IDXGIFactory4 = CreateDXGIFactory1().ok()?;
        let adapter: IDXGIAdapter3 = factory.EnumAdapterByLuid(device.raw_device().GetAdapterLuid()).ok()?;
        adapter.QueryVideoMemoryInfo(0, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, &mut info).ok()?;
    }
    Some(info.CurrentUsage)
}

/// Metal's count of all that lives on the device.
#[cfg(target_vendor = "apple")]
fn system(device: &Device) -> Option<u64> {
    use objc2_metal::MTLDevice as _;
    // SAFETY: the guard is dropped before the function returns, and nothing is destroyed through it.
    let device = unsafe { device.as_hal::<wgpu::hal::api::Metal>() }?;
    Some(device.raw_device().currentAllocatedSize() as u64)
}

#[cfg(not(any(windows, target_vendor = "apple")))]
fn system(_: &Device) -> Option<u64> {
    None
}
