//! A tiny engine with its own graph and its own plain WGSL on sublet's arena. Its kernels know nothing of
//! arenas: one binding a tensor, inputs `read`. Two calls make each of them lawful, whatever the plan does.
//!
//! `cargo run --release --example embed_in_engine`

use sublet::device::{DeviceArena, DeviceLimits, Readback, block_on, descriptor};
use sublet::legal::{Access, LawfulKernel, Operand, PlainKernel, WindowLimits};
use sublet::plan::{Alignment, Planner, Problem, TensorId};
use wgpu::{BindGroupDescriptor, BindGroupEntry, BindingResource, BufferBinding, Device};

const HALVE: &str = "
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&y) { y[id.x] = x[id.x] * 0.5 + 1.0; }
    }";
const ADD: &str = "
    @group(0) @binding(0) var<storage, read> a: array<f32>;
    @group(0) @binding(1) var<storage, read> b: array<f32>;
    @group(0) @binding(2) var<storage, read_write> sum: array<f32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&sum) { sum[id.x] = a[id.x] + b[id.x]; }
    }";

const ELEMENTS: u64 = 1000;

/// The engine's schedule: kernel, tensors read, tensor written. `t1 + t1` reads one tensor twice, and `t3`
/// may take the bytes of `t2`: both are what WebGPU forbids a plain kernel.
const STEPS: [(&str, &[usize], usize); 4] =
    [(HALVE, &[0], 1), (ADD, &[1, 1], 2), (HALVE, &[2], 3), (ADD, &[3, 1], 4)];

/// The engine's records: one tensor a step, and the input. Steps count from 1; the input is there before.
fn problem(alignment: Alignment) -> Result<(Problem, Vec<TensorId>), Box<dyn std::error::Error>> {
    let mut problem = Problem::new(alignment);
    let last_use =
        |tensor: usize| STEPS.iter().rposition(|(_, reads, _)| reads.contains(&tensor)).map(|s| s + 1);
    let mut tensors = Vec::new();
    for tensor in 0..=STEPS.len() {
        let steps = tensor as u32..=last_use(tensor).unwrap_or(STEPS.len()) as u32;
        tensors.push(problem.tensor(format!("t{tensor}"), ELEMENTS * 4, steps)?);
    }
    problem.allow_in_place(tensors[3], tensors[2])?;
    Ok((problem, tensors))
}

/// Public, so that a test can run it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
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

    // Plan, then hold: every allocation happens here.
    let (problem, tensors) = problem(Alignment::new(limits.storage_alignment_bytes)?)?;
    let plan = Planner::auto().max_buffer_bytes(limits.max_buffer_bytes).plan(&problem)?;
    println!("{}", plan.report(&problem));
    let arena = block_on(&device, DeviceArena::new(&device, &problem, &plan))?;

    // The engine's pipelines and bind groups, from sublet's lawful kernels.
    let view = |t: usize| arena.view(tensors[t]).ok_or("a tensor without bytes");
    let operand =
        |t: usize| view(t).map(|v| Operand { buffer: plan.arena(tensors[t]).index(), bytes: v.bytes });
    let windows = WindowLimits {
        alignment_bytes: limits.storage_alignment_bytes,
        max_window_bytes: limits.max_binding_bytes,
        max_windows: limits.max_storage_bindings as usize,
    };
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    for (wgsl, reads, writes) in STEPS {
        let operands = reads.iter().chain([&writes]).map(|t| operand(*t)).collect::<Result<Vec<_>, _>>()?;
        let kernel = PlainKernel::new("engine kernel", wgsl)?; // call one
        let lawful = kernel.lawful(&operands, &windows)?; // call two
        println!("reads {reads:?}, writes {writes}: {} binding(s)", lawful.ranges().len());
        let (pipeline, group) = build(&device, &arena, lawful);
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(ELEMENTS.div_ceil(64) as u32, 1, 1);
    }
    drop(pass);

    // Input up, result back, checked against the same arithmetic on the host.
    let data: Vec<f32> = (0..ELEMENTS).map(|i| i as f32).collect();
    let input = view(0)?;
    queue.write_buffer(input.buffer, input.bytes.start, bytemuck::cast_slice(&data));
    let result = view(STEPS.len())?;
    let readback = block_on(&device, Readback::new(&device, &queue, ELEMENTS * 4))?;
    let words = block_on(&device, readback.read(Some(encoder), &[(result.buffer, result.bytes.clone())]))?;
    let wrong = words.iter().zip(&data).filter(|(word, x)| {
        let t1 = **x * 0.5 + 1.0;
        let t3 = (t1 + t1) * 0.5 + 1.0;
        f32::from_bits(**word) != t3 + t1
    });
    match wrong.count() {
        0 => println!("{} bytes of arena: every one of {ELEMENTS} results is right", arena.bytes()),
        n => return Err(format!("{n} of {ELEMENTS} results are wrong").into()),
    }
    Ok(())
}

/// The engine's own wgpu code: one pipeline, one bind group.
fn build(
    device: &Device,
    arena: &DeviceArena,
    lawful: LawfulKernel,
) -> (wgpu::ComputePipeline, wgpu::BindGroup) {
    let ranges = lawful.ranges();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(lawful.module)),
    });
    let layout_entry = |(binding, range): &(u32, sublet::legal::BoundRange)| wgpu::BindGroupLayoutEntry {
        binding: *binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: range.access == Access::Read },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = ranges.iter().map(layout_entry).collect();
    let layout =
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        })),
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let entry = |(binding, range): &(u32, sublet::legal::BoundRange)| BindGroupEntry {
        binding: *binding,
        resource: BindingResource::Buffer(BufferBinding {
            buffer: &arena.buffers()[range.buffer],
            offset: range.bytes.start,
            size: std::num::NonZeroU64::new(range.bytes.end - range.bytes.start),
        }),
    };
    let entries: Vec<_> = ranges.iter().map(entry).collect();
    let group =
        device.create_bind_group(&BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    (pipeline, group)
}
