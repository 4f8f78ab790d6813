//! A recorder with buffers behind it, on wgpu's backend that executes nothing.
#![cfg(feature = "cli")]

mod support;

use sublet::device::{DeviceError, DeviceRecorder, block_on};
use sublet::plan::Block;
use support::gpu::Gpu;

/// Allocates those sizes, binds each, and releases them in pairs.
fn iterate(gpu: &Gpu, recorder: &mut DeviceRecorder, shape: u64, sizes: &[u64]) -> bool {
    recorder.begin(&[shape]).unwrap();
    let mut live: Vec<Block> = Vec::new();
    for (i, size) in sizes.iter().enumerate() {
        let block = recorder.allocate(&format!("t{i}"), *size).unwrap();
        let view = recorder.view(&block).expect("it has bytes");
        assert_eq!(view.bytes, block.offset_bytes()..block.offset_bytes() + size.next_multiple_of(4));
        assert!(view.bytes.end <= view.buffer.size());
        live.push(block);
        if live.len() > 2 {
            recorder.release(live.remove(0)).unwrap();
        }
    }
    live.into_iter().for_each(|block| recorder.release(block).unwrap());
    block_on(&gpu.device, recorder.end()).unwrap().departures.is_none()
}

/// Cases 18 and 19: the second run allocates nothing, and nothing grows in a thousand, whatever the shape.
#[test]
fn a_thousand_iterations_of_known_shapes_make_no_buffer() {
    let gpu = Gpu::noop(|_| ());
    let mut recorder = DeviceRecorder::new(&gpu.device, |recorder| recorder).unwrap();
    let sizes = |shape: u64| [100, 3000, 20, 777, 5000].map(|size| size * shape);
    for shape in 1..=4 {
        assert!(iterate(&gpu, &mut recorder, shape, &sizes(shape)));
    }
    let (version, bytes) = (recorder.recorder().version(), recorder.bytes());
    assert_eq!(recorder.recorder().report().arena_bytes.next_multiple_of(4), bytes, "no overflow is left");
    for run in 0..1000 {
        let shape = 1 + run * 7 % 4;
        assert!(iterate(&gpu, &mut recorder, shape, &sizes(shape)));
        assert_eq!((recorder.recorder().version(), recorder.bytes()), (version, bytes));
    }
    assert_eq!(recorder.recorder().report().plans, 4);
}

/// Departures get buffers of their own for as long as it takes to plan anew.
#[test]
fn overflow_comes_and_goes_with_its_buffers() {
    let gpu = Gpu::noop(|_| ());
    let mut recorder = DeviceRecorder::new(&gpu.device, |r| r.first_overflow_bytes(1024)).unwrap();
    iterate(&gpu, &mut recorder, 0, &[5000, 5000, 5000]);
    let arena = recorder.bytes();
    recorder.begin(&[0]).unwrap();
    let large = recorder.allocate("t0", 9000).unwrap();
    assert!(!large.is_planned() && recorder.bytes() >= arena + 9000);
    assert!(recorder.view(&large).is_some());
    let rest = ["t1", "t2"].map(|name| recorder.allocate(name, 5000).unwrap());
    assert!(rest.iter().all(Block::is_planned));
    recorder.release(large).unwrap();
    rest.into_iter().for_each(|block| recorder.release(block).unwrap());
    block_on(&gpu.device, recorder.end()).unwrap();
    assert_eq!(recorder.bytes(), recorder.recorder().report().arena_bytes.next_multiple_of(4));
    assert!(iterate(&gpu, &mut recorder, 0, &[9000, 5000, 5000]));
}

#[test]
fn over_the_limit_is_said_and_nothing_is_taken() {
    let gpu = Gpu::noop(|limits| limits.max_buffer_size = 1 << 20);
    let mut recorder = DeviceRecorder::new(&gpu.device, |recorder| recorder).unwrap();
    recorder.begin(&[]).unwrap();
    let refused = recorder.allocate("huge", (1 << 20) + 1).unwrap_err();
    let expected = DeviceError::OverLimit {
        what: "huge".to_owned(),
        needed_bytes: (1 << 20) + 1,
        limit: "max_buffer_size",
        available_bytes: 1 << 20,
    };
    assert_eq!((refused, recorder.bytes()), (expected, 0));
    // What fits one by one gets as many buffers as it takes.
    let blocks: Vec<Block> = (0..3).map(|_| recorder.allocate("large", 900_000).unwrap()).collect();
    blocks.into_iter().for_each(|block| recorder.release(block).unwrap());
    block_on(&gpu.device, recorder.end()).unwrap();
    assert_eq!(recorder.recorder().regions().count(), 3);
}
