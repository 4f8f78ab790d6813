//! Pools and networks for tests of sharing.

use super::gpu::Gpu;
use sublet::device::{ArenaPool, DeviceWatch, Lane, PoolOptions, block_on};
use sublet::exec::{ExecError, Network, PooledNetwork, Program};
use sublet::graph::Graph;
use sublet::model::zoo;

/// A pool on that device.
pub fn pool(gpu: &Gpu, options: PoolOptions) -> ArenaPool {
    ArenaPool::new(&gpu.device, &gpu.queue, &DeviceWatch::install(&gpu.device), options)
}

/// A network of the repository's: built in, or a file of tests/data.
pub fn graph(name: &str) -> Graph {
    zoo::build(name).unwrap_or_else(|| {
        let path = format!("{}/tests/data/{name}.onnx", env!("CARGO_MANIFEST_DIR"));
        sublet::model::onnx::load(path.as_ref(), &Default::default()).unwrap()
    })
}

/// The same graph with an input of its own, so that outputs cannot be taken for another network's.
pub fn inputs(program: &Program, seed: u32) -> Vec<Vec<f32>> {
    let value = |i: u32| ((i.wrapping_mul(7919).wrapping_add(seed * 104_729)) % 1000) as f32 / 1000.0;
    let lens = program.graph.inputs.iter().map(|id| program.graph.get(*id).len() as u32);
    lens.map(|len| (0..len).map(value).collect()).collect()
}

/// A session in a pool.
pub fn join(pool: &ArenaPool, graph: Graph, lane: Lane) -> PooledNetwork {
    pool.block_on(PooledNetwork::compile(pool, graph, lane)).unwrap()
}

/// One run in the pool.
pub fn run(network: &PooledNetwork, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, ExecError> {
    network.session().pool().block_on(network.run(inputs))
}

/// What a network computes alone, on a device without a pool, and the device bytes that it takes there.
pub fn alone(gpu: &Gpu, graph: Graph, inputs: &[Vec<f32>]) -> (Vec<Vec<f32>>, u64) {
    let network = block_on(&gpu.device, Network::compile(&gpu.device, &gpu.queue, graph)).unwrap();
    let outputs = block_on(&gpu.device, network.run(inputs)).unwrap();
    let weights = network.resident().weights_bytes();
    (outputs, network.arena().bytes() + weights + network.io_bytes() + network.other_bytes())
}

/// The bits of outputs, so that equal means equal.
pub fn bits(outputs: &[Vec<f32>]) -> Vec<Vec<u32>> {
    outputs.iter().map(|o| o.iter().map(|x| x.to_bits()).collect()).collect()
}
