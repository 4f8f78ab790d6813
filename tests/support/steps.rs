//! Every value of a graph, node by node on the CPU twins: no plan, no arena.

use sublet::exec::Program;
use sublet::graph::Graph;
use sublet::kernel::{LowerLimits, Operand, run_twin};
use sublet::plan::Alignment;

/// What every WebGPU device binds.
pub const LIMITS: LowerLimits = LowerLimits { max_binding_bytes: 128 << 20, max_workgroups: 65_535 };

/// The values that nodes write, by value; inputs are the given ones, constants stay empty.
pub fn steps(graph: Graph, inputs: &[Vec<f32>]) -> (Program, Vec<Vec<f32>>) {
    let program = Program::new(graph, Alignment::ONE, LIMITS).unwrap();
    let graph = &program.graph;
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); graph.values.len()];
    for (id, data) in graph.inputs.iter().zip(inputs) {
        values[id.index()].clone_from(data);
    }
    for (node, dispatches) in graph.nodes.iter().zip(&program.steps) {
        let id = node.outputs[0];
        let mut written = vec![0.0; graph.get(id).len()];
        for dispatch in dispatches {
            let Operand::Value { start_len, len, .. } = dispatch.output else { continue };
            let mut scratch = written[start_len..start_len + len].to_vec();
            let fetch = |value| graph.get(value).words().unwrap_or(&values[value.index()]);
            run_twin(dispatch, fetch, &mut scratch);
            written[start_len..start_len + len].copy_from_slice(&scratch);
        }
        values[id.index()] = written;
    }
    (program, values)
}
