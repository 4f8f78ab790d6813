//! Bytes to and from a device, without doubling what lies on it.

use super::{DeviceError, ErrorScopes};
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;
use wgpu::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoder, CommandEncoderDescriptor, Device, MapMode,
};
use wgpu::{PollType, Queue};

/// Runs a future of this crate to its end on a native device, polling the device instead of spinning. For
/// the edge of a program (a binary, a test); the library itself never blocks.
pub fn block_on<T>(device: &Device, future: impl Future<Output = T>) -> T {
    drive(future, || vec![device.clone()])
}

/// The same for a device that may be replaced meanwhile: `devices` tells which may have work now.
pub(super) fn drive<T>(future: impl Future<Output = T>, devices: impl Fn() -> Vec<Device>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        for device in devices() {
            if let Err(error) = device.poll(PollType::wait_indefinitely()) {
                log::debug!("poll: {error}");
            }
        }
        // What is waited for may be another thread, not the device: sleep until woken, but not for long, as
        // callbacks come only to who polls.
        thread::park_timeout(Duration::from_millis(1));
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Writes host data to buffers in chunks with a submission after each, so that wgpu's staging copies never
/// add up to the data's own size.
#[derive(Debug)]
pub struct Uploader<'a> {
    device: &'a Device,
    queue: &'a Queue,
    pending_bytes: u64,
}

impl<'a> Uploader<'a> {
    /// Staging that may lie around before the next submission.
    pub const CHUNK_BYTES: u64 = 1 << 20;

    /// An uploader for that device.
    pub fn new(device: &'a Device, queue: &'a Queue) -> Self {
        Uploader { device, queue, pending_bytes: 0 }
    }

    /// Writes `data` to `buffer` at `offset_bytes`; the odd bytes of a last word are padded with zeros.
    ///
    /// # Errors
    /// The device refuses or is out of memory.
    pub async fn write(
        &mut self,
        buffer: &Buffer,
        offset_bytes: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let mut offset_bytes = offset_bytes;
        for chunk in data.chunks(Self::CHUNK_BYTES as usize) {
            let scopes = ErrorScopes::open(self.device);
            match chunk.len() % 4 {
                0 => self.queue.write_buffer(buffer, offset_bytes, chunk),
                odd => {
                    let padded: Vec<u8> =
                        chunk.iter().copied().chain(std::iter::repeat_n(0, 4 - odd)).collect();
                    self.queue.write_buffer(buffer, offset_bytes, &padded);
                }
            }
            scopes.close("an upload", chunk.len() as u64).await?;
            self.pending_bytes += chunk.len() as u64;
            if self.pending_bytes >= Self::CHUNK_BYTES {
                self.flush().await;
            }
            offset_bytes += chunk.len() as u64;
        }
        Ok(())
    }

    /// Submits what is pending and waits until its staging memory is free again.
    pub async fn flush(&mut self) {
        self.pending_bytes = 0;
        self.queue.submit([]);
        submitted_work_done(self.queue).await;
    }
}

/// Resolves when all work submitted so far is done.
async fn submitted_work_done(queue: &Queue) {
    let (signal, done) = signal();
    queue.on_submitted_work_done(move || signal.set(()));
    done.await;
}

/// A staging buffer for reading device buffers back, reused between reads.
#[derive(Debug)]
pub struct Readback {
    device: Device,
    queue: Queue,
    staging: Buffer,
}

impl Readback {
    /// A staging buffer that holds `bytes` at a time (less, where the device's largest buffer is smaller);
    /// larger reads take several rounds.
    ///
    /// # Errors
    /// The device refuses the buffer or is out of memory.
    pub async fn new(device: &Device, queue: &Queue, bytes: u64) -> Result<Self, DeviceError> {
        let largest = device.limits().max_buffer_size / 4 * 4;
        let bytes = bytes.next_multiple_of(4).max(4).min(largest);
        let scopes = ErrorScopes::open(device);
        let staging = device.create_buffer(&BufferDescriptor {
            label: Some("sublet readback"),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        scopes.close("readback staging", bytes).await?;
        Ok(Self::over(device, queue, &staging))
    }

    /// The same over a staging buffer that is there already, of usage `MAP_READ` and `COPY_DST`.
    pub(crate) fn over(device: &Device, queue: &Queue, staging: &Buffer) -> Self {
        Readback { device: device.clone(), queue: queue.clone(), staging: staging.clone() }
    }

    /// Bytes of the staging buffer.
    pub fn bytes(&self) -> u64 {
        self.staging.size()
    }

    /// Submits `encoder` (work recorded before the read, or none) and reads `ranges` of buffers, one after
    /// the other. Offsets and sizes are multiples of 4.
    ///
    /// # Errors
    /// wgpu refuses the copy, or the device is lost.
    pub async fn read(
        &self,
        encoder: Option<CommandEncoder>,
        ranges: &[(&Buffer, Range<u64>)],
    ) -> Result<Vec<u32>, DeviceError> {
        self.read_then(encoder, ranges, || ()).await
    }

    /// The same, and tells when `encoder` was submitted.
    ///
    /// # Errors
    /// Those of [`Readback::read`].
    pub(crate) async fn read_then(
        &self,
        encoder: Option<CommandEncoder>,
        ranges: &[(&Buffer, Range<u64>)],
        submitted: impl FnOnce(),
    ) -> Result<Vec<u32>, DeviceError> {
        let mut submitted = Some(submitted);
        let mut tell = move || {
            if let Some(submitted) = submitted.take() {
                submitted();
            }
        };
        let fresh = || self.device.create_command_encoder(&CommandEncoderDescriptor::default());
        let total: u64 = ranges.iter().map(|(_, r)| r.end - r.start).sum();
        let mut words = Vec::with_capacity((total / 4) as usize);
        let mut encoder = Some(encoder.unwrap_or_else(fresh));
        let mut filled = 0;
        for (buffer, range) in ranges {
            let mut at = range.start;
            while at < range.end {
                let size = (range.end - at).min(self.staging.size() - filled);
                let commands = encoder.get_or_insert_with(fresh);
                commands.copy_buffer_to_buffer(buffer, at, &self.staging, filled, size);
                at += size;
                filled += size;
                if filled == self.staging.size() {
                    self.drain(encoder.take(), filled, &mut words, &mut tell).await?;
                    filled = 0;
                }
            }
        }
        self.drain(encoder.take(), filled, &mut words, &mut tell).await?;
        Ok(words)
    }

    async fn drain(
        &self,
        encoder: Option<CommandEncoder>,
        bytes: u64,
        words: &mut Vec<u32>,
        submitted: &mut impl FnMut(),
    ) -> Result<(), DeviceError> {
        let Some(encoder) = encoder else { return Ok(()) };
        let scopes = ErrorScopes::open(&self.device);
        self.queue.submit([encoder.finish()]);
        submitted();
        scopes.close("a submission", bytes).await?;
        if bytes == 0 {
            submitted_work_done(&self.queue).await;
            return Ok(());
        }
        let (signal, mapped) = signal();
        // A lost device swallows everything up to here; this is where it shows, as a refusal and a failure.
        let scopes = ErrorScopes::open(&self.device);
        self.staging.map_async(MapMode::Read, 0..bytes, move |result| signal.set(result));
        let refusal = scopes.close("readback", bytes).await;
        if let Err(refusal) = refusal {
            log::debug!("{refusal}");
        }
        let lost = |reason: String| DeviceError::Lost { reason: format!("readback failed: {reason}") };
        mapped.await.map_err(|e| lost(e.to_string()))?;
        // What was mapped goes away under nobody's hands but those of whoever destroys the device.
        let view = self.staging.get_mapped_range(0..bytes).map_err(|e| lost(e.to_string()))?;
        words.extend(view.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])));
        drop(view);
        self.staging.unmap();
        Ok(())
    }
}

/// One value handed from a callback to a future.
struct Shared<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

struct Signal<T>(Arc<Mutex<Shared<T>>>);

impl<T> Signal<T> {
    fn set(self, value: T) {
        let mut shared = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shared.value = Some(value);
        if let Some(waker) = shared.waker.take() {
            waker.wake();
        }
    }
}

fn signal<T>() -> (Signal<T>, impl Future<Output = T>) {
    let shared = Arc::new(Mutex::new(Shared { value: None, waker: None }));
    let held = shared.clone();
    let future = std::future::poll_fn(move |context| {
        let mut shared = held.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match shared.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    });
    (Signal(shared), future)
}
