//! Pools under threads, slow readers, lost devices and exhausted memory, on a Vulkan driver.
#![cfg(feature = "cli")]

mod support;

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use sublet::device::{
    ArenaPool, DeviceError, DeviceWatch, Lane, Lease, PoolOptions, Readback, Session, SessionSpec,
};
use sublet::exec::{ExecError, PooledNetwork};
use sublet::graph::Graph;
use sublet::plan::{Alignment, Planner, Problem, TensorId};
use support::gpu::Gpu;
use support::graphs::{chain, odd_shapes, same_tensor_twice};
use support::pool::{alone, bits, graph, inputs, join, pool, run};
use support::random_graph;
use support::random_problem::Random;

/// Eight networks of different kinds, small ones.
fn graphs() -> [Graph; 8] {
    [
        graph("rten_mnist"),
        same_tensor_twice(3000),
        chain(5000, 9),
        graph("tiny_resnet_se_64"),
        odd_shapes(),
        graph("onnx_node/test_convtranspose_dilations/model"),
        random_graph::draw(&mut Random(11), 40),
        graph("onnx_node/test_gemm_default_vector_bias/model"),
    ]
}

/// The networks in a pool, in two lanes.
fn sessions(pool: &ArenaPool) -> Vec<PooledNetwork> {
    let lanes = (0..8).map(|i| Lane(u32::from(i % 4 == 3)));
    graphs().into_iter().zip(lanes).map(|(graph, lane)| join(pool, graph, lane)).collect()
}

type Case = (Vec<Vec<f32>>, Vec<Vec<u32>>);

/// Inputs of their own for each session, and what its network computes for them on a device of its own,
/// without a pool.
fn expected(networks: &[PooledNetwork]) -> Vec<Case> {
    let one = |(i, (network, graph)): (usize, (&PooledNetwork, Graph))| {
        let inputs = inputs(network.program(), i as u32);
        let (outputs, _) = alone(&Gpu::vulkan(|_| ()), graph, &inputs);
        (inputs, bits(&outputs))
    };
    networks.iter().zip(graphs()).enumerate().map(one).collect()
}

fn is_lost(error: &ExecError) -> bool {
    matches!(error, ExecError::Device(DeviceError::Lost { .. }))
}

/// Every thread runs every session in turn, two hundred runs a thread; every result is the network's own.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn eight_threads_and_eight_sessions_make_1600_right_runs() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let networks = sessions(&pool);
    let expected = expected(&networks);
    let before = pool.report();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (networks, expected) = (&networks, &expected);
            scope.spawn(move || {
                for i in 0..200 {
                    let at = (thread + i) % 8;
                    let outputs = run(&networks[at], &expected[at].0).unwrap();
                    assert_eq!(bits(&outputs), expected[at].1, "thread {thread}, run {i}");
                }
            });
        }
    });
    let after = pool.report();
    assert_eq!((after.total, after.lane_changes), (before.total, before.lane_changes));
    assert_eq!(after.sessions.iter().map(|s| s.runs).sum::<u64>(), 1600 + 8, "joining leases once");
}

/// Sessions come, grow the lanes, leave and are trimmed away while eight threads run others.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn joining_leaving_and_trimming_disturb_no_run() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let networks = sessions(&pool);
    let expected = expected(&networks);
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (networks, expected, done) = (&networks, &expected, &done);
            scope.spawn(move || {
                for i in 0..40 {
                    let at = (thread + i) % 8;
                    let outputs = run(&networks[at], &expected[at].0).unwrap();
                    assert_eq!(bits(&outputs), expected[at].1, "thread {thread}, run {i}");
                }
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        let mut size = 10_000;
        while done.load(Ordering::SeqCst) < 8 {
            let guest = join(&pool, chain(size, 4), Lane(size as u32 % 2));
            assert!(run(&guest, &inputs(guest.program(), 1)).is_ok());
            drop(guest);
            pool.trim();
            size += 1001;
        }
        assert!(size > 11_001, "several guests came");
    });
    let report = pool.report();
    drop((networks, pool));
    assert!(report.lane_changes > 4, "{report}");
}

/// The device goes while eight threads run, and a new one comes while they go on asking: every answer is
/// right or says that the device is lost, and in the end all are right.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn a_device_destroyed_in_the_middle_gives_no_wrong_result_and_no_deadlock() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let networks = sessions(&pool);
    let expected = expected(&networks);
    let (runs, losses) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rebuilt = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (networks, expected) = (&networks, &expected);
            let (runs, losses, rebuilt) = (&runs, &losses, &rebuilt);
            scope.spawn(move || {
                let (mut right, mut tried) = (0, 0);
                while right < 200 {
                    tried += 1;
                    let at = (thread + tried) % 8;
                    match run(&networks[at], &expected[at].0) {
                        Ok(outputs) => {
                            assert_eq!(bits(&outputs), expected[at].1, "thread {thread}, run {tried}");
                            right += 1;
                            runs.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(error) => {
                            assert!(is_lost(&error), "{error}");
                            losses.fetch_add(1, Ordering::SeqCst);
                            let after = rebuilt.load(Ordering::SeqCst);
                            assert!(!after || tried < 100_000, "no way back after the device came");
                            std::thread::sleep(Duration::from_millis(1));
                        }
                    }
                }
            });
        }
        while runs.load(Ordering::SeqCst) < 400 {
            std::thread::sleep(Duration::from_millis(1));
        }
        gpu.device.destroy();
        while losses.load(Ordering::SeqCst) < 16 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let new = Gpu::vulkan(|_| ());
        let watch = DeviceWatch::install(&new.device);
        pool.block_on(pool.rebuild(&new.device, &new.queue, &watch)).unwrap();
        rebuilt.store(true, Ordering::SeqCst);
    });
    assert_eq!(runs.load(Ordering::SeqCst), 1600);
    assert!(losses.load(Ordering::SeqCst) >= 16);
    assert_eq!(pool.report().rebuilds, 1);
}

/// Mesa's software driver ends a shader's loops after 65,535 iterations in all, so no slower than this.
const SLOW: &str = "
    @group(0) @binding(0) var<storage, read_write> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        var sum = 0u;
        for (var round = 0u; round < 8u; round++) {
            for (var i = 0u; i < arrayLength(&x); i++) { sum = sum * 31u + x[i]; }
        }
        if id.x < arrayLength(&sums) { sums[id.x] = sum + id.x; }
    }";
const CLOBBER: &str = "
    @group(0) @binding(0) var<storage, read_write> sums: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&y) { y[id.x] = 0xdeadbeefu + sums[id.x % 64u]; }
    }";
const WORDS: u64 = 4096;

struct Slow {
    session: Session,
    tensors: [TensorId; 3],
    readback: Readback,
    pipelines: [wgpu::ComputePipeline; 2],
}

impl Slow {
    /// x, written in step 0 and read in step 1; sums, kept; y, which takes the bytes of x in step 2.
    fn join(gpu: &Gpu, pool: &ArenaPool, label: &str) -> Self {
        let mut problem = Problem::new(Alignment::new(256).unwrap());
        let x = problem.tensor("x", WORDS * 4, 0..=1).unwrap();
        let sums = problem.tensor("sums", 256, 1..=3).unwrap();
        let y = problem.tensor("y", WORDS * 4, 2..=3).unwrap();
        let plan = Planner::auto().plan(&problem).unwrap();
        assert_eq!(plan.offset_bytes(x), plan.offset_bytes(y), "the bytes are reused at once");
        let spec = SessionSpec::new(label, &problem, &plan).state("input", WORDS * 4).state("result", 256);
        let session = pool.block_on(pool.join(spec)).unwrap();
        let readback = pool.block_on(Readback::new(&gpu.device, &gpu.queue, 256)).unwrap();
        Slow { session, tensors: [x, sums, y], readback, pipelines: Self::pipelines(gpu) }
    }

    fn pipelines(gpu: &Gpu) -> [wgpu::ComputePipeline; 2] {
        [SLOW, CLOBBER].map(|wgsl| {
            let source = wgpu::ShaderSource::Wgsl(wgsl.into());
            let module =
                gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
            gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                cache: None,
            })
        })
    }

    fn dispatch(
        &self,
        lease: &Lease,
        encoder: &mut wgpu::CommandEncoder,
        (pipeline, groups): (&wgpu::ComputePipeline, u32),
        operands: [TensorId; 2],
    ) {
        let views = operands.map(|tensor| lease.view(tensor).unwrap());
        let entries = [0, 1].map(|i| lease.bind_entry(&views[i], i as u32).unwrap());
        let layout = &pipeline.get_bind_group_layout(0);
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        let group = lease.device().create_bind_group(&descriptor);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(groups, 1, 1);
    }

    /// The input rides in the run's own command buffer, the result leaves in it.
    fn run(&self, seed: u32) -> Vec<u32> {
        let pool = self.session.pool();
        let lease = pool.block_on(self.session.lease()).unwrap();
        let data: Vec<u32> = (0..WORDS as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ seed).collect();
        let (input, result) = (lease.state(0).unwrap(), lease.state(1).unwrap().clone());
        lease.queue().write_buffer(input, 0, bytemuck::cast_slice(&data));
        let mut encoder = lease.device().create_command_encoder(&Default::default());
        let [x, sums, y] = self.tensors;
        let at = lease.view(x).unwrap();
        let to = lease.resolve(&at).unwrap();
        encoder.copy_buffer_to_buffer(input, 0, to.buffer, to.bytes.start, WORDS * 4);
        let [slow, clobber] = &self.pipelines;
        self.dispatch(&lease, &mut encoder, (slow, 1), [x, sums]);
        self.dispatch(&lease, &mut encoder, (clobber, WORDS as u32 / 64), [sums, y]);
        let at = lease.view(sums).unwrap();
        let from = lease.resolve(&at).unwrap();
        encoder.copy_buffer_to_buffer(from.buffer, from.bytes.start, &result, 0, 256);
        lease.queue().submit([encoder.finish()]);
        let _state = lease.end_turn();
        pool.block_on(self.readback.read(None, &[(&result, 0..256)])).unwrap()
    }

    fn expected(seed: u32) -> Vec<u32> {
        let data = || (0..WORDS as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ seed);
        let add = |sum: u32, x: u32| sum.wrapping_mul(31).wrapping_add(x);
        let sum = (0..8).fold(0u32, |sum, _| data().fold(sum, add));
        (0..64).map(|i| sum.wrapping_add(i)).collect()
    }
}

/// Case 21: a slow reader of a tensor whose bytes the next dispatch reuses.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn case_21_a_slow_reader_is_right_200_times_of_200() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let wrong = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (gpu, pool, wrong) = (&gpu, &pool, &wrong);
            scope.spawn(move || {
                let slow = Slow::join(gpu, pool, &format!("reader {thread}"));
                for i in 0..50 {
                    let seed = thread * 1000 + i;
                    let right = slow.run(seed) == Slow::expected(seed);
                    wrong.fetch_add(usize::from(!right), Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(wrong.load(Ordering::SeqCst), 0, "of 200");
}

/// Eight tensors that live together, as large as one buffer may be, up to a GiB.
fn huge(gpu: &Gpu, lane: Lane) -> SessionSpec {
    let bytes = gpu.limits.max_buffer_bytes.min(1 << 30) / 8 / 256 * 256;
    let mut problem = Problem::new(Alignment::new(256).unwrap());
    for i in 0..8 {
        problem.tensor(format!("huge {i}"), bytes, 0..=1).unwrap();
    }
    let plan = Planner::auto().plan(&problem).unwrap();
    SessionSpec::new("huge", &problem, &plan).lane(lane)
}

/// What the child of the next test does: uses up its memory, in whole lanes, and goes on with what it has.
fn exhaust_memory() {
    let gpu = Gpu::vulkan(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let network = join(&pool, graph("rten_mnist"), Lane(0));
    let inputs = inputs(network.program(), 1);
    let expected = bits(&run(&network, &inputs).unwrap());
    let mut held = Vec::new();
    let refused = loop {
        match pool.block_on(pool.join(huge(&gpu, Lane(held.len() as u32 + 1)))) {
            Ok(session) => held.push(session),
            Err(error) => break error,
        }
        assert!(held.len() < 12, "the limit on this process is not effective");
    };
    assert!(matches!(refused, DeviceError::OutOfMemory { .. }), "{refused}");
    let before = pool.report();
    // The network's own lane cannot grow either: it keeps what it has, and works.
    let refused = pool.block_on(pool.join(huge(&gpu, Lane(0)))).unwrap_err();
    assert!(matches!(refused, DeviceError::OutOfMemory { .. }), "{refused}");
    assert_eq!(pool.report(), before);
    assert_eq!(bits(&run(&network, &inputs).unwrap()), expected);
    println!("out of memory after {} lanes: {refused}", held.len());
}

/// Case 22, the third: really out of memory. In a process of its own, whose address space is limited.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn case_22_out_of_memory_is_an_error_and_the_old_arenas_still_work() {
    const CHILD: &str = "SUBLET_TEST_EXHAUSTS_MEMORY";
    if std::env::var_os(CHILD).is_some() {
        return exhaust_memory();
    }
    let this = std::env::current_exe().unwrap();
    let name = "case_22_out_of_memory_is_an_error_and_the_old_arenas_still_work";
    let child = Command::new("sh")
        .args(["-c", "ulimit -v 9000000 && exec \"$0\" \"$@\""])
        .arg(this)
        .args([name, "--exact", "--include-ignored", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    assert!(said.contains("out of memory after"), "{said}");
}
