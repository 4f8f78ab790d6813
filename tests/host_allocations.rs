//! What the hot path allocates on the host after warm-up: counted by an allocator of the test's own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use sublet::plan::{Alignment, Block, Recorder, Synthetic};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands every call to the system's allocator; the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread during a call.
fn allocations<T>(call: impl FnOnce() -> T) -> (u64, T) {
    let before = COUNT.with(Cell::get);
    let value = call();
    (COUNT.with(Cell::get) - before, value)
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| std::hint::black_box(vec![1u8; 100])).0, 1);
    assert_eq!(allocations(|| std::hint::black_box(5)).0, 0);
}

/// Sizes as they are allocated; a block is released as soon as more than 20 live.
fn iterate(recorder: &mut Recorder, sizes: &[u64], live: &mut [Option<Block>; 20], shape: u64) {
    recorder.begin(&[shape, 3]).unwrap();
    for (i, size) in sizes.iter().enumerate() {
        if let Some(block) = live[i % 20].take() {
            recorder.release(block).unwrap();
        }
        live[i % 20] = Some(recorder.allocate("block", size * shape).unwrap());
    }
    for block in live.iter_mut().filter_map(Option::take) {
        recorder.release(block).unwrap();
    }
    recorder.end().unwrap();
}

/// A replay allocates nothing, its beginning and end included, whichever of the known shapes it is.
#[test]
fn a_replay_allocates_nothing_on_the_host() {
    let problem = Synthetic::Inference.problem(2000, 3).unwrap();
    let sizes: Vec<u64> = problem.tensors().iter().map(|tensor| tensor.size_bytes()).collect();
    let mut recorder = Recorder::new(Alignment::PORTABLE);
    let mut live = [const { None }; 20];
    let (recording, ()) = allocations(|| iterate(&mut recorder, &sizes, &mut live, 1));
    assert!(recording > 2000, "the negative control: a recorded iteration does allocate ({recording})");
    for shape in [2, 1, 2] {
        iterate(&mut recorder, &sizes, &mut live, shape);
    }
    let (count, ()) = allocations(|| {
        for run in 0..100 {
            iterate(&mut recorder, &sizes, &mut live, 1 + run % 2);
        }
    });
    assert_eq!(count, 0);
    assert_eq!(recorder.report().on_script, 102);
}

#[cfg(feature = "cli")]
mod network {
    use super::allocations;
    use sublet::device::{DeviceLimits, block_on};
    use sublet::exec::{Network, Program, Resident};
    use sublet::kernel::LowerLimits;
    use sublet::model::zoo;
    use sublet::plan::{Alignment, Planner};

    /// A run of a network allocates the same from run to run: nothing grows. What it allocates is wgpu's
    /// recording, and the vectors that hand the outputs to the caller.
    #[test]
    fn a_run_of_a_network_allocates_the_same_every_time() {
        let wanted = wgpu::DeviceDescriptor::default();
        let (device, queue) = wgpu::Device::noop(&wanted);
        let limits = DeviceLimits::new(&device.limits());
        let lower = LowerLimits {
            max_binding_bytes: limits.max_binding_bytes,
            max_workgroups: limits.max_workgroups,
        };
        let graph = zoo::build("mobilenet_v1").unwrap();
        let program = Program::new(graph, Alignment::PORTABLE, lower).unwrap();
        let plan = Planner::auto().plan(&program.usage.problem).unwrap();
        let dispatches = program.dispatch_count();
        let inputs = program.default_inputs();
        let resident = Resident::new(&device, &queue, std::sync::Arc::new(program));
        let resident = std::sync::Arc::new(block_on(&device, resident).unwrap());
        let network = block_on(&device, Network::new(resident, &plan)).unwrap();
        for _ in 0..3 {
            block_on(&device, network.run(&inputs)).unwrap();
        }
        let (run, _) = allocations(|| block_on(&device, network.run(&inputs)).unwrap());
        let (again, _) = allocations(|| block_on(&device, network.run(&inputs)).unwrap());
        let (record, encoder) = allocations(|| network.encode());
        let (finish, _) = allocations(|| encoder.finish());
        println!(
            "{dispatches} dispatches: a run allocates {run} and {again}, record {record}, finish {finish}"
        );
        assert!(run.abs_diff(again) <= run / 50 + 8, "{run} and {again}");
        assert!(record + finish <= run, "a run records once: {record} + {finish} of {run}");
    }
}
