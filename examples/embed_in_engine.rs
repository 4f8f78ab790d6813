//! A tiny engine with its own graph and its own WGSL on sublet's arena: it takes `plan` and `device`,
//! nothing else.
//!
//! `cargo run --release --example embed_in_engine`

use sublet::device::{DeviceArena, DeviceLimits, Readback, block_on, descriptor};
use sublet::plan::{Alignment, Planner, Problem, TensorId};

/// The engine's kernel. A buffer that is written in a dispatch must be writable in all of its bindings, so
/// both are `read_write`.
const SHADER: &str = "
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64)
    fn halve_plus_one(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&y) { y[id.x] = x[id.x] * 0.5 + 1.0; }
    }";

/// The engine's graph: a chain of layers, each reading the one before.
const LAYERS: u32 = 8;
const ELEMENTS: u64 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = match pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
    {
        Ok(adapter) => adapter,
        Err(error) => {
            println!("no adapter ({error})");
            return Ok(());
        }
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor(&adapter)))?;
    let limits = DeviceLimits::new(&device.limits());

    // 1. Plan: one record a layer's output; layer i writes tensor i and reads tensor i - 1.
    let mut problem = Problem::new(Alignment::new(limits.storage_alignment_bytes)?);
    let input = problem.tensor("input", ELEMENTS * 4, 0..=1)?;
    let mut chain = vec![input];
    for i in 1..=LAYERS {
        chain.push(problem.tensor(format!("layer {i}"), ELEMENTS * 4, i..=i + 1)?);
    }
    let plan = Planner::auto().max_buffer_bytes(limits.max_buffer_bytes).plan(&problem)?;
    println!("{}", plan.report(&problem));

    // 2. Hold: every allocation happens here.
    let arena = block_on(&device, DeviceArena::new(&device, &problem, &plan))?;
    let view = |tensor: TensorId| arena.view(tensor).ok_or("a tensor without bytes");

    // 3. The engine's own pipeline and bind groups over sublet's views.
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let layout = pipeline.get_bind_group_layout(0);
    let mut groups = Vec::new();
    for pair in chain.windows(2) {
        groups.push(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &[view(pair[0])?.bind_entry(0), view(pair[1])?.bind_entry(1)],
        }));
    }
    let data: Vec<f32> = (0..ELEMENTS).map(|i| i as f32).collect();
    let first = view(input)?;
    queue.write_buffer(first.buffer, first.bytes.start, bytemuck::cast_slice(&data));
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    for group in &groups {
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(ELEMENTS.div_ceil(64) as u32, 1, 1);
    }
    drop(pass);

    // 4. Read the last tensor back and check it against the same arithmetic on the host.
    let last = view(chain[chain.len() - 1])?;
    let readback = block_on(&device, Readback::new(&device, &queue, last.bytes.end - last.bytes.start))?;
    let words = block_on(&device, readback.read(Some(encoder), &[(last.buffer, last.bytes.clone())]))?;
    let wrong = words.iter().zip(&data).filter(|(word, x)| {
        let want = (0..LAYERS).fold(**x, |x, _| x * 0.5 + 1.0);
        (f32::from_bits(**word) - want).abs() > want.abs() * 1e-6
    });
    match wrong.count() {
        0 => {
            println!("{LAYERS} layers over {} bytes: every one of {ELEMENTS} results is right", arena.bytes())
        }
        n => return Err(format!("{n} of {ELEMENTS} results are wrong").into()),
    }
    Ok(())
}
