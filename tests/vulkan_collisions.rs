//! Every kind of collision, merged, gives the right result on a Vulkan driver.
#![cfg(feature = "cli")]

mod support;

use sublet::device::{ErrorScopes, Readback, block_on};
use sublet::legal::{Access, BoundRange, PlainKernel};
use support::collisions::{Collision, all};
use support::gpu::Gpu;

fn buffer(gpu: &Gpu, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len() as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&buffer, 0, bytes);
    buffer
}

/// Runs the merged kernel and reads the output.
fn run(gpu: &Gpu, collision: &Collision) -> Vec<f32> {
    let kernel = PlainKernel::new(collision.name, &collision.wgsl).unwrap();
    let kernel = if collision.bases { kernel.with_bases() } else { kernel };
    let lawful = kernel.lawful(&collision.operands, &collision.limits).unwrap();
    let scopes = ErrorScopes::open(&gpu.device);
    let storage = wgpu::BufferUsages::STORAGE;
    let buffers: Vec<_> =
        collision.buffers.iter().map(|data| buffer(gpu, bytemuck::cast_slice(data), storage)).collect();
    let mut params: Vec<u32> = lawful.windows.iter().map(|w| w.base_len).collect();
    params.push(collision.expected.len() as u32);
    params.resize(params.len().next_multiple_of(4), 0);
    let params = buffer(gpu, bytemuck::cast_slice(&params), wgpu::BufferUsages::UNIFORM);
    let ranges = lawful.ranges();
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(lawful.wgsl().unwrap().into()),
    });
    let ty = |(binding, range): &(u32, BoundRange)| {
        (*binding, wgpu::BufferBindingType::Storage { read_only: range.access == Access::Read })
    };
    let uniform = collision.bases.then_some((0, wgpu::BufferBindingType::Uniform));
    let entry = |(binding, ty)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let entries: Vec<_> = uniform.into_iter().chain(ranges.iter().map(ty)).map(entry).collect();
    let layout = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
    let layout = gpu.device.create_bind_group_layout(&layout);
    let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let bind = |(binding, range): &(u32, BoundRange)| wgpu::BindGroupEntry {
        binding: *binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &buffers[range.buffer],
            offset: range.bytes.start,
            size: std::num::NonZeroU64::new(range.bytes.end - range.bytes.start),
        }),
    };
    let block = wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() };
    let entries: Vec<_> =
        collision.bases.then_some(block).into_iter().chain(ranges.iter().map(bind)).collect();
    let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
    let group = gpu.device.create_bind_group(&group);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(2, 1, 1);
    drop(pass);
    let output = &collision.operands[collision.operands.len() - 1];
    let readback = block_on(&gpu.device, Readback::new(&gpu.device, &gpu.queue, 1 << 16)).unwrap();
    let range = (&buffers[output.buffer], output.bytes.clone());
    let words = block_on(&gpu.device, readback.read(Some(encoder), &[range])).unwrap();
    block_on(&gpu.device, scopes.close(collision.name, 0)).unwrap();
    words.into_iter().map(f32::from_bits).collect()
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn merged_kernels_give_the_right_result() {
    // As many slots as the hungriest case needs on any device; the merged kernels use fewer.
    let gpu = Gpu::vulkan(|limits| limits.min_storage_buffer_offset_alignment = 256);
    for collision in all() {
        assert_eq!(run(&gpu, &collision), collision.expected, "{}", collision.name);
    }
}
