//! Buffers behind a recorder's regions: profile-guided allocation on a device.

use super::{DeviceError, DeviceLimits, ErrorScopes, View};
use crate::plan::record::{Iteration, Recorder, Region, Role};
use crate::plan::{Alignment, Block};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device};

/// Whether a buffer came about, where that is known later (in a browser).
#[cfg(not(target_arch = "wasm32"))]
type Waiting = Pin<Box<dyn Future<Output = Result<(), DeviceError>> + Send>>;
#[cfg(target_arch = "wasm32")]
type Waiting = Pin<Box<dyn Future<Output = Result<(), DeviceError>>>>;

/// A [`Recorder`] with a buffer for each of its regions, for engines that have no graph to plan.
///
/// An iteration that is its profile allocates nothing, neither on the device nor on the host. Buffers come
/// in [`DeviceRecorder::end`], where a new plan does not fit, and in [`DeviceRecorder::allocate`], where
/// overflow must grow. What an engine submits must run in the order of its allocations.
pub struct DeviceRecorder {
    device: Device,
    recorder: Recorder,
    /// By the region's index, with its serial number.
    buffers: Vec<Option<(u64, Buffer)>>,
    version: u64,
    shape: Vec<u64>,
    waiting: Vec<Waiting>,
}

impl std::fmt::Debug for DeviceRecorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceRecorder").field("recorder", &self.recorder).finish_non_exhaustive()
    }
}

impl DeviceRecorder {
    /// A recorder that aligns as the device binds and makes no region larger than a buffer may be.
    /// `configure` sets whatever else a [`Recorder`] has: planner, overflow, shapes.
    ///
    /// # Errors
    /// The device's alignment is none that a plan may have.
    pub fn new(device: &Device, configure: impl FnOnce(Recorder) -> Recorder) -> Result<Self, DeviceError> {
        let limits = DeviceLimits::new(&device.limits());
        let refused = |e: crate::plan::PlanError| DeviceError::Refused {
            what: "a recorder's alignment".to_owned(),
            reason: e.to_string(),
        };
        let alignment = Alignment::new(limits.storage_alignment_bytes).map_err(refused)?;
        let recorder = configure(Recorder::new(alignment)).max_region_bytes(limits.max_buffer_bytes);
        Ok(DeviceRecorder {
            device: device.clone(),
            recorder,
            buffers: Vec::new(),
            version: 0,
            shape: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// Begins an iteration: [`Recorder::begin`].
    ///
    /// # Errors
    /// An iteration is under way.
    pub fn begin(&mut self, shape: &[u64]) -> Result<(), DeviceError> {
        self.recorder.begin(shape).map_err(refused)?;
        self.shape.clear();
        self.shape.extend_from_slice(shape);
        Ok(())
    }

    /// Hands out bytes: [`Recorder::allocate`]. Off the profile, overflow may need a new buffer.
    ///
    /// # Errors
    /// The size is over the device's largest buffer, or memory is out; nothing is taken then.
    #[inline]
    pub fn allocate(&mut self, label: &str, size_bytes: u64) -> Result<Block, DeviceError> {
        let block = self.recorder.allocate(label, size_bytes).map_err(|e| over_limit(*e))?;
        if self.recorder.version() == self.version { Ok(block) } else { self.grown(block) }
    }

    #[cold]
    fn grown(&mut self, block: Block) -> Result<Block, DeviceError> {
        match self.sync() {
            Ok(()) => Ok(block),
            Err(error) => {
                self.recorder.release(block).map_err(|e| refused(*e))?;
                self.recorder.shed();
                self.drop_gone();
                Err(error)
            }
        }
    }

    /// Takes a block back: [`Recorder::release`].
    ///
    /// # Errors
    /// The block is another recorder's.
    #[inline]
    pub fn release(&mut self, block: Block) -> Result<(), DeviceError> {
        self.recorder.release(block).map_err(|e| refused(*e))
    }

    /// [`Recorder::pause`].
    pub fn pause(&mut self) {
        self.recorder.pause();
    }

    /// [`Recorder::resume`].
    pub fn resume(&mut self) {
        self.recorder.resume();
    }

    /// The bytes of a block, to bind; `None` where it has none, or is another recorder's.
    pub fn view(&self, block: &Block) -> Option<View<'_>> {
        let (_, buffer) = self.buffers.get(block.region())?.as_ref()?;
        let (start, size) = (block.offset_bytes(), block.size_bytes());
        let bytes = start..(start + size).next_multiple_of(4);
        (size > 0 && bytes.end <= buffer.size()).then_some(View { buffer, bytes })
    }

    /// Ends the iteration and plans it anew where it departed: [`Recorder::end`]. Arenas that do not fit the
    /// new plan are dropped before larger ones are made.
    ///
    /// # Errors
    /// No iteration is under way; the planner refuses; memory is out. What the device has no memory for is
    /// forgotten, and the plans of other shapes stay.
    pub async fn end(&mut self) -> Result<Iteration, DeviceError> {
        let iteration = self.recorder.end().map_err(refused)?;
        let made = self.sync();
        let mut settled = made;
        for waiting in std::mem::take(&mut self.waiting) {
            settled = settled.and(waiting.await);
        }
        if let Err(error) = settled {
            let shape = std::mem::take(&mut self.shape);
            self.recorder.forget(&shape);
            self.trim()?;
            return Err(error);
        }
        Ok(iteration)
    }

    /// Gives back what no plan needs: [`Recorder::trim`]. The device has the memory again after its next
    /// poll.
    ///
    /// # Errors
    /// An iteration is under way; memory is out.
    pub fn trim(&mut self) -> Result<(), DeviceError> {
        self.recorder.trim().map_err(refused)?;
        self.sync()
    }

    /// The recorder, for its report, plans and regions.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Bytes of all buffers.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().flatten().map(|(_, buffer)| buffer.size()).sum()
    }

    /// Drops the buffers of regions that are gone.
    fn drop_gone(&mut self) {
        let regions: Vec<Region> = self.recorder.regions().collect();
        for (index, held) in self.buffers.iter_mut().enumerate() {
            let serial = held.as_ref().map(|(serial, _)| *serial);
            if !regions.iter().any(|r| r.index == index && Some(r.serial) == serial) {
                *held = None;
            }
        }
        self.version = self.recorder.version();
    }

    /// Makes the buffers those of the regions; what goes goes first.
    fn sync(&mut self) -> Result<(), DeviceError> {
        if self.version == self.recorder.version() {
            return Ok(());
        }
        self.drop_gone();
        let regions: Vec<Region> = self.recorder.regions().collect();
        for region in regions {
            if self.buffers.len() <= region.index {
                self.buffers.resize_with(region.index + 1, || None);
            }
            if self.buffers[region.index].is_none() {
                let buffer = self.buffer(&region)?;
                self.buffers[region.index] = Some((region.serial, buffer));
            }
        }
        Ok(())
    }

    fn buffer(&mut self, region: &Region) -> Result<Buffer, DeviceError> {
        let kind = if region.role == Role::Overflow { "overflow" } else { "arena" };
        let label = format!("sublet recorder {kind} {}", region.index);
        let size = region.bytes.next_multiple_of(4).max(4);
        let scopes = ErrorScopes::open(&self.device);
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some(&label),
            size,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        log::debug!("{label}: {size} bytes");
        let mut closed: Waiting = Box::pin(scopes.close(&label, size));
        // Natively it is known at once; in a browser the end of the iteration waits for it.
        match pin!(&mut closed).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result?,
            Poll::Pending => self.waiting.push(closed),
        }
        Ok(buffer)
    }
}

fn refused(error: crate::plan::PlanError) -> DeviceError {
    DeviceError::Refused { what: "an iteration".to_owned(), reason: error.to_string() }
}

fn over_limit(error: crate::plan::PlanError) -> DeviceError {
    match error {
        crate::plan::PlanError::OverBuffer { tensor, needed_bytes, limit_bytes } => DeviceError::OverLimit {
            what: tensor,
            needed_bytes,
            limit: "max_buffer_size",
            available_bytes: limit_bytes,
        },
        other => refused(other),
    }
}
