//! Networks that share one pool on a Vulkan driver: right bits, and memory that is what was promised.
#![cfg(feature = "cli")]

mod support;

use sublet::device::{
    ArenaPool, DeviceError, DeviceWatch, Lane, MemoryWitness, PoolOptions, SessionSpec, block_on,
};
use sublet::exec::PooledNetwork;
use sublet::plan::{Alignment, Planner, Problem};
use support::gpu::Gpu;
use support::graphs::{chain, same_tensor_twice};
use support::pool::{alone, bits, graph, inputs, join, pool, run};
use wgpu::PollType;

const EIGHT: [&str; 8] = [
    "rten_mnist",
    "tiny_resnet_se_64",
    "blazeface",
    "squeezenet",
    "rten_mnist",
    "tiny_resnet_se_64",
    "blazeface",
    "tiny_resnet_se_64",
];

fn used_bytes(gpu: &Gpu) -> u64 {
    gpu.device.poll(PollType::wait_indefinitely()).unwrap();
    MemoryWitness::sample(&gpu.device).used_bytes.expect("Vulkan reports its allocator")
}

/// The allocator rounds each buffer up, to no more than 256 bytes.
fn close(gpu: &Gpu, before: u64, pool: &ArenaPool) {
    let (used, held) = (used_bytes(gpu) - before, pool.report().total.reserved_bytes);
    let buffers = u64::try_from(gpu.device.get_internal_counters().hal.buffers.read()).unwrap();
    let report = pool.report();
    assert!(used.abs_diff(held) <= 256 * buffers, "allocator {used}, ledger {held}, {buffers}\n{report}");
}

/// Joins networks, runs each twice in turn, and holds bytes and bits against separate sessions.
fn share(names: &[&str]) {
    let gpu = Gpu::vulkan(|_| ());
    let mut expected = Vec::new();
    for (seed, name) in names.iter().enumerate() {
        let program = gpu.program(graph(name));
        let inputs = inputs(&program, seed as u32);
        let (outputs, bytes) = alone(&gpu, graph(name), &inputs);
        expected.push((inputs, outputs, bytes));
    }
    let before = used_bytes(&gpu);
    let pool = pool(&gpu, PoolOptions::default());
    let networks: Vec<_> = names.iter().map(|name| join(&pool, graph(name), Lane(0))).collect();
    for _ in 0..2 {
        for (network, (inputs, outputs, _)) in networks.iter().zip(&expected) {
            assert_eq!(bits(&run(network, inputs).unwrap()), bits(outputs));
        }
    }
    let report = pool.report();
    let largest = report.sessions.iter().map(|s| s.arena_bytes).max().unwrap();
    let state: u64 = report.sessions.iter().map(|s| s.state_bytes).sum();
    let weights = report.label("weights");
    assert_eq!(report.total.reserved_bytes, weights.reserved_bytes + largest + state, "{report}");
    // Blocks of weights hold nothing but distinct weights, each aligned.
    let count: usize = networks.iter().map(|n| n.program().constant_operands().count()).sum();
    assert!(weights.reserved_bytes - weights.in_use_bytes <= 256 * count as u64, "{report}");
    let mut distinct: Vec<&str> = names.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let of =
        |name: &&str| report.sessions.iter().find(|s| s.label == graph(name).name).unwrap().weights_bytes;
    assert_eq!(weights.in_use_bytes, distinct.iter().map(of).sum::<u64>(), "{report}");
    let separate: u64 = expected.iter().map(|(_, _, bytes)| bytes).sum();
    assert!(report.total.reserved_bytes < separate, "{} of {separate}", report.total.reserved_bytes);
    close(&gpu, before, &pool);
    drop(networks);
    assert_eq!(pool.report().total.reserved_bytes, 0);
    close(&gpu, before, &pool);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn two_networks_take_their_weights_the_larger_peak_and_their_state() {
    share(&["squeezenet", "blazeface"]);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn eight_networks_take_distinct_weights_the_largest_peak_and_their_state() {
    share(&EIGHT);
}

/// Eight equal networks have the pipelines of one, in the driver as well.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn eight_equal_networks_compile_once() {
    let gpu = Gpu::vulkan(|_| ());
    let counted = || gpu.device.get_internal_counters().hal.compute_pipelines.read();
    // wgpu has some of its own.
    let before = counted();
    let compiled = || counted() - before;
    let pool = pool(&gpu, PoolOptions::default());
    let first = join(&pool, graph("tiny_resnet_se_64"), Lane(0));
    let inputs = inputs(first.program(), 4);
    let (one, expected) = (compiled(), bits(&run(&first, &inputs).unwrap()));
    assert!(one > 3 && one as usize == pool.report().pipelines, "{one}");
    let others: Vec<_> = (1..8).map(|i| join(&pool, graph("tiny_resnet_se_64"), Lane(i % 2))).collect();
    assert_eq!((compiled(), pool.report().pipelines), (one, one as usize));
    assert!(others.iter().all(|network| bits(&run(network, &inputs).unwrap()) == expected));
    assert_eq!(compiled(), one, "nor do runs compile any");
}

/// Cases 18 and 19: a thousand runs, of three sessions in turn; nothing is allocated after the first round.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn case_18_and_19_a_thousand_runs_stay_flat_after_the_second() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let graphs = [graph("rten_mnist"), same_tensor_twice(1000), chain(257, 9)];
    let networks: Vec<_> = graphs.into_iter().map(|graph| join(&pool, graph, Lane(0))).collect();
    let inputs: Vec<_> = networks.iter().map(|n| inputs(n.program(), 1)).collect();
    let round = || networks.iter().zip(&inputs).map(|(n, i)| bits(&run(n, i).unwrap())).collect::<Vec<_>>();
    let first = round();
    let (report, used) = (pool.report(), used_bytes(&gpu));
    for _ in 1..334 {
        assert_eq!(round(), first);
    }
    let after = pool.report();
    assert_eq!((after.labels, after.total), (report.labels, report.total));
    assert_eq!(after.lane_changes, report.lane_changes, "no buffer was replaced");
    assert_eq!(used_bytes(&gpu), used);
    assert_eq!(after.sessions.iter().map(|s| s.runs).sum::<u64>(), 3 * 334 + 3, "joining leases once");
}

/// Case 20: memory goes back while the session stays, the allocator says so, and the next run is right.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn case_20_trim_returns_memory_and_the_next_run_works() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let network = join(&pool, graph("squeezenet"), Lane(0));
    let inputs = inputs(network.program(), 3);
    let expected = bits(&run(&network, &inputs).unwrap());
    let full = used_bytes(&gpu);
    let arenas = pool.report().label("lane 0 arena 0").reserved_bytes;
    assert_eq!(pool.trim(), arenas);
    let trimmed = used_bytes(&gpu);
    assert!((full - trimmed).abs_diff(arenas) <= 256, "{full} - {trimmed} against {arenas}");
    assert_eq!(bits(&run(&network, &inputs).unwrap()), expected);
    assert_eq!(used_bytes(&gpu), full);
    // Trimmed from another thread while runs go on.
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| (0..5).map(|_| bits(&run(&network, &inputs).unwrap())).collect::<Vec<_>>());
        while !runs.is_finished() {
            pool.trim();
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(runs.join().unwrap().iter().all(|outputs| *outputs == expected));
    });
}

/// Case 23: what the device held before is not the pool's, and small sessions do not reserve large blocks.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn case_23_a_baseline_of_200_mib_is_subtracted() {
    let gpu = Gpu::vulkan(|_| ());
    let descriptor = |size| wgpu::BufferDescriptor {
        label: Some("somebody else's"),
        size,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    };
    let _theirs = [100u64 << 20; 2].map(|size| gpu.device.create_buffer(&descriptor(size)));
    let baseline = MemoryWitness::sample(&gpu.device);
    assert!(baseline.used_bytes.unwrap() >= 200 << 20);
    let pool = pool(&gpu, PoolOptions::default());
    let _network = join(&pool, graph("squeezenet"), Lane(0));
    gpu.device.poll(PollType::wait_indefinitely()).unwrap();
    let ours = MemoryWitness::sample(&gpu.device).since(baseline);
    let held = pool.report().total.reserved_bytes;
    close(&gpu, baseline.used_bytes.unwrap(), &pool);
    let reserved = ours.reserved_bytes.unwrap();
    assert!(reserved >= held && reserved - held <= 8 << 20, "blocks of 4 MiB: {reserved} for {held}");
}

/// A weight that two networks have is on the device once; taking one network away leaves it to the other.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn equal_weights_of_two_sessions_lie_there_once_and_stay_for_the_other() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let first = join(&pool, graph("tiny_resnet_se_64"), Lane(0));
    let once = pool.report().label("weights").reserved_bytes;
    let second = join(&pool, graph("tiny_resnet_se_64"), Lane(1));
    assert_eq!(pool.report().label("weights").reserved_bytes, once);
    let inputs = inputs(first.program(), 5);
    let expected = bits(&run(&first, &inputs).unwrap());
    assert_eq!(bits(&run(&second, &inputs).unwrap()), expected);
    drop(first);
    assert_eq!(bits(&run(&second, &inputs).unwrap()), expected);
    assert_eq!(pool.report().label("weights").reserved_bytes, once);
}

/// Case 22, two of its three: over a limit and lost. A pool that was rebuilt on a new device is right again.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn case_22_a_lost_device_is_said_everywhere_and_a_new_one_brings_the_pool_back() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let network = join(&pool, graph("blazeface"), Lane(0));
    let inputs = inputs(network.program(), 2);
    let expected = bits(&run(&network, &inputs).unwrap());
    let mut problem = Problem::new(Alignment::new(256).unwrap());
    problem.tensor("too large", gpu.limits.max_binding_bytes + 4, 0..=1).unwrap();
    let plan = Planner::auto().plan(&problem).unwrap();
    match block_on(&gpu.device, pool.join(SessionSpec::new("over", &problem, &plan))) {
        Err(DeviceError::OverLimit { what, .. }) => assert_eq!(what, "too large"),
        other => panic!("{other:?}"),
    }
    gpu.device.destroy();
    let lost = |result: Result<(), sublet::exec::ExecError>| match result {
        Err(sublet::exec::ExecError::Device(DeviceError::Lost { .. })) => {}
        other => panic!("not lost: {other:?}"),
    };
    lost(run(&network, &inputs).map(|_| ()));
    lost(block_on(&gpu.device, network.session().lease()).map(|_| ()).map_err(Into::into));
    let compiled = block_on(&gpu.device, PooledNetwork::compile(&pool, graph("rten_mnist"), Lane(0)));
    lost(compiled.map(|_| ()));
    assert!(matches!(
        pool.explain(DeviceError::ArenaCount { needed: 1, given: 0 }),
        DeviceError::Lost { .. }
    ));
    let new = Gpu::vulkan(|_| ());
    let watch = DeviceWatch::install(&new.device);
    block_on(&new.device, pool.rebuild(&new.device, &new.queue, &watch)).unwrap();
    assert_eq!(bits(&run(&network, &inputs).unwrap()), expected);
    let report = pool.report();
    assert_eq!((report.rebuilds, report.sessions.len()), (1, 1));
    let state: u64 = report.sessions.iter().map(|s| s.state_bytes + s.arena_bytes).sum();
    assert_eq!(report.total.reserved_bytes, report.label("weights").reserved_bytes + state, "{report}");
}
