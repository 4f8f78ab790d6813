//! Whole networks on a Vulkan driver: right results, and the proof of reuse.
#![cfg(feature = "cli")]

mod support;

use sublet::device::{MemoryWitness, block_on};
use sublet::exec::{CpuNetwork, Host, Layout, audit, binding_cost, mutate};
use sublet::graph::Graph;
use sublet::model::zoo;
use sublet::plan::{Planner, Strategy};
use support::gpu::Gpu;
use support::graphs::{chain, odd_shapes, same_tensor_twice, same_tensor_twice_expected};

/// Audits under the given strategy and demands that everything holds.
fn passes(gpu: &Gpu, graph: Graph, strategy: Strategy) {
    let name = graph.name.clone();
    let resident = gpu.resident(gpu.program(graph));
    let plan = gpu.planner(Planner::new(strategy)).plan(&resident.program().usage.problem).unwrap();
    let inputs = resident.program().default_inputs();
    let found =
        block_on(&gpu.device, audit(&resident, &plan, &inputs, &gpu.limits.binding_limits())).unwrap();
    assert!(found.ok(), "{name} {strategy}: {found:?}");
    assert_eq!(found.tensors_compared, resident.program().graph.nodes.len());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn small_graphs_pass_the_audit_under_every_strategy() {
    let gpu = Gpu::vulkan(|_| ());
    for strategy in Strategy::ALL {
        passes(&gpu, same_tensor_twice(1000), *strategy);
        passes(&gpu, chain(257, 9), *strategy);
    }
}

/// The three layouts give the same bits, and each is proven.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn every_layout_passes_the_audit_with_the_same_outputs() {
    let gpu = Gpu::vulkan(|_| ());
    let graphs = || [zoo::build("mobilenet_v2").unwrap(), same_tensor_twice(1000), odd_shapes()];
    for (i, name) in graphs().iter().map(|g| g.name.clone()).enumerate() {
        let mut outputs = Vec::new();
        for layout in Layout::ALL {
            let program = gpu.program_in(graphs()[i].clone(), *layout);
            let plan = gpu.planner_for(Planner::auto(), *layout).plan(&program.usage.problem).unwrap();
            let resident = gpu.resident(program);
            let inputs = resident.program().default_inputs();
            outputs.push(block_on(&gpu.device, gpu.network(&resident, &plan).run(&inputs)).unwrap());
            let found = block_on(&gpu.device, audit(&resident, &plan, &inputs, &gpu.limits.binding_limits()));
            let found = found.unwrap();
            assert!(found.ok(), "{name} {layout}: {found:?}");
            let cost = binding_cost(&resident.bound(&plan).unwrap());
            if *layout == Layout::PingPong {
                let written = resident
                    .bound(&plan)
                    .unwrap()
                    .iter()
                    .all(|b| b.partition.writable.iter().filter(|w| **w).count() == 1);
                assert!(written || name == "same_tensor_twice", "{name}: only the output is writable");
            }
            assert!(cost.bindings > 0 && cost.barriers < resident.program().dispatch_count(), "{cost:?}");
        }
        assert!(outputs.iter().all(|o| *o == outputs[0]), "{name}: the layouts differ");
    }
}

/// Case 8 of the collected reports: add(x, x), and sums that read what they write.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn the_same_tensor_may_be_read_twice() {
    let gpu = Gpu::vulkan(|_| ());
    let resident = gpu.resident(gpu.program(same_tensor_twice(77)));
    let plan = gpu.planner(Planner::auto()).plan(&resident.program().usage.problem).unwrap();
    let x: Vec<f32> = (0..77).map(|i| i as f32 - 30.0).collect();
    let outputs = block_on(&gpu.device, gpu.network(&resident, &plan).run(std::slice::from_ref(&x))).unwrap();
    assert_eq!(outputs, [same_tensor_twice_expected(&x)]);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn scalars_empty_tensors_and_unused_outputs_work() {
    let gpu = Gpu::vulkan(|_| ());
    let resident = gpu.resident(gpu.program(odd_shapes()));
    let plan = gpu.planner(Planner::auto()).plan(&resident.program().usage.problem).unwrap();
    let inputs = vec![vec![3.0], vec![], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]];
    let outputs = block_on(&gpu.device, gpu.network(&resident, &plan).run(&inputs)).unwrap();
    assert_eq!(outputs, [vec![6.0], vec![7.0, 8.0, 9.0, 10.0, 11.0, 12.0], vec![]]);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn built_in_networks_pass_the_audit() {
    let gpu = Gpu::vulkan(|_| ());
    // The others take minutes on a software driver.
    for name in ["blazeface", "mobilenet_v1", "mobilenet_v2", "squeezenet"] {
        passes(&gpu, zoo::build(name).unwrap(), Strategy::GreedyBySize);
    }
}

/// Several arenas, 256-byte alignment and small bindings, as on a device of WebGPU's weakest kind.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn a_network_split_over_several_arenas_passes_the_audit() {
    let gpu = Gpu::vulkan(|limits| {
        limits.max_buffer_size = 5 << 20;
        limits.max_storage_buffer_binding_size = 5 << 20;
        limits.min_storage_buffer_offset_alignment = 256;
    });
    let graph = zoo::build("mobilenet_v2").unwrap();
    let program = gpu.program(graph);
    let plan = gpu.planner(Planner::auto()).plan(&program.usage.problem).unwrap();
    assert!(plan.arenas().len() > 1, "{:?}", plan.arenas());
    let resident = gpu.resident(program);
    let inputs = resident.program().default_inputs();
    let found =
        block_on(&gpu.device, audit(&resident, &plan, &inputs, &gpu.limits.binding_limits())).unwrap();
    assert!(found.ok(), "{found:?}");
}

/// A plan finer than the device binds: windows are aligned down and the base offsets carry the rest.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn offsets_finer_than_the_device_alignment_run() {
    let gpu = Gpu::vulkan(|limits| limits.min_storage_buffer_offset_alignment = 256);
    let program = sublet::exec::Program::new(
        same_tensor_twice(333),
        sublet::plan::Alignment::new(4).unwrap(),
        sublet::kernel::LowerLimits { max_binding_bytes: 1 << 20, max_workgroups: 65_535 },
    )
    .unwrap();
    let plan = gpu.planner(Planner::auto()).plan(&program.usage.problem).unwrap();
    assert!(program.usage.problem.ids().any(|id| !plan.offset_bytes(id).is_multiple_of(256)));
    let resident = gpu.resident(program);
    let inputs = resident.program().default_inputs();
    let found =
        block_on(&gpu.device, audit(&resident, &plan, &inputs, &gpu.limits.binding_limits())).unwrap();
    assert!(found.ok(), "{found:?}");
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn planted_faults_are_caught_on_the_device() {
    let gpu = Gpu::vulkan(|_| ());
    let resident = gpu.resident(gpu.program(same_tensor_twice(300)));
    let plan = gpu.planner(Planner::auto()).plan(&resident.program().usage.problem).unwrap();
    let inputs = resident.program().default_inputs();
    let counts = block_on(&gpu.device, mutate(&resident, &plan, &inputs, 20)).unwrap();
    assert_eq!((counts.tried, counts.judge_caught, counts.caught), (20, 20, 20), "{counts:?}");
    assert!(counts.read_later > 5 && counts.run_caught == counts.read_later, "{counts:?}");
}

/// The device agrees with the CPU executor, and a second run allocates nothing (case 19).
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn a_second_run_allocates_nothing_and_the_cpu_agrees() {
    let gpu = Gpu::vulkan(|_| ());
    let resident = gpu.resident(gpu.program(zoo::build("mobilenet_v1").unwrap()));
    let plan = gpu.planner(Planner::auto()).plan(&resident.program().usage.problem).unwrap();
    let network = gpu.network(&resident, &plan);
    let inputs = resident.program().default_inputs();
    let first = block_on(&gpu.device, network.run(&inputs)).unwrap();
    let after_one = MemoryWitness::sample(&gpu.device);
    for _ in 0..3 {
        assert_eq!(first, block_on(&gpu.device, network.run(&inputs)).unwrap());
    }
    assert_eq!(MemoryWitness::sample(&gpu.device), after_one);
    assert!(after_one.used_bytes.is_some(), "Vulkan reports its allocator");
    let program = gpu.program(zoo::build("mobilenet_v1").unwrap());
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    let cpu = CpuNetwork::new(std::sync::Arc::new(program), &plan).unwrap().run(&inputs).unwrap();
    let largest = cpu[0].iter().fold(0.0f32, |m, x| m.max(x.abs()));
    for (gpu, cpu) in first[0].iter().zip(&cpu[0]) {
        assert!((gpu - cpu).abs() <= 1e-4 * largest, "{gpu} {cpu}");
    }
}
