//! Runs a built-in network in one planned arena on the best adapter, and proves that reuse changed nothing.
//!
//! `cargo run --release --example run_network [NETWORK]`

use std::sync::Arc;
use sublet::device::{DeviceLimits, block_on, descriptor};
use sublet::exec::{Network, Program, Resident, audit};
use sublet::kernel::LowerLimits;
use sublet::model::zoo;
use sublet::plan::{Alignment, Planner};

/// Public, so that a test can run it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The caller owns instance, adapter, device and queue.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = match pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
    {
        Ok(adapter) => adapter,
        Err(error) => {
            println!("no adapter ({error}); `sublet run --cpu` runs without one");
            return Ok(());
        }
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor(&adapter)))?;
    let limits = DeviceLimits::new(&device.limits());

    // Graph -> dispatches and a planning problem.
    let named = std::env::args().skip(1).find(|name| zoo::names().contains(&&**name));
    let graph = zoo::build(named.as_deref().unwrap_or("mobilenet_v2")).ok_or("no such network")?;
    let lower =
        LowerLimits { max_binding_bytes: limits.max_binding_bytes, max_workgroups: limits.max_workgroups };
    let program = Program::new(graph, Alignment::new(limits.storage_alignment_bytes)?, lower)?;

    // Plan: every offset is known before anything is allocated.
    let plan = Planner::auto().max_buffer_bytes(limits.max_buffer_bytes).plan(&program.usage.problem)?;
    println!("{}", plan.report(&program.usage.problem));

    // Run and prove.
    let inputs = program.default_inputs();
    let resident = Arc::new(block_on(&device, Resident::new(&device, &queue, Arc::new(program)))?);
    let network = block_on(&device, Network::new(resident.clone(), &plan))?;
    let outputs = block_on(&device, network.run(&inputs))?;
    let best = outputs[0].iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    println!("{}: best class {best:?}", adapter.get_info().name);
    let audit = block_on(&device, audit(&resident, &plan, &inputs, &limits.binding_limits()))?;
    println!(
        "reuse equals no reuse, bit for bit: {}; all checks: {}",
        audit.reuse_equals_no_reuse,
        audit.ok()
    );
    println!("{audit:?}");
    Ok(())
}
