//! Twin of `shaders/gate.wgsl`.

use super::float;
use super::gates::Gate;

/// The activation of a gate.
pub fn gate(params: &[u32], inputs: &[&[f32]], output: &mut [f32]) {
    let gate = Gate::read(params, 4, float(params, 3));
    let x = &inputs[0][params[0] as usize..];
    let output = &mut output[params[1] as usize..][..params[2] as usize];
    output.iter_mut().zip(x).for_each(|(out, v)| *out = gate.open(*v));
}
