//! Several networks in one set of buffers on one device, against the same networks each on its own.
//!
//! cargo run --release --example share_sessions [NETWORK..]

use std::time::Instant;
use sublet::device::{ArenaPool, DeviceWatch, Lane, MemoryWitness, PoolOptions, block_on, descriptor};
use sublet::exec::{Network, PooledNetwork};
use sublet::model::zoo;

const EIGHT: [&str; 8] = [
    "squeezenet",
    "blazeface",
    "mobilenet_v1",
    "mobilenet_v2",
    "posenet",
    "googlenet",
    "deeplab_v3_257",
    "mobilenet_v2",
];

/// Public, so that a test can run it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let options = wgpu::RequestAdapterOptions::default();
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&options)) else {
        println!("no adapter");
        return Ok(());
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor(&adapter)))?;
    let given: Vec<String> = std::env::args().skip(1).filter(|arg| zoo::names().contains(&&**arg)).collect();
    let names = if given.is_empty() { EIGHT.map(str::to_owned).to_vec() } else { given };
    let mb = |bytes: u64| bytes as f64 / 1e6;

    // The pool watches the device, so that it can say that it is lost.
    let watch = DeviceWatch::install(&device);
    let pool = ArenaPool::new(&device, &queue, &watch, PoolOptions::default());
    let (mut separate, mut networks) = (0, Vec::new());
    let columns = ["alone", "all alone", "in one pool", "ratio", "joined in"];
    println!("{:<16} {}", "MB (10^6)", columns.map(|column| format!("{column:>12}")).join(" "));
    for name in &names {
        let build = || zoo::build(name).ok_or("no such network");
        let own = block_on(&device, Network::compile(&device, &queue, build()?))?;
        let alone = own.arena().bytes() + own.resident().weights_bytes() + own.io_bytes() + own.other_bytes();
        drop(own);
        separate += alone;

        // Everybody in lane 0: runs take turns, and the lane is as large as the largest.
        let (graph, start) = (build()?, Instant::now());
        networks.push(pool.block_on(PooledNetwork::compile(&pool, graph, Lane(0)))?);
        let joined = start.elapsed();
        let held = pool.report().total.reserved_bytes;
        let ratio = separate as f64 / held as f64;
        let [alone, all, pool] = [alone, separate, held].map(mb);
        println!("{name:<16} {alone:>12.2} {all:>12.2} {pool:>12.2} {ratio:>12.2} {joined:>12.1?}");
    }

    // What one run leaves in the arenas is the next one's to overwrite: the outputs stay the same.
    for network in &networks {
        let inputs = network.program().default_inputs();
        let first = pool.block_on(network.run(&inputs))?;
        pool.block_on(networks[0].run(&networks[0].program().default_inputs()))?;
        let again = pool.block_on(network.run(&inputs))? == first;
        println!("{}: the same outputs after another network's run: {again}", network.program().graph.name);
    }

    // Memory goes back while the sessions stay; the next run brings it again.
    println!("\n{}", pool.report());
    let poll = wgpu::PollType::wait_indefinitely;
    let used = || device.poll(poll()).map(|_| MemoryWitness::sample(&device).used_bytes);
    let (full, trimmed) = (used()?, pool.trim());
    println!("\ntrimmed {trimmed} bytes; the allocator had {full:?} in use and has {:?} now", used()?);
    Ok(())
}
