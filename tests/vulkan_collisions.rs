//! Every kind of collision, made lawful, gives the right result on a Vulkan driver.
#![cfg(feature = "cli")]

mod support;

use sublet::device::{ErrorScopes, Readback, Uploader, block_on};
use sublet::legal::{Access, BoundRange};
use support::collisions::{Collision, all, controls};
use support::gpu::Gpu;
use support::launches::Launch;

fn buffer(gpu: &Gpu, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len() as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    block_on(&gpu.device, async {
        let mut uploader = Uploader::new(&gpu.device, &gpu.queue);
        uploader.write(&buffer, 0, bytes).await.unwrap();
        uploader.flush().await;
    });
    buffer
}

fn pipeline(gpu: &Gpu, launch: &Launch) -> (wgpu::ComputePipeline, wgpu::BindGroupLayout) {
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(launch.wgsl.as_str().into()),
    });
    let ty = |(binding, range): &(u32, BoundRange)| {
        (*binding, wgpu::BufferBindingType::Storage { read_only: range.access == Access::Read })
    };
    let uniform = (!launch.params.is_empty()).then_some((0, wgpu::BufferBindingType::Uniform));
    let entry = |(binding, ty)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let entries: Vec<_> = uniform.into_iter().chain(launch.bindings.iter().map(ty)).map(entry).collect();
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
    (pipeline, layout)
}

fn record(gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, launch: &Launch, buffers: &[wgpu::Buffer]) {
    let (pipeline, layout) = pipeline(gpu, launch);
    let bind = |(binding, range): &(u32, BoundRange)| wgpu::BindGroupEntry {
        binding: *binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &buffers[range.buffer],
            offset: range.bytes.start,
            size: std::num::NonZeroU64::new(range.bytes.end - range.bytes.start),
        }),
    };
    let params = (!launch.params.is_empty())
        .then(|| buffer(gpu, bytemuck::cast_slice(&launch.params), wgpu::BufferUsages::UNIFORM));
    let block = params.as_ref().map(|p| wgpu::BindGroupEntry { binding: 0, resource: p.as_entire_binding() });
    let entries: Vec<_> = block.into_iter().chain(launch.bindings.iter().map(bind)).collect();
    let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
    let group = gpu.device.create_bind_group(&group);
    let [x, y, z] = launch.workgroups;
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(x, y, z);
}

/// Runs the dispatches and reads the whole buffer that is written.
fn run(gpu: &Gpu, collision: &Collision, launches: &[Launch]) -> Vec<u32> {
    let storage = wgpu::BufferUsages::STORAGE;
    let scopes = ErrorScopes::open(&gpu.device);
    let buffers: Vec<_> =
        collision.buffers.iter().map(|data| buffer(gpu, bytemuck::cast_slice(data), storage)).collect();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    for launch in launches {
        record(gpu, &mut encoder, launch, &buffers);
    }
    let target = &buffers[collision.target()];
    let readback = block_on(&gpu.device, Readback::new(&gpu.device, &gpu.queue, 8 << 20)).unwrap();
    let words = block_on(&gpu.device, readback.read(Some(encoder), &[(target, 0..target.size())])).unwrap();
    block_on(&gpu.device, scopes.close(collision.name, 0)).unwrap();
    words
}

/// As far as the first words that differ: the whole would drown a report.
fn assert_same(collision: &Collision, words: &[u32]) {
    let want = collision.target_after();
    assert_eq!(words.len(), want.len(), "{}", collision.name);
    let differ = want.iter().zip(words).position(|(want, got)| want.to_bits() != *got);
    if let Some(at) = differ {
        panic!("{}: element {at} is {}, not {}", collision.name, f32::from_bits(words[at]), want[at]);
    }
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn lawful_dispatches_give_the_right_result() {
    // As many slots as the hungriest case needs on any device; the merged kernels use fewer.
    let gpu = Gpu::vulkan(|limits| limits.min_storage_buffer_offset_alignment = 256);
    for collision in all() {
        assert_same(&collision, &run(&gpu, &collision, &collision.lawful()));
    }
    for control in controls() {
        assert_same(&control, &run(&gpu, &control, &[control.plain()]));
    }
}
