//! Dispatches on a Vulkan device, one buffer a value: the plainest executor, to compare kernels with their
//! twins.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use sublet::kernel::{Dispatch, KernelId, LowerLimits, Operand};
use wgpu::util::DeviceExt;

use super::twin::{Case, run_twin};

/// A device with WebGPU's default limits, except that buffers may be as large as the adapter allows.
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipelines: HashMap<KernelId, wgpu::ComputePipeline>,
}

/// Waits for a future that makes progress by itself.
fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

impl Gpu {
    /// Opens the first Vulkan adapter. Panics where there is none: callers are tests that need one.
    pub fn open() -> Gpu {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapter = wait(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
            .expect("a Vulkan adapter");
        let limits =
            wgpu::Limits { max_buffer_size: adapter.limits().max_buffer_size, ..wgpu::Limits::default() };
        let (device, queue) = wait(adapter.request_device(&wgpu::DeviceDescriptor {
            required_limits: limits,
            ..wgpu::DeviceDescriptor::default()
        }))
        .expect("a device with default limits");
        Gpu { device, queue, pipelines: HashMap::new() }
    }

    /// The limits that dispatches for this device are lowered with.
    pub fn limits(&self) -> LowerLimits {
        let limits = self.device.limits();
        LowerLimits {
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            max_workgroups: limits.max_compute_workgroups_per_dimension,
        }
    }

    fn pipeline(&mut self, id: KernelId) -> wgpu::ComputePipeline {
        let device = &self.device;
        let make = || {
            let kernel = id.kernel();
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(kernel.name),
                source: wgpu::ShaderSource::Wgsl(kernel.wgsl.into()),
            });
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel.name),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        };
        self.pipelines.entry(id).or_insert_with(make).clone()
    }

    fn buffer(&self, data: &[f32], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let contents = bytemuck::cast_slice(data);
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    }

    /// Runs the dispatches `times` times and returns the output value and the shortest run. With a prefix,
    /// values stand behind that many NaNs in buffers bound whole, found through their base offsets alone.
    pub fn run(
        &mut self,
        case: &Case,
        dispatches: &[Dispatch],
        prefix: Option<usize>,
        times: usize,
    ) -> (Vec<f32>, Duration) {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let padded = |id| [vec![f32::NAN; prefix.unwrap_or(0)], case.initial(id)].concat();
        let output_id = case.graph.nodes[0].outputs[0];
        let output = self.buffer(&padded(output_id), usage);
        let mut values = HashMap::from([(output_id, output.clone())]);
        for id in &case.graph.nodes[0].inputs {
            values.insert(*id, self.buffer(&padded(*id), usage));
        }
        let absent = self.buffer(&[0.0; 4], usage);
        let calls: Vec<_> = dispatches.iter().map(|d| self.bind(d, &values, &absent, prefix)).collect();
        let mut shortest = Duration::MAX;
        for _ in 0..times {
            let start = Instant::now();
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for ((pipeline, group), dispatch) in calls.iter().zip(dispatches) {
                let [x, y, z] = dispatch.workgroups;
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(x, y, z);
            }
            drop(pass);
            self.queue.submit([encoder.finish()]);
            self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
            shortest = shortest.min(start.elapsed());
        }
        let mut output = self.read(&output);
        let data = output.split_off(prefix.unwrap_or(0));
        assert!(output.iter().all(|v| v.is_nan()), "written before the output's base");
        (data, shortest)
    }

    fn bind(
        &mut self,
        dispatch: &Dispatch,
        values: &HashMap<sublet::graph::ValueId, wgpu::Buffer>,
        absent: &wgpu::Buffer,
        prefix: Option<usize>,
    ) -> (wgpu::ComputePipeline, wgpu::BindGroup) {
        let pipeline = self.pipeline(dispatch.kernel);
        let mut words = dispatch.params.clone();
        let operands = dispatch.inputs.iter().chain([&dispatch.output]);
        for (word, operand) in words.iter_mut().zip(operands.clone()) {
            if let (Operand::Value { start_len, .. }, Some(prefix)) = (operand, prefix) {
                *word = (prefix + start_len) as u32;
            }
        }
        let params = self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&words),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() }];
        for (binding, operand) in (1..).zip(operands) {
            let resource = match operand {
                Operand::Absent => absent.as_entire_binding(),
                Operand::Value { value, .. } if prefix.is_some() => values[value].as_entire_binding(),
                Operand::Value { value, start_len, len } => {
                    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &values[value],
                        offset: *start_len as u64 * 4,
                        size: std::num::NonZero::new(*len as u64 * 4),
                    })
                }
            };
            entries.push(wgpu::BindGroupEntry { binding, resource });
        }
        let layout = pipeline.get_bind_group_layout(0);
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        (pipeline, group)
    }

    fn read(&self, buffer: &wgpu::Buffer) -> Vec<f32> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(wgpu::MapMode::Read, |result| result.expect("the buffer maps"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let bytes = staging.slice(..).get_mapped_range().expect("the buffer is mapped");
        bytemuck::cast_slice(&bytes).to_vec()
    }

    /// Runs a case on the device and on the twins, and compares within the kernels' tolerance. Returns the
    /// kernels.
    #[track_caller]
    pub fn compare(&mut self, case: &Case, limits: LowerLimits) -> Vec<KernelId> {
        let dispatches = case.dispatches(limits);
        let (got, _) = self.run(case, &dispatches, None, 1);
        let (shifted, _) = self.run(case, &dispatches, Some(13), 1);
        let bits = |data: &[f32]| data.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert!(bits(&got) == bits(&shifted), "base offsets change the result of {:?}", case.op());
        let output = case.graph.nodes[0].outputs[0];
        let mut expected = case.initial(output);
        for dispatch in &dispatches {
            run_twin(case, dispatch, &mut expected);
        }
        let kernels: Vec<KernelId> = dispatches.iter().map(|d| d.kernel).collect();
        let tolerance = dispatches[0].tolerance();
        let scale = expected.iter().filter(|e| e.is_finite()).fold(0.0f32, |m, e| m.max(e.abs()));
        for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
            // As floats, small negative integers are no numbers either.
            let float = case.graph.get(output).is_float();
            let same = got.to_bits() == expected.to_bits() || (float && got.is_nan() && expected.is_nan());
            let difference = (got - expected).abs();
            // Written so that a lonely NaN fails.
            let near = difference <= tolerance.absolute + tolerance.relative * scale;
            let found = same || near && float;
            assert!(found, "element {i}: {got} where the twin has {expected} ({kernels:?}, {:?})", case.op());
        }
        kernels
    }
}
