//! What wgpu itself says to a described dispatch or copy, on its backend that validates and runs nothing.

use super::random_dispatches::{Binding, Case, Command};
use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroU64;
use sublet::device::{ErrorScopes, block_on};
use sublet::legal::Access;
use wgpu::{Buffer, BufferUsages, CommandEncoder, Device};

/// A device that executes nothing.
pub struct NativeJudge {
    device: Device,
    /// A device works only as long as its queue lives.
    _queue: wgpu::Queue,
    module: wgpu::ShaderModule,
    /// By place and size: cases share them, since none runs.
    buffers: RefCell<HashMap<(usize, u64), Buffer>>,
}

impl NativeJudge {
    /// With WebGPU's default limits.
    pub fn new() -> Self {
        Self::with(wgpu::Limits::default())
    }

    pub fn with(required_limits: wgpu::Limits) -> Self {
        let (device, queue) =
            Device::noop(&wgpu::DeviceDescriptor { required_limits, ..wgpu::DeviceDescriptor::default() });
        let source = wgpu::ShaderSource::Wgsl("@compute @workgroup_size(1) fn main() {}".into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        NativeJudge { device, _queue: queue, module, buffers: RefCell::default() }
    }

    /// wgpu's message where it refuses; `None` where its API cannot say the case (an empty range).
    pub fn refusal(&self, case: &Case) -> Option<Result<(), String>> {
        if let Command::Dispatch { bindings, .. } = &case.command
            && bindings.iter().any(|b| b.size == 0)
        {
            return None;
        }
        let scopes = ErrorScopes::open(&self.device);
        let buffers: Vec<Buffer> =
            case.sizes.iter().enumerate().map(|(i, size)| self.buffer(i, *size)).collect();
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        match &case.command {
            Command::Dispatch { bindings, workgroups } => {
                self.dispatch(&mut encoder, &buffers, bindings, *workgroups);
            }
            Command::Copy { from, to, size } => {
                encoder.copy_buffer_to_buffer(&buffers[from.0], from.1, &buffers[to.0], to.1, *size);
            }
        }
        drop(encoder.finish());
        Some(block_on(&self.device, scopes.close(case.situation, 0)).map_err(|e| e.to_string()))
    }

    fn buffer(&self, place: usize, size: u64) -> Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::UNIFORM;
        let usage = usage | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let make = || self.device.create_buffer(&descriptor);
        self.buffers.borrow_mut().entry((place, size)).or_insert_with(make).clone()
    }

    fn dispatch(
        &self,
        encoder: &mut CommandEncoder,
        buffers: &[Buffer],
        bindings: &[Binding],
        [x, y, z]: [u32; 3],
    ) {
        let layout_entry = |(binding, described): (u32, &Binding)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match described.access {
                    Access::Uniform => wgpu::BufferBindingType::Uniform,
                    Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
                    Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = (0..).zip(bindings).map(layout_entry).collect();
        let layout = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
        let layout = self.device.create_bind_group_layout(&layout);
        let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            module: &self.module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let entry = |(binding, described): (u32, &Binding)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffers[described.buffer],
                offset: described.offset,
                size: NonZeroU64::new(described.size),
            }),
        };
        let entries: Vec<_> = (0..).zip(bindings).map(entry).collect();
        let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        let group = self.device.create_bind_group(&group);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}
