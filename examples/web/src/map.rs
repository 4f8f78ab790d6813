//! A plan as a picture needs it.

use serde::Serialize;
use sublet::plan::{Plan, Problem};

/// Steps across, bytes up.
#[derive(Serialize)]
pub struct Map<'a> {
    /// Number of steps.
    steps: u32,
    /// Bytes of each arena.
    arenas: &'a [u64],
    tensors: Vec<Place<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    name: &'a str,
    /// First and last step, both included.
    first: u32,
    last: u32,
    arena: usize,
    offset_bytes: u64,
    size_bytes: u64,
}

impl<'a> Map<'a> {
    /// Reads the places of all tensors off the plan.
    pub fn new(problem: &'a Problem, plan: &'a Plan) -> Self {
        let place = |(id, tensor)| {
            let tensor: &sublet::plan::Tensor = tensor;
            Place {
                name: tensor.label(),
                first: tensor.first(),
                last: problem.last(tensor),
                arena: plan.arena(id).index(),
                offset_bytes: plan.offset_bytes(id),
                size_bytes: tensor.size_bytes(),
            }
        };
        let tensors = problem.ids().zip(problem.tensors()).map(place).collect();
        Map { steps: problem.steps(), arenas: plan.arenas(), tensors }
    }
}
