//! `sublet devices`: what this machine offers.

use super::adapter::adapters;
use super::error::CliError;
use super::format::thousands;
use crate::device::DeviceLimits;
use serde_json::json;
use std::process::ExitCode;
use wgpu::Features;

/// Features that matter to arenas and kernels.
const FEATURES: [(&str, Features); 5] = [
    ("shader-f16", Features::SHADER_F16),
    ("subgroups", Features::SUBGROUP),
    ("timestamps", Features::TIMESTAMP_QUERY),
    ("immediates", Features::IMMEDIATES),
    ("mappable-primary-buffers", Features::MAPPABLE_PRIMARY_BUFFERS),
];

/// Lists the adapters.
pub fn run(as_json: bool) -> Result<ExitCode, CliError> {
    let mut rows = Vec::new();
    let adapters = adapters();
    for adapter in &adapters {
        let (info, limits) = (adapter.get_info(), DeviceLimits::new(&adapter.limits()));
        let features = adapter.features();
        let have: Vec<&str> = FEATURES.iter().filter(|(_, f)| features.contains(*f)).map(|(name, _)| *name).collect();
        if as_json {
            rows.push(json!({
                "name": info.name,
                "backend": info.backend.to_str(),
                "driver": format!("{} {}", info.driver, info.driver_info).trim(),
                "type": format!("{:?}", info.device_type),
                "limits": {
                    "min_storage_buffer_offset_alignment": limits.storage_alignment_bytes,
                    "max_buffer_size": limits.max_buffer_bytes,
                    "max_storage_buffer_binding_size": limits.max_binding_bytes,
                    "max_storage_buffers_per_shader_stage": limits.max_storage_bindings,
                    "max_compute_workgroups_per_dimension": limits.max_workgroups,
                },
                "features": have,
                "layouts": ["shared"],
            }));
            continue;
        }
        println!("{} ({}, {:?}, {} {})", info.name, info.backend.to_str(), info.device_type, info.driver, info.driver_info);
        println!("  storage offset alignment   {:>16} bytes", limits.storage_alignment_bytes);
        println!("  largest buffer             {:>16} bytes", thousands(limits.max_buffer_bytes));
        println!("  largest storage binding    {:>16} bytes", thousands(limits.max_binding_bytes));
        println!("  storage bindings a stage   {:>16}", limits.max_storage_bindings);
        println!("  workgroups a dimension     {:>16}", thousands(u64::from(limits.max_workgroups)));
        println!("  features                   {}", have.join(", "));
        println!("  layouts                    shared");
    }
    if as_json {
        println!("{}", json!({ "adapters": rows }));
    } else if adapters.is_empty() {
        println!("No Vulkan, Metal or DX12 adapter on this machine; networks run on the CPU executor.");
    }
    Ok(ExitCode::SUCCESS)
}
