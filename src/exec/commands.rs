//! The dispatches of a program under one plan and in one set of buffers, ready to be recorded.

use super::{Bound, BufferKey, ExecError, Program};
use crate::device::{ErrorScopes, Pipelines, Shader};
use crate::kernel::Kernel;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding, CommandEncoder,
    ComputePassDescriptor, ComputePipeline, Device,
};

/// One prebuilt dispatch.
#[derive(Debug)]
struct Command {
    pipeline: Arc<ComputePipeline>,
    bind_group: BindGroup,
    workgroups: [u32; 3],
}

/// Prebuilt dispatches of all steps.
#[derive(Debug)]
pub(super) struct Commands {
    commands: Vec<Command>,
    /// Commands of each step.
    steps: Vec<Range<usize>>,
}

/// The buffers that bind groups name: parameter blocks, and whatever a key stands for.
pub(super) struct Buffers<'a, F: Fn(BufferKey) -> &'a Buffer> {
    pub(super) params: &'a Buffer,
    pub(super) of: F,
}

impl Commands {
    /// Makes pipelines and bind groups.
    pub(super) async fn new<'a, F: Fn(BufferKey) -> &'a Buffer>(
        device: &Device,
        pipelines: &Pipelines,
        program: &Program,
        bound: &[Bound],
        blocks: &ParamBlocks,
        buffers: Buffers<'a, F>,
    ) -> Result<Self, ExecError> {
        let mut steps = Vec::with_capacity(program.steps.len());
        let mut end = 0;
        for dispatches in &program.steps {
            steps.push(end..end + dispatches.len());
            end += dispatches.len();
        }
        let mut commands = Vec::with_capacity(bound.len());
        for (one, offset) in bound.iter().zip(&blocks.offsets) {
            let scopes = ErrorScopes::open(device);
            let Bound { partition, in_rows, .. } = one;
            let Kernel { name, wgsl, .. } = *one.kernel.kernel();
            let pipeline = pipelines.get(Shader { name, wgsl, partition, in_rows: *in_rows });
            let command = pipeline.map(|pipeline| Command::new(device, pipeline, one, *offset, &buffers));
            scopes.close(&one.label, 0).await?;
            commands.push(command?);
        }
        Ok(Commands { commands, steps })
    }

    /// Records all steps in one pass.
    pub(super) fn record(&self, encoder: &mut CommandEncoder) {
        self.record_range(encoder, 0..self.commands.len());
    }

    /// Records one step in a pass of its own.
    pub(super) fn record_step(&self, encoder: &mut CommandEncoder, step: usize) {
        self.record_range(encoder, self.steps[step].clone());
    }

    fn record_range(&self, encoder: &mut CommandEncoder, commands: Range<usize>) {
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        for command in &self.commands[commands] {
            let [x, y, z] = command.workgroups;
            pass.set_pipeline(&command.pipeline);
            pass.set_bind_group(0, &command.bind_group, &[]);
            pass.dispatch_workgroups(x, y, z);
        }
    }
}

impl Command {
    fn new<'a, F: Fn(BufferKey) -> &'a Buffer>(
        device: &Device,
        pipeline: Arc<ComputePipeline>,
        bound: &Bound,
        params_offset: u64,
        buffers: &Buffers<'a, F>,
    ) -> Command {
        let entry = |binding, buffer, bytes: Range<u64>| {
            let size = NonZeroU64::new(bytes.end - bytes.start);
            let resource = BindingResource::Buffer(BufferBinding { buffer, offset: bytes.start, size });
            BindGroupEntry { binding, resource }
        };
        let params = params_offset..params_offset + bound.params.len() as u64 * 4;
        let mut entries = vec![entry(0, buffers.params, params)];
        for i in bound.partition.survivors() {
            let buffer = (buffers.of)(bound.buffers[i]);
            entries.push(entry(i as u32 + 1, buffer, bound.windows[i].bytes.clone()));
        }
        let layout = pipeline.get_bind_group_layout(0);
        let bind_group = device.create_bind_group(&BindGroupDescriptor {
            label: Some(&bound.label),
            layout: &layout,
            entries: &entries,
        });
        Command { pipeline, bind_group, workgroups: bound.workgroups }
    }
}

/// Parameter blocks of all dispatches in one buffer, equal ones once.
#[derive(Debug)]
pub(super) struct ParamBlocks {
    pub(super) bytes: Vec<u8>,
    /// First byte of each dispatch's block.
    pub(super) offsets: Vec<u64>,
}

impl ParamBlocks {
    pub(super) fn pack(bound: &[Bound], alignment_bytes: u64) -> Self {
        let mut blocks = ParamBlocks { bytes: Vec::new(), offsets: Vec::with_capacity(bound.len()) };
        let mut seen: HashMap<&[u32], u64> = HashMap::new();
        for one in bound {
            let offset = *seen.entry(&one.params).or_insert_with(|| {
                let start = (blocks.bytes.len() as u64).next_multiple_of(alignment_bytes);
                blocks.bytes.resize(start as usize, 0);
                blocks.bytes.extend_from_slice(bytemuck::cast_slice(&one.params));
                start
            });
            blocks.offsets.push(offset);
        }
        blocks
    }
}
