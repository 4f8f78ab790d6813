//! Arenas: the few buffers that a plan's tensors share.

use super::{DeviceError, DeviceLimits, ErrorScopes};
use crate::plan::{Plan, Problem, TensorId};
use std::num::NonZeroU64;
use std::ops::Range;
use wgpu::{BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferDescriptor, BufferUsages, Device};

/// The buffers of one plan. Every allocation happens in the constructor; afterwards it is sealed.
#[derive(Debug)]
pub struct DeviceArena {
    buffers: Vec<Buffer>,
    plan: Plan,
    /// Bytes of each tensor.
    sizes: Vec<u64>,
}

/// One tensor in its arena: what a binding for one dispatch shows, exactly as long as the tensor.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// The arena's buffer.
    pub buffer: &'a Buffer,
    /// Bytes of the tensor in it.
    pub bytes: Range<u64>,
}

impl<'a> View<'a> {
    /// The view as an entry of a bind group. Its layout must be `Storage { read_only: false }`: a buffer
    /// that is written in a dispatch is writable in all of that dispatch's bindings.
    ///
    /// Bind each tensor once a dispatch and no two tensors that overlap (in-place needs one binding, not
    /// two).
    pub fn bind_entry(&self, binding: u32) -> BindGroupEntry<'a> {
        let size = NonZeroU64::new(self.bytes.end - self.bytes.start);
        let resource = BufferBinding { buffer: self.buffer, offset: self.bytes.start, size };
        BindGroupEntry { binding, resource: BindingResource::Buffer(resource) }
    }
}

impl DeviceArena {
    /// Creates the arenas of a plan for `problem` on the device.
    ///
    /// # Errors
    /// The plan is not valid for the problem, an arena or a tensor is over a limit, the device cannot bind
    /// at the plan's offsets, or memory is out. Nothing stays allocated then.
    pub async fn new(device: &Device, problem: &Problem, plan: &Plan) -> Result<Self, DeviceError> {
        plan.validate(problem)?;
        let limits = DeviceLimits::new(&device.limits());
        Self::check_arenas(plan, &limits)?;
        Self::check_tensors(problem, &limits)?;
        let device_bytes = limits.storage_alignment_bytes;
        let unaligned = |id: &TensorId| !plan.offset_bytes(*id).is_multiple_of(device_bytes);
        if let Some(tensor) = problem.ids().find(unaligned) {
            return Err(DeviceError::Alignment {
                tensor: problem.tensors()[tensor.index()].label().to_owned(),
                offset_bytes: plan.offset_bytes(tensor),
                device_bytes,
            });
        }
        Self::unchecked(device, problem, plan).await
    }

    /// Without asking the judge, for planted faults; at any offset, for bindings that carry the rest in a
    /// base; and with tensors of any size, for bindings that show segments of them.
    pub(crate) async fn unchecked(
        device: &Device,
        problem: &Problem,
        plan: &Plan,
    ) -> Result<Self, DeviceError> {
        Self::check_arenas(plan, &DeviceLimits::new(&device.limits()))?;
        let mut buffers = Vec::with_capacity(plan.arenas().len());
        for (i, bytes) in plan.arenas().iter().enumerate() {
            let label = format!("sublet arena {i}");
            let size = bytes.next_multiple_of(4).max(4);
            let scopes = ErrorScopes::open(device);
            buffers.push(device.create_buffer(&BufferDescriptor {
                label: Some(&label),
                size,
                usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
            scopes.close(&label, size).await?;
            log::debug!("{label}: {size} bytes");
        }
        let sizes = problem.tensors().iter().map(|t| t.size_bytes()).collect();
        Ok(DeviceArena { buffers, plan: plan.clone(), sizes })
    }

    fn check_arenas(plan: &Plan, limits: &DeviceLimits) -> Result<(), DeviceError> {
        for (i, bytes) in plan.arenas().iter().enumerate() {
            if *bytes > limits.max_buffer_bytes {
                return Err(DeviceError::OverLimit {
                    what: format!("arena {i}"),
                    needed_bytes: *bytes,
                    limit: "max_buffer_size",
                    available_bytes: limits.max_buffer_bytes,
                });
            }
        }
        Ok(())
    }

    /// An engine binds each tensor whole.
    fn check_tensors(problem: &Problem, limits: &DeviceLimits) -> Result<(), DeviceError> {
        for tensor in problem.tensors() {
            let needed_bytes = tensor.size_bytes();
            if needed_bytes > limits.max_binding_bytes {
                return Err(DeviceError::OverLimit {
                    what: tensor.label().to_owned(),
                    needed_bytes,
                    limit: "max_storage_buffer_binding_size",
                    available_bytes: limits.max_binding_bytes,
                });
            }
        }
        Ok(())
    }

    /// The view of a tensor, or `None` where it has no bytes.
    pub fn view(&self, tensor: TensorId) -> Option<View<'_>> {
        let (start, size) = (self.plan.offset_bytes(tensor), self.sizes[tensor.index()]);
        let buffer = &self.buffers[self.plan.arena(tensor).index()];
        (size > 0).then(|| View { buffer, bytes: start..(start + size).next_multiple_of(4) })
    }

    /// The arenas' buffers, in the plan's order.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The plan behind the arenas.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Bytes of all arenas.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(Buffer::size).sum()
    }
}
