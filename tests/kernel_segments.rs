//! Tensors over the binding limit: what runs in segments computes the same bits, the rest is refused by name.
#![cfg(feature = "legal")]

mod support;

use std::sync::Arc;
use sublet::exec::{CpuHost, CpuNetwork, ExecError, Program, audit, bind, lawful};
use sublet::graph::{Graph, Op, PadMode, PoolKind, UnaryOp};
use sublet::kernel::{LowerLimits, Operand};
use sublet::legal::BindingLimits;
use sublet::plan::{Alignment, Planner, Strategy};
use support::block_on;
use support::cases::window;
use support::graphs::Builder;
use support::oversize::{self, LIMIT_BYTES};

fn program(graph: Graph, max_binding_bytes: u64) -> Result<Arc<Program>, ExecError> {
    let limits = LowerLimits { max_binding_bytes, max_workgroups: 65_535 };
    Program::new(graph, Alignment::new(256).unwrap(), limits).map(Arc::new)
}

fn run(program: &Arc<Program>, strategy: Strategy) -> Vec<Vec<u32>> {
    let plan = Planner::new(strategy).plan(&program.usage.problem).unwrap();
    let inputs = program.default_inputs();
    let outputs = CpuNetwork::new(program.clone(), &plan).unwrap().run(&inputs).unwrap();
    outputs.iter().map(|o| o.iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn segments_compute_the_bits_of_the_whole() {
    for (graph, least) in oversize::all() {
        let name = graph.name.clone();
        let whole = program(graph.clone(), u64::MAX).unwrap();
        for limit in [LIMIT_BYTES, LIMIT_BYTES + 252, 2 * LIMIT_BYTES] {
            let cut = program(graph.clone(), limit).unwrap_or_else(|e| panic!("{name} at {limit}: {e}"));
            assert!(cut.dispatch_count() > whole.dispatch_count(), "{name} at {limit}");
            for strategy in [Strategy::Naive, Strategy::GreedyBySize] {
                assert_eq!(run(&cut, strategy), run(&whole, strategy), "{name} at {limit} under {strategy}");
            }
        }
        let cut = program(graph, LIMIT_BYTES).unwrap();
        assert!(cut.dispatch_count() >= least, "{name}: {} dispatches", cut.dispatch_count());
    }
}

/// No binding is over the limit, every one starts where any device binds, and WebGPU's rules hold.
#[test]
fn every_segment_is_lawful_under_the_limit() {
    let limits = BindingLimits {
        max_storage_binding_bytes: LIMIT_BYTES,
        storage_alignment_bytes: 256,
        ..CpuHost::LIMITS
    };
    for (graph, _) in oversize::all() {
        let program = program(graph, LIMIT_BYTES).unwrap();
        for dispatch in program.steps.iter().flatten() {
            for operand in dispatch.inputs.iter().chain([&dispatch.output]) {
                let Operand::Value { value, start_len, len } = *operand else { continue };
                assert!(len as u64 * 4 <= LIMIT_BYTES && start_len % 64 == 0, "{dispatch:?}");
                assert!(start_len + len <= program.graph.get(value).len(), "{dispatch:?}");
            }
        }
        let plan = Planner::auto().plan(&program.usage.problem).unwrap();
        let weights = sublet::exec::WeightMap::new(&program, 256, u64::MAX);
        lawful(&bind(&program, &plan, &weights, &limits).unwrap(), &limits).unwrap();
    }
}

#[test]
fn the_audit_passes_over_segments() {
    for (graph, _) in oversize::all() {
        let name = graph.name.clone();
        let program = program(graph, LIMIT_BYTES).unwrap();
        let plan = Planner::auto().plan(&program.usage.problem).unwrap();
        let inputs = program.default_inputs();
        let found = block_on(audit(&CpuHost(program), &plan, &inputs, &CpuHost::LIMITS)).unwrap();
        assert!(found.ok(), "{name}: {found:?}");
    }
}

/// Demands a refusal with the tensor, its bytes, the operator and the limit.
#[track_caller]
fn refused(graph: Graph, op: &str, tensor: &str, bytes: u64) {
    let error = program(graph, LIMIT_BYTES).unwrap_err();
    assert!(matches!(error, ExecError::TensorOverLimit { .. }), "{error:?}");
    let text = error.to_string();
    for part in [tensor, op, &bytes.to_string(), "4096", "max_storage_buffer_binding_size"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_no_kernel_cuts_is_refused_before_anything_is_allocated() {
    let one = |op: Op, from: &[usize], to: &[usize]| {
        let mut b = Builder::new("one");
        let x = b.input("big", from);
        let y = b.op("out", op, &[x], to);
        b.output(&[y])
    };
    let image = [1, 2, 30, 40];
    let square = window([2, 2], [2, 2], [0; 4], [1, 1]);
    refused(
        one(Op::Pool { kind: PoolKind::Max, window: square }, &image, &[1, 2, 15, 20]),
        "MaxPool",
        "'big'",
        9600,
    );
    refused(
        one(Op::Softmax { first_axis: 1, last_axis: 2 }, &[2, 1200], &[2, 1200]),
        "Softmax",
        "'big'",
        9600,
    );
    refused(one(Op::ReduceMean { axes: vec![1] }, &[2, 1200], &[2, 1]), "ReduceMean", "'big'", 9600);
    refused(one(Op::Lrn { size: 3, alpha: 1.0, beta: 0.5, bias: 1.0 }, &image, &image), "LRN", "'big'", 9600);
    refused(one(Op::Transpose { perm: vec![1, 0] }, &[30, 80], &[80, 30]), "Transpose", "'big'", 9600);
    refused(one(Op::Expand, &[1, 80], &[30, 80]), "Expand", "'out'", 9600);
    let pad = Op::Pad { mode: PadMode::Constant(0.0), before: vec![1, 0] };
    refused(one(pad, &[10, 80], &[30, 80]), "Pad", "'out'", 9600);
    let backwards = Op::Slice { starts: vec![29, 0], steps: vec![-1, 1] };
    refused(one(backwards, &[30, 80], &[30, 80]), "Slice", "'big'", 9600);
}

#[test]
fn a_convolution_over_the_limit_is_refused() {
    let mut b = Builder::new("conv");
    let x = b.input("x", &[1, 2, 10, 12]);
    let w = b.constant("w", &[20, 2, 1, 1], vec![0.5; 40]);
    let window = window([1, 1], [1, 1], [0; 4], [1, 1]);
    let y = b.op("wide", Op::Conv { window, groups: 1, activation: None }, &[x, w], &[1, 20, 10, 12]);
    let out = b.op("out", Op::Unary(UnaryOp::Relu), &[y], &[1, 20, 10, 12]);
    refused(b.output(&[out]), "Conv", "'wide'", 9600);
}

/// Rows longer than a binding, times a matrix that is over it as well.
#[test]
fn a_product_whose_two_sides_are_over_the_limit_is_refused() {
    let mut b = Builder::new("product");
    let x = b.input("x", &[50, 48]);
    let y = b.input("y", &[48, 50]);
    let out = b.op("out", Op::MatMul { activation: None }, &[x, y], &[50, 50]);
    refused(b.output(&[out]), "MatMul", "'x'", 9600);
}

/// The right side alone is over the limit: its rows are added up one part after the other.
#[test]
fn a_right_side_over_the_limit_is_summed_in_parts() {
    let mut b = Builder::new("tall");
    let x = b.input("x", &[10, 100]);
    let y = b.input("y", &[100, 16]);
    let out = b.op("out", Op::MatMul { activation: None }, &[x, y], &[10, 16]);
    let graph = b.output(&[out]);
    let (whole, cut) = (program(graph.clone(), u64::MAX).unwrap(), program(graph, LIMIT_BYTES).unwrap());
    assert_eq!(cut.dispatch_count(), 2);
    let (want, got) = (run(&whole, Strategy::Naive), run(&cut, Strategy::Naive));
    for (want, got) in want[0].iter().zip(&got[0]) {
        let (want, got) = (f32::from_bits(*want), f32::from_bits(*got));
        assert!((want - got).abs() <= 1e-5 * want.abs(), "{want} {got}");
    }
}
