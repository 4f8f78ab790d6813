//! Changing shapes and recorded iterations on a Vulkan driver: right results, and device memory that stays
//! as it is.
#![cfg(feature = "cli")]

mod support;

use sublet::device::{DeviceRecorder, MemoryWitness, Readback, ShapedArena, View, block_on};
use sublet::plan::{Alignment, Planner, ShapedProblem, Size};
use support::gpu::Gpu;
use wgpu::{BindGroupDescriptor, ComputePassDescriptor, ComputePipeline, ComputePipelineDescriptor};

const WGSL: &str = "
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&o)) { o[id.x] = a[id.x] * 3u + id.x; }
}";

/// A kernel and what it runs on.
struct Kernel<'a> {
    gpu: &'a Gpu,
    pipeline: ComputePipeline,
}

impl<'a> Kernel<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(WGSL.into()),
        });
        let pipeline = gpu.device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        Kernel { gpu, pipeline }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, from: &View, to: &View) {
        let group = self.gpu.device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[from.bind_entry(0), to.bind_entry(1)],
        });
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(((to.bytes.end - to.bytes.start) as u32 / 4).div_ceil(64), 1, 1);
    }
}

fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

/// What two kernels in a row make of `start`, on the CPU.
fn expected(start: u32, len: u32) -> Vec<u32> {
    let once = |x: u32, i: u32| x.wrapping_mul(3).wrapping_add(i);
    (0..len).map(|i| once(once(start.wrapping_add(i), i), i)).collect()
}

fn used(gpu: &Gpu) -> Option<u64> {
    let polled = gpu.device.poll(wgpu::PollType::wait_indefinitely());
    assert!(polled.is_ok());
    MemoryWitness::sample(&gpu.device).used_bytes
}

/// Cases 18 and 19 with shapes that change: a thousand runs within the bounds, each of its own length; the
/// device holds after the last what it held after the second.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn a_thousand_shapes_within_bounds_keep_the_devices_bytes() {
    let gpu = Gpu::vulkan(|_| ());
    let kernel = Kernel::new(&gpu);
    let mut shaped = ShapedProblem::new(Alignment::new(gpu.limits.storage_alignment_bytes).unwrap());
    let n = shaped.dim("n", 5000).unwrap();
    let words = || Size::from(n) * 4;
    let ids = ["a", "b", "c"].into_iter().zip([0..=1, 1..=2, 2..=3]);
    let ids: Vec<_> = ids.map(|(name, steps)| shaped.tensor(name, words(), steps).unwrap()).collect();
    let plan = Planner::auto().plan(shaped.bound()).unwrap();
    let arena = block_on(&gpu.device, ShapedArena::new(&gpu.device, &shaped, &plan)).unwrap();
    let readback = block_on(&gpu.device, Readback::new(&gpu.device, &gpu.queue, 4 * 5000)).unwrap();
    let mut after_second = None;
    for run in 0..1000u32 {
        let len = 1 + run * 7919 % 5000;
        let shape = shaped.shape(&[(n, u64::from(len))]).unwrap();
        let view = |i: usize| arena.view(ids[i], &shape).expect("no dimension is 0");
        let input: Vec<u32> = (0..len).map(|i| run.wrapping_add(i)).collect();
        gpu.queue.write_buffer(view(0).buffer, view(0).bytes.start, bytemuck::cast_slice(&input));
        let mut encoder = encoder(&gpu);
        kernel.record(&mut encoder, &view(0), &view(1));
        kernel.record(&mut encoder, &view(1), &view(2));
        let output = view(2);
        let ranges = [(output.buffer, output.bytes.clone())];
        let read = readback.read(Some(encoder), &ranges);
        assert_eq!(block_on(&gpu.device, read).unwrap(), expected(run, len), "run {run}");
        if run == 1 {
            after_second = used(&gpu);
        }
    }
    assert!(after_second.is_some(), "Vulkan's allocator reports");
    assert_eq!(used(&gpu), after_second);
}

/// Case 16 on a device: 64 tensors of 2,048 bytes a token, one token more each step. Reserved by their bound
/// they stay where they are: a step writes its own token and nothing else, and the peak is flat.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn case_16_a_growing_cache_is_never_copied() {
    let gpu = Gpu::vulkan(|_| ());
    let (most, token_bytes) = (64u64, 2048u64);
    let mut shaped = ShapedProblem::new(Alignment::new(gpu.limits.storage_alignment_bytes).unwrap());
    let tokens = shaped.dim("tokens", most).unwrap();
    let mut cache = Vec::new();
    for i in 0..64u32 {
        let id = shaped.tensor(format!("cache{i}"), Size::from(tokens) * token_bytes, 0..=64).unwrap();
        shaped.keep(id).unwrap();
        cache.push(id);
        shaped.tensor(format!("hidden{i}"), 16_384, i..=i + 1).unwrap();
    }
    let plan = Planner::auto().plan(shaped.bound()).unwrap();
    let arena = block_on(&gpu.device, ShapedArena::new(&gpu.device, &shaped, &plan)).unwrap();
    let value = |tensor: usize, token: u64| (tensor as u32) << 16 | token as u32;
    let mut flat = None;
    for step in 1..=most {
        let shape = shaped.shape(&[(tokens, step)]).unwrap();
        for (i, id) in cache.iter().enumerate() {
            let view = arena.view(*id, &shape).expect("at least one token");
            assert_eq!(view.bytes.end - view.bytes.start, step * token_bytes);
            let token = vec![value(i, step); token_bytes as usize / 4];
            gpu.queue.write_buffer(view.buffer, view.bytes.end - token_bytes, bytemuck::cast_slice(&token));
        }
        gpu.queue.submit([]);
        let now = used(&gpu);
        assert!(now.is_some() && *flat.get_or_insert(now) == now, "step {step}: {flat:?} {now:?}");
    }
    let readback = block_on(&gpu.device, Readback::new(&gpu.device, &gpu.queue, most * token_bytes)).unwrap();
    let shape = shaped.shape(&[]).unwrap();
    for (i, id) in cache.iter().enumerate() {
        let view = arena.view(*id, &shape).unwrap();
        let words = block_on(&gpu.device, readback.read(None, &[(view.buffer, view.bytes.clone())])).unwrap();
        let right = |(at, word): (usize, &u32)| *word == value(i, 1 + at as u64 * 4 / token_bytes);
        assert!(words.iter().enumerate().all(right), "tensor {i}");
    }
}

/// An engine without a graph: recorded once a shape, then replayed; results stay right while a size departs,
/// and the device's bytes are flat.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn recorded_iterations_compute_what_they_should() {
    let gpu = Gpu::vulkan(|_| ());
    let kernel = Kernel::new(&gpu);
    let mut recorder = DeviceRecorder::new(&gpu.device, |recorder| recorder).unwrap();
    let readback = block_on(&gpu.device, Readback::new(&gpu.device, &gpu.queue, 4 * 4096)).unwrap();
    let mut run = |run: u32, shape: u64, len: u32| {
        recorder.begin(&[shape]).unwrap();
        let bytes = u64::from(len) * 4;
        let a = recorder.allocate("a", bytes).unwrap();
        let input: Vec<u32> = (0..len).map(|i| run.wrapping_add(i)).collect();
        let view = recorder.view(&a).unwrap();
        gpu.queue.write_buffer(view.buffer, view.bytes.start, bytemuck::cast_slice(&input));
        let mut encoder = encoder(&gpu);
        let b = recorder.allocate("b", bytes).unwrap();
        kernel.record(&mut encoder, &recorder.view(&a).unwrap(), &recorder.view(&b).unwrap());
        recorder.release(a).unwrap();
        let c = recorder.allocate("c", bytes).unwrap();
        kernel.record(&mut encoder, &recorder.view(&b).unwrap(), &recorder.view(&c).unwrap());
        let view = recorder.view(&c).unwrap();
        let ranges = [(view.buffer, view.bytes.clone())];
        let read = readback.read(Some(encoder), &ranges);
        assert_eq!(block_on(&gpu.device, read).unwrap(), expected(run, len), "run {run}");
        recorder.release(b).unwrap();
        recorder.release(c).unwrap();
        block_on(&gpu.device, recorder.end()).unwrap()
    };
    for shape in 0..3u64 {
        assert!(run(0, shape, 500 + 400 * shape as u32).recorded);
    }
    let after = used(&gpu);
    for i in 0..300u32 {
        let shape = u64::from(i % 3);
        assert!(run(i, shape, 500 + 400 * shape as u32).departures.is_none());
    }
    assert!(after.is_some() && used(&gpu) == after);
    let larger = run(7, 0, 4000);
    assert_eq!((larger.departures.overflowed, larger.planned), (3, true));
    assert!(run(8, 0, 4000).departures.is_none());
}
