//! Networks in one pool on wgpu's backend that executes nothing: what they compile, they compile once.
#![cfg(feature = "cli")]

mod support;

use std::sync::Arc;
use sublet::device::{ArenaPool, DeviceWatch, Lane, PoolOptions, block_on};
use sublet::exec::{ExecError, Network, PooledNetwork, Program};
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner, Violation};
use support::gpu::Gpu;
use support::graphs::chain;
use support::pool::{graph, inputs, join, pool, run};

/// Pipelines of a network that has a device for itself.
fn alone(gpu: &Gpu, name: &str) -> usize {
    let network = Network::compile(&gpu.device, &gpu.queue, graph(name));
    block_on(&gpu.device, network).unwrap().resident().pipeline_count()
}

fn pipelines(pool: &ArenaPool) -> usize {
    pool.report().pipelines
}

#[test]
fn a_pool_compiles_each_pipeline_once_and_drops_it_with_its_last_network() {
    let gpu = Gpu::noop(|_| ());
    let (mobilenet, blazeface) = (alone(&gpu, "mobilenet_v2"), alone(&gpu, "blazeface"));
    let pool = pool(&gpu, PoolOptions::default());
    let mut networks = vec![join(&pool, graph("mobilenet_v2"), Lane(0))];
    assert!(mobilenet > 3);
    assert_eq!(pipelines(&pool), mobilenet);
    networks.extend((1..8).map(|i| join(&pool, graph("mobilenet_v2"), Lane(i % 3))));
    assert_eq!(pipelines(&pool), mobilenet, "eight networks need what one needs");
    let other = join(&pool, graph("blazeface"), Lane(0));
    let both = pipelines(&pool);
    assert!(both > mobilenet.max(blazeface) && both < mobilenet + blazeface, "some are both's: {both}");
    networks.truncate(1);
    assert_eq!(pipelines(&pool), both);
    drop(networks);
    assert_eq!(pipelines(&pool), blazeface);
    drop(other);
    assert_eq!(pipelines(&pool), 0);
}

#[test]
fn threads_that_join_at_once_compile_each_pipeline_once() {
    let gpu = Gpu::noop(|_| ());
    let wanted = alone(&gpu, "blazeface");
    let pool = pool(&gpu, PoolOptions::default());
    let networks: Vec<_> = std::thread::scope(|scope| {
        let one = |i| {
            let pool = &pool;
            scope.spawn(move || join(pool, graph("blazeface"), Lane(i)))
        };
        let threads: Vec<_> = (0..4).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!((networks.len(), pipelines(&pool)), (4, wanted));
}

/// A plan of another network is refused before the pool makes anything for the session.
#[test]
fn a_plan_of_another_network_cannot_join() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let program = |graph| {
        let limits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
        Arc::new(Program::new(graph, Alignment::new(256).unwrap(), limits).unwrap())
    };
    let (one, other) = (program(chain(257, 9)), program(chain(300, 5)));
    let foreign = Planner::auto().plan(&other.usage.problem).unwrap();
    let joined = pool.block_on(PooledNetwork::join(&pool, "one", one, &foreign, Lane(0)));
    let error = joined.unwrap_err();
    assert!(matches!(error, ExecError::Violation(Violation::OtherProblem { .. })), "{error}");
    assert_eq!(pool.report().sessions.len(), 0);
    assert_eq!(pool.report().total.reserved_high_bytes, 0);
}

/// Pipelines are a device's: on another one they are compiled anew, once again.
#[test]
fn a_pool_that_moves_compiles_anew() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let networks = [join(&pool, chain(257, 9), Lane(0)), join(&pool, chain(300, 5), Lane(1))];
    let wanted = pipelines(&pool);
    assert!(wanted > 0);
    let new = Gpu::noop(|_| ());
    let watch = DeviceWatch::install(&new.device);
    pool.block_on(pool.rebuild(&new.device, &new.queue, &watch)).unwrap();
    assert_eq!(pipelines(&pool), 0, "none on the new device yet");
    for network in &networks {
        run(network, &inputs(network.program(), 1)).unwrap();
    }
    assert_eq!(pipelines(&pool), wanted);
}
