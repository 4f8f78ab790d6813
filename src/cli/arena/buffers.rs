//! One wgpu buffer for each allocation: what an arena is there to spare.

use std::time::Instant;

use wgpu::{Buffer, BufferDescriptor, BufferUsages};

use super::trace::{Event, Trace};
use crate::cli::adapter::Gpu;
use crate::cli::error::CliError;
use crate::device::{ErrorScopes, block_on};

/// Buffers made at most: one costs thousands of times what a planned place does.
const MOST: usize = 2000;
/// Bytes of one buffer at most, so that streams of tens of gigabytes can be measured on small devices.
const LARGEST_BYTES: u64 = 1 << 20;

/// Nanoseconds to create and drop one buffer, over the first allocations of the stream with their releases.
pub fn measure(gpu: &Gpu, trace: &Trace) -> Result<f64, CliError> {
    let scopes = ErrorScopes::open(&gpu.device);
    let mut live: Vec<Option<Buffer>> = trace.hands();
    let mut made = 0usize;
    let start = Instant::now();
    for event in &trace.events {
        match *event {
            Event::Allocate(..) if made == MOST => break,
            Event::Allocate(slot, size_bytes) => {
                let size = size_bytes.next_multiple_of(4).clamp(4, LARGEST_BYTES);
                live[slot as usize] = Some(gpu.device.create_buffer(&BufferDescriptor {
                    label: None,
                    size,
                    usage: BufferUsages::STORAGE,
                    mapped_at_creation: false,
                }));
                made += 1;
            }
            Event::Release(slot) => live[slot as usize] = None,
        }
    }
    drop(live);
    let seconds = start.elapsed().as_secs_f64();
    block_on(&gpu.device, scopes.close("a buffer for each allocation", LARGEST_BYTES))?;
    Ok(seconds * 1e9 / made.max(1) as f64)
}
