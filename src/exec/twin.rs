//! Compares a device's tensors with what the CPU twins compute.

use super::{ExecError, Program};
use crate::graph::{ValueId, word_int};
use crate::kernel::{Operand, run_twin};

/// How a device's tensors compare with the CPU twins, each step computed from the device's own inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct TwinReport {
    /// Largest difference of any element.
    pub max_abs_diff: f64,
    /// Largest difference as a share of what the kernel's tolerance allows; over 1 is a failure.
    pub worst_share: f64,
    /// Node with the largest share.
    pub worst_node: Option<String>,
    /// Whether every element is within its kernel's tolerance.
    pub ok: bool,
}

/// Compares each step's outputs with the twins run on the same inputs; integers must be equal.
///
/// # Errors
/// None today; the signature leaves room for hosts whose data is elsewhere.
pub(super) fn compare_twins(program: &Program, values: &[Vec<f32>]) -> Result<TwinReport, ExecError> {
    let fetch = |id: ValueId| program.graph.get(id).words().unwrap_or(&values[id.index()]);
    let mut report = TwinReport { max_abs_diff: 0.0, worst_share: 0.0, worst_node: None, ok: true };
    for (step, node) in program.graph.nodes.iter().enumerate() {
        // What a step leaves out since it is there already, the twins do: they know nothing of sharing.
        let whole = if program.is_changed(step) { program.unshared(step)? } else { Vec::new() };
        let dispatches = if program.is_changed(step) { &whole } else { &program.steps[step] };
        for output in &node.outputs {
            let mut expected = vec![0.0f32; program.graph.get(*output).len()];
            let (mut relative, mut absolute) = (0.0f32, 0.0f32);
            for dispatch in dispatches {
                let Operand::Value { value, start_len, len } = dispatch.output else { continue };
                if value != *output {
                    continue;
                }
                // A later dispatch of the step may read what an earlier one wrote into the same tensor.
                let reads_itself = dispatch
                    .inputs
                    .iter()
                    .any(|o| matches!(o, Operand::Value { value: v, .. } if *v == value));
                let so_far = if reads_itself { expected.clone() } else { Vec::new() };
                let fetch = |id: ValueId| if id == value { &so_far[..] } else { fetch(id) };
                run_twin(dispatch, fetch, &mut expected[start_len..start_len + len]);
                let tolerance = dispatch.tolerance();
                relative = relative.max(tolerance.relative);
                absolute = absolute.max(tolerance.absolute);
            }
            let float = program.graph.get(*output).is_float();
            let largest = expected.iter().filter(|x| x.is_finite()).fold(0.0f32, |m, x| m.max(x.abs()));
            let allowed = match float {
                true => f64::from(absolute) + f64::from(relative) * f64::from(largest),
                false => 0.0,
            };
            for (want, got) in expected.iter().zip(&values[output.index()]) {
                let diff = match float {
                    true => difference(*want, *got),
                    false => (f64::from(word_int(*want)) - f64::from(word_int(*got))).abs(),
                };
                report.max_abs_diff = report.max_abs_diff.max(diff);
                let share = if diff == 0.0 { 0.0 } else { diff / allowed };
                if share > report.worst_share {
                    report.worst_share = share;
                    report.worst_node = Some(node.name.clone());
                }
            }
        }
    }
    report.ok = report.worst_share <= 1.0;
    Ok(report)
}

/// Absolute difference; infinite where only one side is NaN or infinite, 0 where both are the same
/// non-finite value.
fn difference(want: f32, got: f32) -> f64 {
    if want == got || (want.is_nan() && got.is_nan()) {
        return 0.0;
    }
    match (f64::from(want) - f64::from(got)).abs() {
        diff if diff.is_nan() => f64::INFINITY,
        diff => diff,
    }
}
