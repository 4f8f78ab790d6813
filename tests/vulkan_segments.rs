//! Tensors over the binding limit on a Vulkan driver whose device binds little.
#![cfg(feature = "cli")]

mod support;

use std::sync::Arc;
use sublet::device::block_on;
use sublet::exec::{CpuNetwork, Host, Layout, Program, audit};
use sublet::kernel::LowerLimits;
use sublet::plan::{Alignment, Planner, Strategy};
use support::gpu::Gpu;
use support::oversize::{self, LIMIT_BYTES};

fn small_bindings() -> Gpu {
    Gpu::vulkan(|limits| {
        limits.max_storage_buffer_binding_size = LIMIT_BYTES;
        limits.min_storage_buffer_offset_alignment = 256;
    })
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn segments_pass_the_audit_and_agree_with_the_unsegmented_cpu_run() {
    let gpu = small_bindings();
    assert_eq!(gpu.limits.max_binding_bytes, LIMIT_BYTES);
    for (graph, _) in oversize::all() {
        let name = graph.name.clone();
        let whole = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
        let whole = Program::new(graph.clone(), Alignment::new(256).unwrap(), whole).unwrap();
        let program = gpu.program(graph);
        assert!(program.dispatch_count() > whole.dispatch_count(), "{name}");
        for layout in [Layout::Shared, Layout::PingPong] {
            let resident = gpu.resident(gpu.program(program.graph.clone()).with_layout(layout).unwrap());
            let problem = &resident.program().usage.problem;
            let plan = gpu.planner(Planner::new(Strategy::GreedyBySize)).plan(problem).unwrap();
            let inputs = resident.program().default_inputs();
            let limits = gpu.limits.binding_limits();
            let found = block_on(&gpu.device, audit(&resident, &plan, &inputs, &limits)).unwrap();
            assert!(found.ok(), "{name} {layout}: {found:?}");
            let got = block_on(&gpu.device, gpu.network(&resident, &plan).run(&inputs)).unwrap();
            close(&name, &got, &on_cpu(&whole, &inputs));
        }
    }
}

fn on_cpu(program: &Program, inputs: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let limits = LowerLimits { max_binding_bytes: u64::MAX, max_workgroups: 65_535 };
    let program = Program::new(program.graph.clone(), Alignment::new(256).unwrap(), limits).unwrap();
    let plan = Planner::auto().plan(&program.usage.problem).unwrap();
    CpuNetwork::new(Arc::new(program), &plan).unwrap().run(inputs).unwrap()
}

fn close(name: &str, got: &[Vec<f32>], want: &[Vec<f32>]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert_eq!(got.len(), want.len(), "{name}");
        let largest = want.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        for (i, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((got - want).abs() <= 1e-4 * largest, "{name} element {i}: {got} {want}");
        }
    }
}

/// A packed arena is bound whole: there the planner refuses the tensor, by name.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn a_packed_tensor_over_the_limit_is_refused_by_the_planner() {
    let gpu = small_bindings();
    let (graph, _) = oversize::all().swap_remove(0);
    let program = gpu.program(graph).with_layout(Layout::Packed).unwrap();
    let planner =
        Layout::Packed.limit(Planner::auto(), gpu.limits.max_buffer_bytes, gpu.limits.max_binding_bytes);
    let error = planner.plan(&program.usage.problem).unwrap_err().to_string();
    assert!(error.contains("'t'") && error.contains("20,004") && error.contains("4,096"), "{error}");
}
