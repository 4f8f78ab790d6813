//! Runs single dispatches on the Vulkan driver of this machine.

use std::cell::RefCell;
use std::collections::HashMap;
use sublet::kernel::{Dispatch, KernelId};

/// Elements in front of and behind a tensor inside its buffer; no multiple of any alignment.
const MARGIN: usize = 37;

/// What the margins hold.
const GUARD: f32 = -4321.0;

/// A device, and the pipelines made so far.
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipelines: RefCell<HashMap<KernelId, wgpu::ComputePipeline>>,
}

impl Gpu {
    pub fn open() -> Self {
        let mut instance = wgpu::InstanceDescriptor::new_without_display_handle();
        instance.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(instance);
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
            .expect("a Vulkan adapter");
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))
            .expect("a device with the default limits");
        Gpu { device, queue, pipelines: RefCell::default() }
    }

    /// Runs one dispatch with every tensor in the middle of a larger buffer, and checks that nothing else
    /// was written.
    pub fn dispatch(&self, dispatch: &Dispatch, inputs: &[&[f32]], output: &mut [f32]) {
        let mut params = dispatch.params.clone();
        params[..=inputs.len()].fill(MARGIN as u32);
        let mut buffers = vec![self.buffer(bytemuck::cast_slice(&params), wgpu::BufferUsages::UNIFORM)];
        for tensor in inputs.iter().copied().chain([&*output]) {
            let margin = [GUARD; MARGIN];
            let all = [&margin[..], tensor, &margin].concat();
            buffers.push(self.buffer(bytemuck::cast_slice(&all), wgpu::BufferUsages::STORAGE));
        }
        let all = self.run(dispatch, &buffers);
        let (before, rest) = all.split_at(MARGIN);
        let (written, after) = rest.split_at(output.len());
        let guards = before.iter().chain(after);
        assert!(guards.copied().all(|v| v == GUARD), "{:?} writes outside its output", dispatch.kernel);
        output.copy_from_slice(written);
    }

    fn buffer(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let usage = usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let size = bytes.len() as u64;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// Contents of the last buffer after the dispatch.
    fn run(&self, dispatch: &Dispatch, buffers: &[wgpu::Buffer]) -> Vec<f32> {
        let pipeline = self.pipeline(dispatch.kernel);
        let entries: Vec<_> = (buffers.iter().enumerate())
            .map(|(i, b)| wgpu::BindGroupEntry { binding: i as u32, resource: b.as_entire_binding() })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let out = &buffers[buffers.len() - 1];
        let read = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: out.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            let [x, y, z] = dispatch.workgroups;
            pass.dispatch_workgroups(x, y, z);
        }
        encoder.copy_buffer_to_buffer(out, 0, &read, 0, out.size());
        self.queue.submit([encoder.finish()]);
        read.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("finishes");
        let bytes = read.get_mapped_range(..).expect("mapped").to_vec();
        bytemuck::pod_collect_to_vec(&bytes)
    }

    fn pipeline(&self, id: KernelId) -> wgpu::ComputePipeline {
        let make = || {
            let kernel = id.kernel();
            let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(kernel.name),
                source: wgpu::ShaderSource::Wgsl(kernel.wgsl.into()),
            });
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel.name),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        };
        self.pipelines.borrow_mut().entry(id).or_insert_with(make).clone()
    }
}
