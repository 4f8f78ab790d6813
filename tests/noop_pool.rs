//! The logic of pools on wgpu's backend that executes nothing: what is shared, what is refused, what keys and
//! views mean after something changed, and that the ledger is right to the byte.
#![cfg(feature = "cli")]

mod support;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use sublet::device::{
    ArenaPool, DeviceArena, DeviceError, DeviceWatch, Extend, Lane, PoolOptions, Readback, Session,
    SessionSpec, Weight, block_on, required,
};
use sublet::plan::{Alignment, Plan, Planner, Problem};
use support::gpu::Gpu;
use wgpu::{BufferDescriptor, BufferUsages};

/// A chain of tensors of these sizes, each read by the step after its own.
fn chain(sizes: &[u64]) -> (Problem, Plan) {
    let mut problem = Problem::new(Alignment::new(256).unwrap());
    for (step, bytes) in sizes.iter().enumerate() {
        problem.tensor(format!("t{step}"), *bytes, step as u32..=step as u32 + 1).unwrap();
    }
    let plan = Planner::auto().plan(&problem).unwrap();
    (problem, plan)
}

fn spec(label: &str, sizes: &[u64]) -> SessionSpec {
    let (problem, plan) = chain(sizes);
    SessionSpec::new(label, &problem, &plan)
}

fn pool(gpu: &Gpu, options: PoolOptions) -> ArenaPool {
    ArenaPool::new(&gpu.device, &gpu.queue, &DeviceWatch::install(&gpu.device), options)
}

fn join(pool: &ArenaPool, spec: SessionSpec) -> Result<Session, DeviceError> {
    block_on(&pool.device(), pool.join(spec))
}

/// Polls once.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[test]
fn required_tells_bytes_or_the_limit_before_anything_is_allocated() {
    let gpu = Gpu::noop(|_| ());
    let (problem, plan) = chain(&[1000, 3000, 500]);
    let asked = required(&problem, &plan, &gpu.limits).unwrap();
    let arena = block_on(&gpu.device, DeviceArena::new(&gpu.device, &problem, &plan)).unwrap();
    assert_eq!(asked.total_bytes(), arena.bytes());
    assert_eq!(asked.arenas, arena.buffers().iter().map(wgpu::Buffer::size).collect::<Vec<_>>());
    let (problem, plan) = chain(&[4096, 200 << 20]);
    match required(&problem, &plan, &gpu.limits) {
        Err(DeviceError::OverLimit { what, needed_bytes, limit, available_bytes }) => {
            assert_eq!((what.as_str(), limit), ("t1", "max_storage_buffer_binding_size"));
            assert_eq!((needed_bytes, available_bytes), (200 << 20, 128 << 20));
        }
        other => panic!("{other:?}"),
    }
    let (problem, plan) = chain(&[120 << 20, 120 << 20, 120 << 20]);
    let small = sublet::device::DeviceLimits { max_buffer_bytes: 200 << 20, ..gpu.limits };
    match required(&problem, &plan, &small) {
        Err(DeviceError::OverLimit { limit, needed_bytes, .. }) => {
            assert_eq!((limit, needed_bytes), ("max_buffer_size", 240 << 20));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_engines_own_buffers_are_checked_and_viewed_exactly() {
    let gpu = Gpu::noop(|_| ());
    let (problem, plan) = chain(&[1000, 3000, 500]);
    let (longer, _) = chain(&[500; 6]);
    let needed = plan.peak_bytes();
    let buffer = |size, usage| {
        gpu.device.create_buffer(&BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let own = buffer(needed + 1024, BufferUsages::STORAGE);
    let within = |ranges: &[wgpu::BufferSlice<'_>]| {
        DeviceArena::in_buffers(&gpu.limits, &problem, &plan, ranges).map(|arena| {
            let view = arena.view(problem.lookup("t1").unwrap()).unwrap();
            assert!(arena.view(longer.lookup("t5").unwrap()).is_none(), "an id of another problem");
            (arena.bytes(), view.bytes)
        })
    };
    let offset = plan.offset_bytes(problem.lookup("t1").unwrap());
    assert_eq!(within(&[own.slice(512..)]).unwrap(), (needed, 512 + offset..512 + offset + 3000));
    assert!(matches!(within(&[]), Err(DeviceError::ArenaCount { needed: 1, given: 0 })));
    assert!(matches!(within(&[own.slice(100..)]), Err(DeviceError::Alignment { offset_bytes: 100, .. })));
    let short = within(&[own.slice(512..needed)]);
    assert_eq!(
        short,
        Err(DeviceError::TooSmall {
            what: "arena 0".into(),
            needed_bytes: needed,
            given_bytes: needed - 512
        })
    );
    let copies = buffer(needed, BufferUsages::COPY_DST);
    assert!(within(&[copies.slice(..)]).unwrap_err().to_string().contains("not STORAGE"));
    // Two arenas in one buffer.
    let limit = Planner::auto().max_buffer_bytes(3072);
    let plan = limit.plan(&problem).unwrap();
    assert_eq!(plan.arenas().len(), 2);
    let large = buffer(1 << 20, BufferUsages::STORAGE);
    let twice = [large.slice(..4096), large.slice(4096..)];
    let refused = DeviceArena::in_buffers(&gpu.limits, &problem, &plan, &twice).unwrap_err();
    assert!(refused.to_string().contains("its buffer is that of arena 0"), "{refused}");
}

#[test]
fn sessions_of_a_lane_share_the_largest_and_other_lanes_share_nothing() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let small = join(&pool, spec("small", &[1024, 1024]).state("cache", 4096)).unwrap();
    let large = join(&pool, spec("large", &[8192, 8192]).state("cache", 512)).unwrap();
    let apart = join(&pool, spec("apart", &[1024, 2048]).lane(Lane(7))).unwrap();
    let report = pool.report();
    assert_eq!(report.label("lane 0 arena 0").reserved_bytes, 16384, "{report}");
    assert_eq!(report.label("lane 7 arena 0").reserved_bytes, 3072, "{report}");
    assert_eq!(report.label("state").reserved_bytes, 4608, "{report}");
    assert_eq!(report.total.reserved_bytes, 16384 + 3072 + 4608);
    assert_eq!(report.total.in_use_bytes, report.total.reserved_bytes);
    assert!(report.to_string().contains("apart"));
    let buffer = |session: &Session| {
        let lease = block_on(&gpu.device, session.lease()).unwrap();
        lease.arenas().next().unwrap().clone()
    };
    assert_eq!(buffer(&small), buffer(&large));
    assert_ne!(buffer(&small), buffer(&apart));
    let state = |session: &Session| block_on(&gpu.device, session.lease()).unwrap().state(0).cloned();
    assert_ne!(state(&small), state(&large), "nobody shares state");
    drop(large);
    assert_eq!(pool.report().label("lane 0 arena 0").reserved_bytes, 0, "what is dead goes at once");
    drop(buffer(&small));
    assert_eq!(pool.report().label("lane 0 arena 0").reserved_bytes, 2048);
    drop((small, apart));
    assert_eq!(pool.report().total.reserved_bytes, 0);
    assert_eq!(pool.report().total.in_use_bytes, 0);
}

#[test]
fn equal_weights_are_held_once_and_go_with_their_last_user() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let large = |name, value: f32| Weight::new(name, vec![value; 16_384]);
    let (small, k64) = (|value: f32| Weight::new("small", vec![value; 64]), 65_536);
    let ones = || large("ones", 1.0);
    let a = spec("a", &[4]).weight(ones()).weight(large("twos", 2.0)).weight(ones()).weight(small(0.5));
    let a = join(&pool, a.weight(small(0.5)).weight(small(0.25))).unwrap();
    assert_eq!(pool.report().label("weights").reserved_bytes, 2 * k64 + 512, "tied weights are one");
    let other = large("the same under another name", 2.0);
    let b = join(&pool, spec("b", &[4]).weight(other).weight(small(0.5))).unwrap();
    let report = pool.report();
    assert_eq!(report.label("weights").reserved_bytes, 2 * k64 + 512 + 256);
    assert_eq!(report.sessions[0].weights_bytes, 2 * k64 + 512);
    assert_eq!(report.sessions[0].shared_weights_bytes, k64);
    let place = |session: &Session, weight| {
        let lease = block_on(&gpu.device, session.lease()).unwrap();
        let view = lease.weight(weight).unwrap();
        (view.buffer.clone(), view.bytes)
    };
    assert_eq!(place(&a, 1), place(&b, 0));
    assert_eq!(place(&a, 0), place(&a, 2));
    assert_eq!(place(&a, 3), place(&a, 4));
    assert_ne!(place(&a, 0), place(&a, 1));
    // A small weight does not keep the others of its session there.
    drop(a);
    let left = pool.report().label("weights");
    assert_eq!((left.in_use_bytes, left.reserved_bytes), (k64 + 256, k64 + 256));
    let c = join(&pool, spec("c", &[4]).weight(small(0.5))).unwrap();
    assert_eq!(place(&c, 0), place(&b, 1), "all of the small ones are the same");
    drop((b, c));
    assert_eq!(pool.report().label("weights").reserved_bytes, 0);
}

#[test]
fn keyed_weights_are_not_read_again_and_lies_about_their_size_are_refused() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    struct Unread;
    impl sublet::device::WeightSource for Unread {
        fn bytes(&self) -> std::borrow::Cow<'_, [u8]> {
            panic!("a key that is held is not read again")
        }
    }
    let _a = join(&pool, spec("a", &[4]).weight(Weight::keyed("w", "file/w", 64, vec![7u8; 64]))).unwrap();
    let _b = join(&pool, spec("b", &[4]).weight(Weight::keyed("w", "file/w", 64, Unread))).unwrap();
    assert_eq!(pool.report().label("weights").reserved_bytes, 64);
    let wrong = spec("c", &[4]).weight(Weight::keyed("w", "file/w", 32, vec![7u8; 32]));
    assert!(join(&pool, wrong).unwrap_err().to_string().contains("64 bytes in 'w', here 32"));
    let short = spec("d", &[4]).weight(Weight::keyed("v", "file/v", 64, vec![7u8; 32]));
    let refused = join(&pool, short).unwrap_err();
    assert_eq!(refused, DeviceError::TooSmall { what: "v".into(), needed_bytes: 64, given_bytes: 32 });
    assert_eq!(pool.report().label("weights").reserved_bytes, 64, "nothing of what was refused stays");
}

#[test]
fn what_left_fails_and_never_means_another() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let (problem, plan) = chain(&[1024, 1024]);
    let tensor = problem.lookup("t0").unwrap();
    let first = join(&pool, SessionSpec::new("first", &problem, &plan)).unwrap();
    let key = first.key();
    let view = block_on(&gpu.device, first.lease()).unwrap().view(tensor).unwrap();
    drop(first);
    assert!(!pool.contains(key) && !pool.contains_arena(view.arena));
    // The same slot is taken by another session.
    let second = join(&pool, SessionSpec::new("second", &problem, &plan)).unwrap();
    assert_ne!(second.key(), key);
    assert!(matches!(block_on(&gpu.device, pool.lease(key)), Err(DeviceError::Gone { .. })));
    assert!(matches!(pool.leave(key), Err(DeviceError::Gone { .. })));
    let lease = block_on(&gpu.device, second.lease()).unwrap();
    assert!(matches!(lease.bind_entry(&view, 0), Err(DeviceError::Gone { .. })));
    assert!(lease.bind_entry(&lease.view(tensor).unwrap(), 0).is_ok());
    drop(lease);
    // Ended by another hand: the holder's calls are errors, and so is ending it once more.
    pool.leave(second.key()).unwrap();
    assert!(matches!(block_on(&gpu.device, second.lease()), Err(DeviceError::Gone { .. })));
    drop(second);
    assert_eq!(pool.report().total.reserved_bytes, 0);
}

#[test]
fn growth_replaces_buffers_and_old_views_are_errors() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let (problem, plan) = chain(&[1024, 1024]);
    let tensor = problem.lookup("t0").unwrap();
    let session = join(&pool, SessionSpec::new("small", &problem, &plan)).unwrap();
    let lease = block_on(&gpu.device, session.lease()).unwrap();
    let (before, view) = (lease.generation(), lease.view(tensor).unwrap());
    let large = join(&pool, spec("large", &[8192, 8192])).unwrap();
    // The run that is going on is not disturbed; both buffers are there, and counted.
    assert!(lease.resolve(&view).is_ok());
    assert!(!pool.contains_arena(view.arena), "it is not handed out any more");
    assert_eq!(pool.report().label("lane 0 arena 0").reserved_bytes, 2048 + 16384);
    drop(lease);
    assert_eq!(pool.report().label("lane 0 arena 0").reserved_bytes, 16384);
    let lease = block_on(&gpu.device, session.lease()).unwrap();
    assert_ne!(lease.generation(), before);
    assert!(lease.generation().same_device(before));
    assert!(matches!(lease.resolve(&view), Err(DeviceError::Gone { .. })));
    assert_eq!(lease.view(tensor).unwrap().bytes, view.bytes, "the offset is the plan's");
    drop((lease, large));
}

#[test]
fn a_lane_is_leased_to_one_at_a_time_and_lanes_do_not_wait_for_each_other() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let a = join(&pool, spec("a", &[64])).unwrap();
    let b = join(&pool, spec("b", &[64])).unwrap();
    let c = join(&pool, spec("c", &[64]).lane(Lane(1))).unwrap();
    let lease = ready(a.lease()).expect("nobody has it").unwrap();
    assert!(ready(b.lease()).is_none(), "a has the lane");
    assert!(ready(c.lease()).expect("another lane").is_ok());
    drop(lease);
    assert!(ready(b.lease()).expect("a is done").is_ok());
    assert_eq!(pool.report().sessions.iter().map(|s| s.runs).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn trim_gives_lanes_back_and_the_next_lease_brings_them() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    let session = join(&pool, spec("a", &[1024, 1024]).state("cache", 64)).unwrap();
    assert_eq!(pool.trim(), 2048);
    assert_eq!(pool.report().total.reserved_bytes, 64, "state stays");
    assert_eq!(pool.trim(), 0);
    let lease = block_on(&gpu.device, session.lease()).unwrap();
    assert_eq!(pool.report().total.reserved_bytes, 2048 + 64);
    assert_eq!(pool.trim(), 2048);
    assert_eq!(pool.report().total.reserved_bytes, 2048 + 64, "a leased lane goes with its lease");
    drop(lease);
    assert_eq!(pool.report().total.reserved_bytes, 64);
    assert_eq!(pool.report().total.reserved_high_bytes, 2048 + 64);
}

#[test]
fn a_session_over_the_budget_is_refused_by_how_much_and_for_what() {
    let gpu = Gpu::noop(|_| ());
    let pool = pool(&gpu, PoolOptions::default());
    pool.budget(20_000);
    let _a = join(&pool, spec("a", &[4096, 4096]).weight(Weight::new("w", vec![1u8; 4096]))).unwrap();
    let large = spec("b", &[6144, 10240, 512]).state("cache", 1024).weight(Weight::new("w", vec![1u8; 4096]));
    let before = pool.report();
    match join(&pool, large) {
        Err(DeviceError::OverBudget {
            session,
            needed_bytes,
            held_bytes,
            budget_bytes,
            over_bytes,
            largest,
        }) => {
            assert_eq!((session.as_str(), held_bytes, budget_bytes), ("b", 8192 + 4096, 20_000));
            assert_eq!(needed_bytes, 16384 - 8192 + 1024, "the lane grows, the weight is there already");
            assert_eq!(over_bytes, held_bytes + needed_bytes - budget_bytes);
            assert_eq!(largest, "'t1' 10240, 't0' 6144");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(pool.report(), before);
    pool.budget(21_504);
    let _b = join(&pool, spec("b", &[6144, 10240, 512]).state("cache", 1024)).unwrap();
    assert_eq!(pool.report().total.reserved_bytes, 21_504, "a budget may be used up");
}

#[test]
fn options_round_and_shrink() {
    let gpu = Gpu::noop(|_| ());
    let reserved = |pool: &ArenaPool| pool.report().label("lane 0 arena 0").reserved_bytes;
    let power = pool(&gpu, PoolOptions { extend: Extend::PowerOfTwo, ..PoolOptions::default() });
    let _a = join(&power, spec("a", &[2048, 1024])).unwrap();
    assert_eq!(reserved(&power), 4096);
    assert_eq!(power.report().label("lane 0 arena 0").in_use_bytes, 3072);
    let _b = join(&power, spec("b", &[2048, 2048])).unwrap();
    assert_eq!((reserved(&power), power.report().lane_changes), (4096, 2), "no new buffer within it");
    let capped = pool(&gpu, PoolOptions { max_arena_bytes: 2048, ..PoolOptions::default() });
    let refused = join(&capped, spec("a", &[2048, 1024])).unwrap_err();
    assert!(refused.to_string().contains("max_arena_bytes of the pool is 2048 bytes"), "{refused}");
    let shrinking = pool(&gpu, PoolOptions { shrink_after_run: true, ..PoolOptions::default() });
    let a = join(&shrinking, spec("a", &[2048, 1024])).unwrap();
    drop(block_on(&gpu.device, a.lease()).unwrap());
    assert_eq!(reserved(&shrinking), 0);
    let lease = block_on(&gpu.device, a.lease()).unwrap();
    assert_eq!(reserved(&shrinking), 3072);
    drop(lease);
    let keeping = pool(&gpu, PoolOptions { max_dead_bytes: 8192, ..PoolOptions::default() });
    let _a = join(&keeping, spec("a", &[1024, 1024])).unwrap();
    drop(join(&keeping, spec("b", &[4096, 4096])).unwrap());
    assert_eq!(reserved(&keeping), 8192, "6144 dead bytes are within the limit");
    drop(join(&keeping, spec("c", &[8192, 4096])).unwrap());
    assert_eq!(reserved(&keeping), 0, "10240 are not");
}

/// The narrowest place: the readback is mapped, and the device goes before anybody looks into it.
#[test]
fn a_device_that_goes_between_mapping_and_reading_is_lost() {
    let gpu = Gpu::noop(|_| ());
    let readback = block_on(&gpu.device, Readback::new(&gpu.device, &gpu.queue, 64)).unwrap();
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let descriptor = BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
    let buffer = gpu.device.create_buffer(&descriptor);
    let ranges = [(&buffer, 0..64)];
    let mut context = Context::from_waker(Waker::noop());
    let mut read = pin!(readback.read(None, &ranges));
    assert!(read.as_mut().poll(&mut context).is_pending(), "the copy is submitted, the mapping asked for");
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    gpu.device.destroy();
    // Buffers go with the next poll of the device, here as another thread's.
    let _ = gpu.device.poll(wgpu::PollType::Poll);
    let Poll::Ready(result) = read.as_mut().poll(&mut context) else { panic!("it was mapped") };
    assert!(matches!(result, Err(DeviceError::Lost { .. })), "{result:?}");
}
