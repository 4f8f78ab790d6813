//! Arenas: the few buffers that a plan's tensors share.

use super::{DeviceError, DeviceLimits, ErrorScopes};
use crate::plan::{Plan, TensorId};
use std::num::NonZeroU64;
use std::ops::Range;
use wgpu::{BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferDescriptor, BufferUsages, Device};

/// The buffers of one plan. Every allocation happens in the constructor; afterwards it is sealed.
#[derive(Debug)]
pub struct DeviceArena {
    buffers: Vec<Buffer>,
    plan: Plan,
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
    /// The view as an entry of a bind group. Its layout must be `Storage { read_only: false }`: a buffer that is
    /// written in a dispatch is writable in all of that dispatch's bindings.
    ///
    /// Bind each tensor once a dispatch and no two tensors that overlap (in-place needs one binding, not two).
    pub fn bind_entry(&self, binding: u32) -> BindGroupEntry<'a> {
        let size = NonZeroU64::new(self.bytes.end - self.bytes.start);
        let resource = BufferBinding { buffer: self.buffer, offset: self.bytes.start, size };
        BindGroupEntry { binding, resource: BindingResource::Buffer(resource) }
    }
}

impl DeviceArena {
    /// Creates the plan's arenas on the device.
    ///
    /// # Errors
    /// An arena or a tensor is over a limit, offsets are not aligned for the device, or memory is out. Nothing stays
    /// allocated then.
    pub async fn new(device: &Device, plan: &Plan) -> Result<Self, DeviceError> {
        let limits = DeviceLimits::new(&device.limits());
        Self::check(plan, &limits)?;
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
        Ok(DeviceArena { buffers, plan: plan.clone() })
    }

    fn check(plan: &Plan, limits: &DeviceLimits) -> Result<(), DeviceError> {
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
        for tensor in plan.tensors() {
            let needed_bytes = plan.size_bytes(tensor);
            if needed_bytes > limits.max_binding_bytes {
                return Err(DeviceError::OverLimit {
                    what: plan.label(tensor).to_owned(),
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
        let (start, size) = (self.plan.offset_bytes(tensor), self.plan.size_bytes(tensor));
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
