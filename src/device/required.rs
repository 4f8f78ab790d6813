//! What the arenas of a plan take, asked before anything is allocated.

use super::{DeviceError, DeviceLimits};
use crate::plan::{Plan, Problem};
use serde::Serialize;

/// Bytes that a plan's arenas take on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Required {
    /// Bytes of each arena's buffer, in the plan's order: the plan's bytes rounded up to whole words.
    pub arenas: Vec<u64>,
}

impl Required {
    /// Bytes of all arenas.
    pub fn total_bytes(&self) -> u64 {
        self.arenas.iter().sum()
    }

    /// The sizes alone, for tensors that kernels bind in segments or from a base offset.
    pub(crate) fn arenas_of(plan: &Plan, limits: &DeviceLimits) -> Result<Self, DeviceError> {
        let arenas: Vec<u64> = plan.arenas().iter().map(|bytes| bytes.next_multiple_of(4).max(4)).collect();
        match arenas.iter().position(|bytes| *bytes > limits.max_buffer_bytes) {
            None => Ok(Required { arenas }),
            Some(i) => Err(DeviceError::OverLimit {
                what: format!("arena {i}"),
                needed_bytes: arenas[i],
                limit: "max_buffer_size",
                available_bytes: limits.max_buffer_bytes,
            }),
        }
    }
}

/// What [`super::DeviceArena::new`] would allocate for a plan on a device with these limits, or why it
/// would refuse. Nothing is allocated and no device is asked.
///
/// # Errors
/// The plan is not valid for the problem, an arena or a tensor is over a limit, or the device cannot bind at
/// the plan's offsets.
pub fn required(problem: &Problem, plan: &Plan, limits: &DeviceLimits) -> Result<Required, DeviceError> {
    plan.validate(problem)?;
    let tensors = || problem.ids().map(|id| (id, &problem.tensors()[id.index()]));
    // An engine binds each tensor whole. One that no buffer holds is told so: more segments would not help.
    let each = [
        ("max_buffer_size", limits.max_buffer_bytes),
        ("max_storage_buffer_binding_size", limits.max_binding_bytes),
    ];
    for (limit, available_bytes) in each {
        if let Some((_, tensor)) = tensors().find(|(_, t)| t.size_bytes() > available_bytes) {
            let (what, needed_bytes) = (tensor.label().to_owned(), tensor.size_bytes());
            return Err(DeviceError::OverLimit { what, needed_bytes, limit, available_bytes });
        }
    }
    let required = Required::arenas_of(plan, limits)?;
    let device_bytes = limits.storage_alignment_bytes;
    match tensors().find(|(id, _)| !plan.offset_bytes(*id).is_multiple_of(device_bytes)) {
        None => Ok(required),
        Some((id, tensor)) => Err(DeviceError::Alignment {
            tensor: tensor.label().to_owned(),
            offset_bytes: plan.offset_bytes(id),
            device_bytes,
        }),
    }
}
