//! The edge to wgpu: which adapters there are, which one to take, how to open it.

use super::error::CliError;
use crate::device::{DeviceLimits, descriptor};
use wgpu::{
    Adapter, AdapterInfo, Backend, Backends, Device, DeviceType, Instance, InstanceDescriptor, InstanceFlags,
    Queue,
};

/// An opened device and what it is.
pub struct Gpu {
    /// The adapter's description.
    pub info: AdapterInfo,
    /// The device.
    pub device: Device,
    /// Its queue.
    pub queue: Queue,
}

impl Gpu {
    /// The limits it was opened with.
    pub fn limits(&self) -> DeviceLimits {
        DeviceLimits::new(&self.device.limits())
    }
}

/// Every adapter of the native backends, best first; the order is stable.
pub fn adapters() -> Vec<Adapter> {
    let instance = Instance::new(InstanceDescriptor {
        backends: Backends::VULKAN | Backends::METAL | Backends::DX12,
        // The same in debug and release builds; WGPU_VALIDATION=1 asks for the driver's validation layers.
        flags: InstanceFlags::VALIDATION_INDIRECT_CALL.with_env(),
        ..InstanceDescriptor::new_without_display_handle()
    });
    let mut adapters = pollster::block_on(instance.enumerate_adapters(Backends::all()));
    adapters.retain(|a| a.get_info().backend != Backend::Noop);
    adapters.sort_by_key(|a| {
        let info = a.get_info();
        (rank(info.device_type), info.name, info.backend.to_str())
    });
    adapters
}

fn rank(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

/// Opens the best adapter, or the one whose name contains `wanted`. `None` where no adapter exists and none
/// was asked for by name.
pub fn open(wanted: Option<&str>) -> Result<Option<Gpu>, CliError> {
    let adapters = adapters();
    let names = || adapters.iter().map(|a| a.get_info().name).collect::<Vec<_>>();
    let adapter = match wanted {
        None => adapters.first(),
        Some(part) => {
            let lower = part.to_lowercase();
            let found = adapters.iter().find(|a| a.get_info().name.to_lowercase().contains(&lower));
            Some(found.ok_or_else(|| {
                CliError::input(format!("no adapter's name contains '{part}'; {}", listing(&names())))
            })?)
        }
    };
    let Some(adapter) = adapter else { return Ok(None) };
    let info = adapter.get_info();
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor(adapter)))
        .map_err(|e| CliError::input(format!("adapter '{}' cannot be opened: {e}", info.name)))?;
    // Anything outside an error scope is a bug of ours: say it, do not tear the process down half-way.
    device.on_uncaptured_error(std::sync::Arc::new(|e| log::error!("wgpu: {e}")));
    Ok(Some(Gpu { info, device, queue }))
}

fn listing(names: &[String]) -> String {
    match names.is_empty() {
        true => "this machine has none".to_owned(),
        false => format!("there are: {}", names.join(", ")),
    }
}
