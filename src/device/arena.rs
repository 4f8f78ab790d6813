//! Arenas: the few buffers that a plan's tensors share.

use super::required::{Required, required};
use super::{DeviceError, DeviceLimits, ErrorScopes};
use crate::plan::{Plan, Problem, TensorId};
use std::num::NonZeroU64;
use std::ops::Range;
use wgpu::{
    BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferDescriptor, BufferSlice, BufferUsages,
    Device,
};

/// The buffers of one plan. Every allocation happens in the constructor; afterwards it is sealed.
#[derive(Debug)]
pub struct DeviceArena {
    buffers: Vec<Buffer>,
    /// First byte of each arena in its buffer.
    starts: Vec<u64>,
    bytes: u64,
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
    /// Creates the arenas of a plan for `problem` on the device. [`super::required`] says beforehand what
    /// that allocates.
    ///
    /// # Errors
    /// The plan is not valid for the problem, an arena or a tensor is over a limit, the device cannot bind
    /// at the plan's offsets, or memory is out. Nothing stays allocated then.
    pub async fn new(device: &Device, problem: &Problem, plan: &Plan) -> Result<Self, DeviceError> {
        required(problem, plan, &DeviceLimits::new(&device.limits()))?;
        Self::unchecked(device, problem, plan).await
    }

    /// Arenas in buffers that the engine owns, one range of a buffer for each arena of the plan. Nothing is
    /// allocated; the buffers are held until the arena is dropped, and are not destroyed then.
    ///
    /// # Errors
    /// What [`super::required`] refuses; another number of ranges than the plan has arenas; a range that is
    /// too short or starts where the device cannot bind; a buffer that is no storage buffer or comes twice
    /// (in one dispatch a buffer is writable as a whole or not at all, so arenas that share one would not be
    /// apart).
    pub fn in_buffers(
        limits: &DeviceLimits,
        problem: &Problem,
        plan: &Plan,
        ranges: &[BufferSlice<'_>],
    ) -> Result<Self, DeviceError> {
        let required = required(problem, plan, limits)?;
        if ranges.len() != required.arenas.len() {
            return Err(DeviceError::ArenaCount { needed: required.arenas.len(), given: ranges.len() });
        }
        for (i, (range, needed_bytes)) in ranges.iter().zip(&required.arenas).enumerate() {
            let what = format!("arena {i}");
            let device_bytes = limits.storage_alignment_bytes;
            if range.size() < *needed_bytes {
                let (needed_bytes, given_bytes) = (*needed_bytes, range.size());
                return Err(DeviceError::TooSmall { what, needed_bytes, given_bytes });
            }
            if !range.offset().is_multiple_of(device_bytes) {
                let offset_bytes = range.offset();
                return Err(DeviceError::Alignment { tensor: what, offset_bytes, device_bytes });
            }
            if !range.buffer().usage().contains(BufferUsages::STORAGE) {
                let reason = format!("its buffer is {:?}, not STORAGE", range.buffer().usage());
                return Err(DeviceError::Refused { what, reason });
            }
            if let Some(twin) = ranges[..i].iter().position(|r| r.buffer() == range.buffer()) {
                let reason = format!("its buffer is that of arena {twin}");
                return Err(DeviceError::Refused { what, reason });
            }
        }
        let buffers = ranges.iter().map(|r| r.buffer().clone()).collect();
        let starts = ranges.iter().map(|r| r.offset()).collect();
        Ok(DeviceArena {
            buffers,
            starts,
            bytes: required.total_bytes(),
            plan: plan.clone(),
            sizes: sizes(problem),
        })
    }

    /// Without asking the judge, for planted faults; at any offset, for bindings that carry the rest in a
    /// base; and with tensors of any size, for bindings that show segments of them.
    pub(crate) async fn unchecked(
        device: &Device,
        problem: &Problem,
        plan: &Plan,
    ) -> Result<Self, DeviceError> {
        let required = Required::arenas_of(plan, &DeviceLimits::new(&device.limits()))?;
        let mut buffers = Vec::with_capacity(required.arenas.len());
        for (i, size) in required.arenas.iter().copied().enumerate() {
            let label = format!("sublet arena {i}");
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
        let (starts, bytes) = (vec![0; buffers.len()], required.total_bytes());
        Ok(DeviceArena { buffers, starts, bytes, plan: plan.clone(), sizes: sizes(problem) })
    }

    /// The view of a tensor, or `None` where it has no bytes or the id is another problem's.
    pub fn view(&self, tensor: TensorId) -> Option<View<'_>> {
        let size = self.sizes.get(tensor.index()).copied().filter(|size| *size > 0)?;
        let (arena, offset_bytes) = self.plan.place(tensor)?;
        let start = self.starts[arena.index()] + offset_bytes;
        let bytes = start..(start + size).next_multiple_of(4);
        Some(View { buffer: &self.buffers[arena.index()], bytes })
    }

    /// The arenas' buffers, in the plan's order.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The plan behind the arenas.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Bytes of all arenas; of the engine's own buffers no more than the arenas take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

fn sizes(problem: &Problem) -> Vec<u64> {
    problem.tensors().iter().map(|t| t.size_bytes()).collect()
}
