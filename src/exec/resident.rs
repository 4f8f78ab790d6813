//! What stays on a device for all plans of one program: weights and pipelines.

use super::machine::Host;
use super::{Bound, ExecError, Network, Program, WeightMap, bind};
use crate::device::{DeviceError, DeviceLimits, ErrorScopes, Pipelines, Uploader};
use crate::plan::{Plan, Planner, Strategy};
use std::sync::Arc;
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device, Queue};

/// Weights and pipelines of a program on a device.
#[derive(Debug)]
pub struct Resident {
    pub(super) device: Device,
    pub(super) queue: Queue,
    pub(super) program: Arc<Program>,
    pub(super) limits: DeviceLimits,
    pub(super) weights: Vec<Buffer>,
    pub(super) zeros: Buffer,
    map: WeightMap,
    pub(super) pipelines: Pipelines,
}

impl Resident {
    /// Uploads the weights, in chunks.
    ///
    /// # Errors
    /// A graph input, a graph output or a weights buffer is over a limit, or memory is out.
    pub async fn new(device: &Device, queue: &Queue, program: Arc<Program>) -> Result<Self, ExecError> {
        let limits = DeviceLimits::new(&device.limits());
        refuse_io_over_limit(&program, limits.max_buffer_bytes)?;
        let map = WeightMap::new(&program, limits.storage_alignment_bytes, limits.max_buffer_bytes);
        let mut weights = Vec::with_capacity(map.buffers.len());
        for (i, bytes) in map.buffers.iter().enumerate() {
            weights
                .push(buffer(device, &format!("sublet weights {i}"), *bytes, BufferUsages::STORAGE).await?);
        }
        let zeros = buffer(device, "sublet zeros", 16, BufferUsages::STORAGE).await?;
        let mut uploader = Uploader::new(device, queue);
        for piece in &map.pieces {
            let data = program.graph.get(piece.value).words().unwrap_or_default();
            let data = &data[piece.start_len..piece.start_len + piece.len];
            uploader.write(&weights[piece.buffer], piece.offset_bytes, bytemuck::cast_slice(data)).await?;
        }
        uploader.flush().await;
        let (pipelines, device, queue) = (Pipelines::kept(device), device.clone(), queue.clone());
        Ok(Resident { device, queue, program, limits, weights, zeros, map, pipelines })
    }

    /// Bytes of the weights buffers.
    pub fn weights_bytes(&self) -> u64 {
        self.weights.iter().map(Buffer::size).sum()
    }

    /// Pipelines made so far: one for each kernel and partition of its bindings, whatever the plans.
    pub fn pipeline_count(&self) -> usize {
        self.pipelines.count()
    }

    /// Largest arena of this program's layout on this device, bytes.
    pub fn max_arena_bytes(&self) -> u64 {
        let DeviceLimits { max_buffer_bytes, max_binding_bytes, .. } = self.limits;
        self.program.layout.max_arena_bytes(max_buffer_bytes, max_binding_bytes)
    }

    /// The limits planning must respect.
    pub fn limits(&self) -> &DeviceLimits {
        &self.limits
    }
}

/// Each graph input and output has a buffer of its own: one that is too large ends here, before any is made.
pub(super) fn refuse_io_over_limit(program: &Program, available_bytes: u64) -> Result<(), DeviceError> {
    let graph = &program.graph;
    for value in graph.inputs.iter().chain(&graph.outputs).map(|id| graph.get(*id)) {
        let needed_bytes = value.size_bytes();
        if needed_bytes > available_bytes {
            let (what, limit) = (value.name.clone(), "max_buffer_size");
            return Err(DeviceError::OverLimit { what, needed_bytes, limit, available_bytes });
        }
    }
    Ok(())
}

/// A buffer that can be written by copies, or an error that says why not.
pub(super) async fn buffer(
    device: &Device,
    label: &str,
    bytes: u64,
    usage: BufferUsages,
) -> Result<Buffer, DeviceError> {
    let size = bytes.next_multiple_of(16).max(16);
    let available_bytes = device.limits().max_buffer_size;
    if size > available_bytes {
        let (what, limit) = (label.to_owned(), "max_buffer_size");
        return Err(DeviceError::OverLimit { what, needed_bytes: size, limit, available_bytes });
    }
    let scopes = ErrorScopes::open(device);
    let buffer = device.create_buffer(&BufferDescriptor {
        label: Some(label),
        size,
        usage: usage | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    scopes.close(label, size).await?;
    Ok(buffer)
}

/// A [`Resident`] that several networks share.
pub type SharedResident = Arc<Resident>;

impl Host for SharedResident {
    type Machine = Network;

    fn program(&self) -> &Program {
        &self.program
    }

    async fn machine(&self, plan: &Plan) -> Result<Network, ExecError> {
        Network::unchecked(self.clone(), plan).await
    }

    fn bound(&self, plan: &Plan) -> Result<Vec<Bound>, ExecError> {
        bind(&self.program, plan, &self.map, &self.limits.binding_limits())
    }

    fn no_reuse(&self) -> Result<Plan, ExecError> {
        let DeviceLimits { max_buffer_bytes, max_binding_bytes, .. } = self.limits;
        let planner = Planner::new(Strategy::Naive);
        let planner = self.program.layout.limit(planner, max_buffer_bytes, max_binding_bytes);
        Ok(planner.plan(&self.program.usage.problem)?)
    }
}
