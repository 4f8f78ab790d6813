//! A network on a device: arenas, prebuilt bind groups, one pass and one submission a run.

use super::commands::{Buffers, Commands, ParamBlocks};
use super::machine::{Host, Machine};
use super::resident::{SharedResident, buffer};
use super::{BufferKey, ExecError, Program, Resident, lawful};
use crate::device::{DeviceArena, DeviceError, DeviceLimits, ErrorScopes, Readback, Uploader};
use crate::graph::passes::Passes;
use crate::graph::{Graph, ValueId};
use crate::kernel::LowerLimits;
use crate::plan::{Alignment, Plan, Planner};
use std::ops::Range;
use std::sync::Arc;
use wgpu::{Buffer, BufferUsages, CommandEncoder, CommandEncoderDescriptor, Device, Queue};

/// A program on a device under one plan. Everything is allocated and built in the constructor.
#[derive(Debug)]
pub struct Network {
    resident: SharedResident,
    arena: DeviceArena,
    inputs: Vec<Buffer>,
    outputs: Vec<Buffer>,
    params: Buffer,
    commands: Commands,
    readback: Readback,
    pending: Option<CommandEncoder>,
}

impl Network {
    /// Plans and compiles a graph for a device, with every pass: the short way. Plan with [`Program`], a
    /// [`Planner`] and [`Network::new`] to choose passes, strategy and plan.
    ///
    /// # Errors
    /// The graph, the planner or the device refuses; see [`ExecError`].
    pub async fn compile(device: &Device, queue: &Queue, graph: Graph) -> Result<Self, ExecError> {
        let (program, plan) = planned(&DeviceLimits::new(&device.limits()), graph)?;
        let resident = Resident::new(device, queue, Arc::new(program)).await?;
        Self::new(Arc::new(resident), &plan).await
    }

    /// A network under a given plan; weights and pipelines are shared with other networks of the same
    /// [`Resident`].
    ///
    /// # Errors
    /// The plan is not valid for the program, a dispatch is unlawful, or the device refuses.
    pub async fn new(resident: SharedResident, plan: &Plan) -> Result<Self, ExecError> {
        plan.validate(&resident.program.usage.problem)?;
        Self::unchecked(resident, plan).await
    }

    /// Without asking the judge: for the mutations of an audit.
    pub(super) async fn unchecked(resident: SharedResident, plan: &Plan) -> Result<Self, ExecError> {
        let device = resident.device.clone();
        let bound = resident.bound(plan)?;
        lawful(&bound, &resident.limits.binding_limits())?;
        let arena = DeviceArena::unchecked(&device, &resident.program.usage.problem, plan).await?;
        let graph = &resident.program.graph;
        let bytes = |ids: &[ValueId]| ids.iter().map(|id| graph.get(*id).size_bytes()).collect::<Vec<_>>();
        let io = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (i, size) in bytes(&graph.inputs).into_iter().enumerate() {
            inputs.push(buffer(&device, &format!("sublet input {i}"), size, io).await?);
        }
        for (i, size) in bytes(&graph.outputs).into_iter().enumerate() {
            outputs.push(buffer(&device, &format!("sublet output {i}"), size, io).await?);
        }
        let blocks = ParamBlocks::pack(&bound, resident.limits.uniform_alignment_bytes);
        let params =
            buffer(&device, "sublet parameters", blocks.bytes.len() as u64, BufferUsages::UNIFORM).await?;
        let mut uploader = Uploader::new(&device, &resident.queue);
        uploader.write(&params, 0, &blocks.bytes).await?;
        uploader.flush().await;
        let staging = bytes(&graph.outputs).iter().sum::<u64>().min(Uploader::CHUNK_BYTES);
        let readback = Readback::new(&device, &resident.queue, staging).await?;
        let of = |key| lookup(key, &arena, &inputs, &outputs, &resident);
        let buffers = Buffers { params: &params, of };
        let commands =
            Commands::new(&device, &resident.pipelines, &resident.program, &bound, &blocks, buffers).await?;
        Ok(Network { resident, arena, inputs, outputs, params, commands, readback, pending: None })
    }

    fn buffer(&self, key: BufferKey) -> &Buffer {
        lookup(key, &self.arena, &self.inputs, &self.outputs, &self.resident)
    }

    /// Records all steps in one pass.
    pub fn encode(&self) -> CommandEncoder {
        let mut encoder = self.encoder();
        self.commands.record(&mut encoder);
        encoder
    }

    fn encoder(&self) -> CommandEncoder {
        self.resident.device.create_command_encoder(&CommandEncoderDescriptor { label: Some("sublet run") })
    }

    /// Runs the network once: inputs in, one submission, outputs back in the graph's order.
    ///
    /// # Errors
    /// Inputs of the wrong number or size, or the device refuses or is lost.
    pub async fn run(&self, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, ExecError> {
        self.upload(inputs).await?;
        let words = self.readback.read(Some(self.encode()), &self.output_ranges()).await?;
        let mut rest = words.iter().map(|w| f32::from_bits(*w));
        let graph = &self.resident.program.graph;
        Ok(graph.outputs.iter().map(|id| rest.by_ref().take(graph.get(*id).len()).collect()).collect())
    }

    fn output_ranges(&self) -> Vec<(&Buffer, Range<u64>)> {
        let graph = &self.resident.program.graph;
        self.outputs.iter().zip(&graph.outputs).map(|(b, id)| (b, 0..graph.get(*id).size_bytes())).collect()
    }

    async fn upload(&self, inputs: &[Vec<f32>]) -> Result<(), ExecError> {
        self.resident.program.check_inputs(inputs)?;
        let mut uploader = Uploader::new(&self.resident.device, &self.resident.queue);
        for (buffer, data) in self.inputs.iter().zip(inputs) {
            uploader.write(buffer, 0, bytemuck::cast_slice(data)).await?;
        }
        Ok(())
    }

    /// The arenas.
    pub fn arena(&self) -> &DeviceArena {
        &self.arena
    }

    /// Weights and pipelines.
    pub fn resident(&self) -> &SharedResident {
        &self.resident
    }

    /// Bytes of the input and output buffers.
    pub fn io_bytes(&self) -> u64 {
        self.inputs.iter().chain(&self.outputs).map(Buffer::size).sum()
    }

    /// Bytes of everything else that is held: parameters, zeros, readback staging.
    pub fn other_bytes(&self) -> u64 {
        self.params.size() + self.resident.zeros.size() + self.readback.bytes()
    }

    fn submit_pending(&mut self) -> Option<impl Future<Output = Result<(), DeviceError>> + use<>> {
        let encoder = self.pending.take()?;
        let scopes = ErrorScopes::open(&self.resident.device);
        self.resident.queue.submit([encoder.finish()]);
        Some(scopes.close("a step", 0))
    }
}

impl Machine for Network {
    async fn write_inputs(&mut self, inputs: &[Vec<f32>]) -> Result<(), ExecError> {
        if let Some(submitted) = self.submit_pending() {
            submitted.await?;
        }
        self.upload(inputs).await
    }

    async fn fill(&mut self, arena: usize, bytes: Range<u64>, pattern: u32) -> Result<(), ExecError> {
        // A queue write happens before the next submission's commands, so what is pending has to go first.
        if let Some(submitted) = self.submit_pending() {
            submitted.await?;
        }
        let mut uploader = Uploader::new(&self.resident.device, &self.resident.queue);
        let chunk = vec![pattern; ((bytes.end - bytes.start).min(Uploader::CHUNK_BYTES) / 4) as usize];
        let mut at = bytes.start;
        while at < bytes.end {
            let size = (bytes.end - at).min(Uploader::CHUNK_BYTES);
            let data: &[u8] = bytemuck::cast_slice(&chunk[..(size / 4) as usize]);
            uploader.write(&self.arena.buffers()[arena], at, data).await?;
            at += size;
        }
        Ok(())
    }

    async fn step(&mut self, step: usize) -> Result<(), ExecError> {
        let mut encoder = self.pending.take().unwrap_or_else(|| self.encoder());
        self.commands.record_step(&mut encoder, step);
        self.pending = Some(encoder);
        Ok(())
    }

    async fn run(&mut self) -> Result<(), ExecError> {
        let mut encoder = self.pending.take().unwrap_or_else(|| self.encoder());
        self.commands.record(&mut encoder);
        self.pending = Some(encoder);
        Ok(())
    }

    async fn read(&mut self, ranges: &[(BufferKey, Range<u64>)]) -> Result<Vec<u32>, ExecError> {
        let total: u64 = ranges.iter().map(|(_, r)| r.end - r.start).sum();
        if total > self.readback.bytes() {
            // Proofs read far more than a run does: a staging buffer for them, made when first asked for.
            let bytes = total.min(64 << 20);
            if bytes > self.readback.bytes() {
                self.readback = Readback::new(&self.resident.device, &self.resident.queue, bytes).await?;
            }
        }
        let encoder = self.pending.take();
        let ranges: Vec<_> = ranges.iter().map(|(key, r)| (self.buffer(*key), r.clone())).collect();
        Ok(self.readback.read(encoder, &ranges).await?)
    }
}

/// A graph with every pass, lowered and planned for a device with these limits.
pub(super) fn planned(limits: &DeviceLimits, graph: Graph) -> Result<(Program, Plan), ExecError> {
    let lower =
        LowerLimits { max_binding_bytes: limits.max_binding_bytes, max_workgroups: limits.max_workgroups };
    let (graph, sharing) = Passes::ALL.apply(graph)?;
    let alignment = Alignment::new(limits.storage_alignment_bytes)?;
    let program = Program::sharing(graph, sharing, alignment, lower)?;
    let planner = program.layout.limit(Planner::auto(), limits.max_buffer_bytes, limits.max_binding_bytes);
    let plan = planner.plan(&program.usage.problem)?;
    Ok((program, plan))
}

fn lookup<'a>(
    key: BufferKey,
    arena: &'a DeviceArena,
    inputs: &'a [Buffer],
    outputs: &'a [Buffer],
    resident: &'a Resident,
) -> &'a Buffer {
    match key {
        BufferKey::Arena(i) => &arena.buffers()[i],
        BufferKey::Input(i) => &inputs[i],
        BufferKey::Output(i) => &outputs[i],
        BufferKey::Weights(i) => &resident.weights[i],
        BufferKey::Zeros => &resident.zeros,
    }
}
