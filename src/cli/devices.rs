//! `sublet devices`: what this machine offers.

use super::Output;
use super::adapter::adapters;
use super::error::CliError;
use crate::device::{DeviceLimits, Profile};
use crate::exec::Layout;
use crate::plan::report::grouped;
use serde_json::json;
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
pub fn run() -> Result<Output, CliError> {
    let mut human = String::new();
    let mut rows = Vec::new();
    for adapter in adapters() {
        let (info, limits) = (adapter.get_info(), DeviceLimits::new(&adapter.limits()));
        let features = adapter.features();
        let have: Vec<&str> =
            FEATURES.iter().filter(|(_, f)| features.contains(*f)).map(|(name, _)| *name).collect();
        let driver = format!("{} {}", info.driver, info.driver_info);
        let numbers = [
            ("min_storage_buffer_offset_alignment", limits.storage_alignment_bytes),
            ("max_buffer_size", limits.max_buffer_bytes),
            ("max_storage_buffer_binding_size", limits.max_binding_bytes),
            ("max_storage_buffers_per_shader_stage", u64::from(limits.max_storage_bindings)),
            ("max_compute_workgroups_per_dimension", u64::from(limits.max_workgroups)),
        ];
        human.push_str(&format!(
            "{} ({}, {:?}, {})\n",
            info.name,
            info.backend.to_str(),
            info.device_type,
            driver.trim()
        ));
        for (name, number) in numbers {
            human.push_str(&format!("  {name:<38} {:>14}\n", grouped(number)));
        }
        human.push_str(&format!("  {:<38} {}\n", "features", have.join(", ")));
        let layouts: Vec<&str> = Layout::ALL.iter().map(|layout| layout.key()).collect();
        human.push_str(&format!("  {:<38} {}\n", "lawful layouts", layouts.join(", ")));
        let profiles: Vec<&str> =
            Profile::all().filter(|p| limits.cover(&p.limits)).map(|p| p.name).collect();
        human.push_str(&format!("  {:<38} {}\n", "runs plans for profiles", profiles.join(", ")));
        rows.push(json!({
            "name": info.name,
            "backend": info.backend.to_str(),
            "driver": driver.trim(),
            "type": format!("{:?}", info.device_type),
            "limits": numbers.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "features": have,
            "layouts": layouts,
            "profiles": profiles,
        }));
    }
    if rows.is_empty() {
        human.push_str(
            "No Vulkan, Metal or DX12 adapter on this machine; networks run on the CPU executor.\n",
        );
    }
    Ok(Output { human, json: json!({ "adapters": rows }), failure: None })
}
