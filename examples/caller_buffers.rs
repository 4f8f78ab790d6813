//! An engine that owns its memory: it asks what a plan takes before anything is allocated, and places the
//! plan's arena in a part of a buffer that it has already.
//!
//! cargo run --release --example caller_buffers

use sublet::device::{DeviceArena, DeviceLimits, Profile, Readback, block_on, descriptor, required};
use sublet::plan::{Alignment, Planner, Problem};

/// Public, so that a test can run it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Three tensors, of which the last may lie where the first was.
    let mut problem = Problem::new(Alignment::new(256)?);
    let image = problem.tensor("image", 150_528, 0..=1)?;
    let features = problem.tensor("features", 200_704, 1..=2)?;
    let logits = problem.tensor("logits", 4_000, 2..=3)?;
    let plan = Planner::auto().plan(&problem)?;

    // No device is needed to ask: these are the limits of a browser that was asked for nothing.
    let browser = Profile::find("default").ok_or("no such profile")?.limits;
    println!("needed: {} bytes in {:?}", plan.peak_bytes(), required(&problem, &plan, &browser)?.arenas);
    let mut too_large = Problem::new(Alignment::new(256)?);
    too_large.tensor("4K feature map", 3840 * 2160 * 32, 0..=1)?;
    let its_plan = Planner::auto().plan(&too_large)?;
    if let Err(refused) = required(&too_large, &its_plan, &browser) {
        println!("refused: {refused}");
    }

    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let options = wgpu::RequestAdapterOptions::default();
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&options)) else {
        println!("no adapter");
        return Ok(());
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor(&adapter)))?;
    let limits = DeviceLimits::new(&device.limits());

    // The engine's buffer: its own things in the first 64 KiB, the plan's tensors behind them.
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("the engine's"),
        size: (64 << 10) + plan.peak_bytes(),
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    // Too short a part is refused with both numbers.
    if let Err(refused) = DeviceArena::in_buffers(&limits, &problem, &plan, &[buffer.slice(128 << 10..)]) {
        println!("refused: {refused}");
    }
    let arena = DeviceArena::in_buffers(&limits, &problem, &plan, &[buffer.slice(64 << 10..)])?;
    for (name, tensor) in [("image", image), ("features", features), ("logits", logits)] {
        let view = arena.view(tensor).ok_or("a tensor without bytes")?;
        println!("{name:<9} bytes {:?} of the engine's buffer", view.bytes);
    }

    // A view is bytes of that buffer and no others: what lies in front of it stays.
    queue.write_buffer(&buffer, 0, &[7; 64 << 10]);
    let view = arena.view(image).ok_or("a tensor without bytes")?;
    queue.write_buffer(view.buffer, view.bytes.start, &vec![9; 150_528]);
    let readback = block_on(&device, Readback::new(&device, &queue, 1 << 20))?;
    let ranges = [(&buffer, 0..64 << 10), (view.buffer, view.bytes.clone())];
    let words = block_on(&device, readback.read(None, &ranges))?;
    let (front, image) = words.split_at(16 << 10);
    let kept = front.iter().all(|word| *word == 0x0707_0707) && image.iter().all(|word| *word == 0x0909_0909);
    println!("the engine's own 64 KiB and the tensor are both as written: {kept}");
    Ok(())
}
