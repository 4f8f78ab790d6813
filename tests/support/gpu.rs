//! Devices for tests of executors.

use std::sync::Arc;
use sublet::device::{DeviceLimits, block_on, descriptor};
use sublet::exec::{Layout, Network, Program, Resident, SharedResident};
use sublet::graph::Graph;
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Plan, Planner};

/// A device with its queue and limits.
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: DeviceLimits,
}

impl Gpu {
    /// The first Vulkan adapter, with limits changed by `change`.
    pub fn vulkan(change: impl FnOnce(&mut wgpu::Limits)) -> Self {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let adapter = adapters.first().expect("a Vulkan driver is installed");
        let mut wanted = descriptor(adapter);
        change(&mut wanted.required_limits);
        Self::new(pollster::block_on(adapter.request_device(&wanted)).expect("the adapter opens"))
    }

    /// wgpu's backend that validates and executes nothing, with WebGPU's default limits.
    pub fn noop(change: impl FnOnce(&mut wgpu::Limits)) -> Self {
        let mut limits = wgpu::Limits::default();
        change(&mut limits);
        let wanted = wgpu::DeviceDescriptor { required_limits: limits, ..wgpu::DeviceDescriptor::default() };
        Self::new(wgpu::Device::noop(&wanted))
    }

    fn new((device, queue): (wgpu::Device, wgpu::Queue)) -> Self {
        let limits = DeviceLimits::new(&device.limits());
        Gpu { device, queue, limits }
    }

    /// A planner of programs with the device's limits.
    pub fn planner(&self, planner: Planner) -> Planner {
        Layout::Shared.limit(planner, self.limits.max_buffer_bytes, self.limits.max_binding_bytes)
    }

    /// A planner with the device's limits and those of a program's layout.
    pub fn planner_for(&self, planner: Planner, layout: Layout) -> Planner {
        let max_arena = layout.max_arena_bytes(self.limits.max_buffer_bytes, self.limits.max_binding_bytes);
        planner.max_buffer_bytes(max_arena).max_binding_bytes(self.limits.max_binding_bytes)
    }

    /// Lowers a graph for the device, in a layout.
    pub fn program_in(&self, graph: Graph, layout: Layout) -> Program {
        let lower = LowerLimits {
            max_binding_bytes: self.limits.max_binding_bytes,
            max_workgroups: self.limits.max_workgroups,
        };
        let alignment = layout.alignment(self.limits.storage_alignment_bytes).unwrap();
        Program::new(graph, alignment, lower).unwrap().with_layout(layout).unwrap()
    }

    /// Lowers a graph for the device.
    pub fn program(&self, graph: Graph) -> Program {
        let lower = LowerLimits {
            max_binding_bytes: self.limits.max_binding_bytes,
            max_workgroups: self.limits.max_workgroups,
        };
        let alignment = Alignment::new(self.limits.storage_alignment_bytes).unwrap();
        Program::new(graph, alignment, lower).unwrap()
    }

    /// Uploads a program's weights.
    pub fn resident(&self, program: Program) -> SharedResident {
        Arc::new(block_on(&self.device, Resident::new(&self.device, &self.queue, Arc::new(program))).unwrap())
    }

    /// Builds a network under a plan.
    pub fn network(&self, resident: &SharedResident, plan: &Plan) -> Network {
        block_on(&self.device, Network::new(resident.clone(), plan)).unwrap()
    }
}
