//! Concatenations along an inner axis on a Vulkan driver: kernels that write in rows, proven.
#![cfg(feature = "cli")]

mod support;

use sublet::device::block_on;
use sublet::exec::{Host, Layout, Program, audit, mutate};
use sublet::graph::passes::Passes;
use sublet::kernel::LowerLimits;
use sublet::plan::Planner;
use support::gpu::Gpu;
use support::random_graph;
use support::random_problem::Random;
use support::strided;

fn program(gpu: &Gpu, graph: sublet::graph::Graph, passes: Passes, layout: Layout) -> Program {
    let limits = LowerLimits {
        max_binding_bytes: gpu.limits.max_binding_bytes,
        max_workgroups: gpu.limits.max_workgroups,
    };
    let (graph, sharing) = layout.allows(passes).apply(graph).unwrap();
    let alignment = layout.alignment(gpu.limits.storage_alignment_bytes).unwrap();
    Program::sharing(graph, sharing, alignment, limits).unwrap().with_layout(layout).unwrap()
}

/// Every kernel family, written in rows in every layout that shares bytes: the device's bits are those
/// without rows, the twins agree, and no word between the rows changes.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn every_family_writes_its_column_on_the_device() {
    let gpu = Gpu::vulkan(|_| ());
    let graphs = [strided::families(), strided::heads(), strided::shared()];
    let random = (0..24).map(|seed| random_graph::draw(&mut Random(seed ^ 0x77), 6 + seed as usize % 16));
    for graph in graphs.into_iter().chain(random) {
        for layout in [Layout::Shared, Layout::Packed] {
            let mut outputs = Vec::new();
            for passes in [Passes { strided: false, ..Passes::ALL }, Passes::ALL] {
                let program = program(&gpu, graph.clone(), passes, layout);
                let plan = gpu.planner_for(Planner::auto(), layout).plan(&program.usage.problem).unwrap();
                let resident = gpu.resident(program);
                let inputs = resident.program().default_inputs();
                outputs.push(block_on(&gpu.device, gpu.network(&resident, &plan).run(&inputs)).unwrap());
                let limits = gpu.limits.binding_limits();
                let found = block_on(&gpu.device, audit(&resident, &plan, &inputs, &limits)).unwrap();
                assert!(found.ok(), "{} {layout}: {found:?}", graph.name);
            }
            assert_eq!(outputs[0], outputs[1], "{} {layout}", graph.name);
        }
    }
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn deliberate_faults_around_rows_are_caught_on_the_device() {
    let gpu = Gpu::vulkan(|_| ());
    for graph in [strided::families(), strided::heads()] {
        let program = program(&gpu, graph, Passes::ALL, Layout::Shared);
        let plan = gpu.planner(Planner::auto()).plan(&program.usage.problem).unwrap();
        let resident = gpu.resident(program);
        let inputs = resident.program().default_inputs();
        let counts = block_on(&gpu.device, mutate(&resident, &plan, &inputs, 20)).unwrap();
        // The coarser a device binds, the fewer different offsets there are.
        assert!(counts.tried >= 5 && counts.read_later > 0, "{counts:?}");
        assert_eq!(counts.tried, counts.caught, "{counts:?}");
    }
}
