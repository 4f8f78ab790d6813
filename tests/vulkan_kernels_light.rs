//! The light kernels on a Vulkan driver against their twins, with every binding at an odd base inside a
//! larger buffer.
#![cfg(feature = "gpu")]

#[path = "support/light_cases.rs"]
mod light_cases;
#[path = "support/light_gpu.rs"]
mod light_gpu;
#[path = "support/word_cases.rs"]
mod word_cases;

use light_cases::{Case, data};
use light_gpu::Gpu;
use sublet::graph::{Op, UnaryOp};
use sublet::kernel::{Dispatch, LowerLimits, Operand, Tolerance, lower};

fn limits() -> LowerLimits {
    LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 }
}

fn range<'a>(values: &'a [Vec<f32>], operand: &Operand) -> &'a [f32] {
    match operand {
        Operand::Value { value, start_len, len } => &values[value.index()][*start_len..start_len + len],
        Operand::Absent => &[0.0; 4],
    }
}

/// Runs the dispatches of a case; `compute` gets a dispatch, its inputs and its output's former contents.
fn run(case: &Case, dispatches: &[Dispatch], compute: impl Fn(&Dispatch, &[&[f32]], &mut [f32])) -> Vec<f32> {
    let out = case.graph.outputs[0];
    let mut values = case.inputs.clone();
    values.push(vec![77.0; case.graph.get(out).len()]);
    for dispatch in dispatches {
        let read = values.clone();
        let inputs: Vec<&[f32]> = dispatch.inputs.iter().map(|operand| range(&read, operand)).collect();
        compute(dispatch, &inputs, &mut values[out.index()]);
    }
    values.swap_remove(out.index())
}

/// Compares the device with the twins over whole tensors.
fn check(cases: &[Case], limits: LowerLimits) {
    let gpu = Gpu::open();
    for case in cases {
        let name = &case.graph.name;
        let dispatches = lower(&case.graph, &case.graph.nodes[0], limits).expect("lowers");
        let expected =
            run(case, &dispatches, |d, inputs, out| (d.kernel.kernel().twin)(&d.params, inputs, out));
        let found = run(case, &dispatches, |d, inputs, out| gpu.dispatch(d, inputs, out));
        let tolerance = dispatches.first().map_or(Tolerance::EXACT, |d| d.tolerance());
        let largest = expected.iter().filter(|v| v.is_finite()).fold(0.0f32, |m, v| m.max(v.abs()));
        let allowed = tolerance.absolute + tolerance.relative * largest;
        let float = case.graph.get(case.graph.outputs[0]).is_float();
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let same = match float {
                true => found == expected || found.is_nan() && expected.is_nan(),
                // The words of integers may look like anything.
                false => found.to_bits() == expected.to_bits(),
            };
            assert!(
                same || float && (found - expected).abs() <= allowed,
                "{name}: element {i} is {found:e}, the twin says {expected:e}, allowed {allowed:e}"
            );
        }
    }
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn unary_matches_its_twin() {
    check(&light_cases::unary(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn smooth_functions_match_their_twins() {
    check(&light_cases::smooth(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn binary_matches_its_twin() {
    check(&light_cases::binary(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn copy_matches_its_twin() {
    check(&light_cases::moves(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn pad_matches_its_twin() {
    check(&light_cases::pads(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn normalising_kernels_match_their_twins() {
    check(&light_cases::norms(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn copy_keeps_the_bits_of_odd_floats() {
    let gpu = Gpu::open();
    let odd: Vec<f32> =
        [0x7fa0_1234, 0xffc0_dead, 0x8000_0000, 1, 0x807f_ffff, 0x7f80_0000].map(f32::from_bits).into();
    let case = Case::new(Op::Transpose { perm: vec![1, 0] }, &[(&[2, 3], odd.clone())], &[3, 2]);
    let dispatches = lower(&case.graph, &case.graph.nodes[0], limits()).expect("lowers");
    let found = run(&case, &dispatches, |d, inputs, out| gpu.dispatch(d, inputs, out));
    let expected: Vec<u32> = [0, 3, 1, 4, 2, 5].iter().map(|i: &usize| odd[*i].to_bits()).collect();
    assert_eq!(found.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), expected);
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn kernels_of_integers_match_their_twins() {
    check(&word_cases::unary(), limits());
    check(&word_cases::binary(), limits());
    check(&word_cases::casts(), limits());
    check(&word_cases::choices(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn kernels_of_indices_match_their_twins() {
    check(&word_cases::gathers(), limits());
    check(&word_cases::scatters(), limits());
}

#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn kernels_of_order_match_their_twins() {
    check(&word_cases::orders(), limits());
    check(&word_cases::marks(), limits());
}

/// Grids of several rows, where the last row runs past the end.
#[test]
#[ignore = "needs a Vulkan driver; scripts/test runs it"]
fn folded_grids_reach_every_element() {
    let few = LowerLimits { max_workgroups: 5, ..limits() };
    let case = |op, shape: &[usize]| {
        let len: usize = shape.iter().product();
        Case::new(op, &[(shape, data(len, 1))], shape)
    };
    let cases = [
        case(Op::Unary(UnaryOp::Neg), &[256 * 11 + 3]),
        case(Op::Transpose { perm: vec![1, 0] }, &[60, 60]),
        case(Op::Softmax { first_axis: 1, last_axis: 2 }, &[11, 2000]),
        case(Op::Softmax { first_axis: 1, last_axis: 2 }, &[1500, 4]),
        case(Op::Lrn { size: 5, alpha: 1e-4, beta: 0.75, bias: 1.0 }, &[2, 8, 150]),
    ];
    check(&cases, few);
}
