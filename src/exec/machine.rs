//! What a proof needs of a thing that runs networks: one interface for the device and the CPU.

use super::{Bound, BufferKey, ExecError, Program};
use crate::plan::Plan;
use std::ops::Range;

/// Runs one program under one plan, as a whole or step by step, and shows its bytes.
pub trait Machine {
    /// Sets the graph inputs, in the graph's order; their sizes are checked before.
    ///
    /// # Errors
    /// The device refuses.
    fn write_inputs(&mut self, inputs: &[Vec<f32>]) -> impl Future<Output = Result<(), ExecError>>;

    /// Fills bytes of an arena with a pattern. Start and end are multiples of 4.
    ///
    /// # Errors
    /// The device refuses.
    fn fill(
        &mut self,
        arena: usize,
        bytes: Range<u64>,
        pattern: u32,
    ) -> impl Future<Output = Result<(), ExecError>>;

    /// Runs the dispatches of one step.
    ///
    /// # Errors
    /// The device refuses.
    fn step(&mut self, step: usize) -> impl Future<Output = Result<(), ExecError>>;

    /// Runs all steps the way a production run does: one submission.
    ///
    /// # Errors
    /// The device refuses.
    fn run(&mut self) -> impl Future<Output = Result<(), ExecError>>;

    /// Reads ranges of buffers, one after the other, as words. Starts and ends are multiples of 4.
    ///
    /// # Errors
    /// The device refuses or is lost.
    fn read(
        &mut self,
        ranges: &[(BufferKey, Range<u64>)],
    ) -> impl Future<Output = Result<Vec<u32>, ExecError>>;
}

/// Makes machines of one program under any plan: planned, without reuse, mutated.
pub trait Host {
    /// The machines it makes.
    type Machine: Machine;

    /// The program.
    fn program(&self) -> &Program;

    /// A machine that runs the program under `plan`.
    ///
    /// # Errors
    /// The device refuses the arenas, or a dispatch is unlawful.
    fn machine(&self, plan: &Plan) -> impl Future<Output = Result<Self::Machine, ExecError>>;

    /// What each dispatch binds under `plan`.
    ///
    /// # Errors
    /// The plan is another problem's, or puts a tensor outside its arenas.
    fn bound(&self, plan: &Plan) -> Result<Vec<Bound>, ExecError>;

    /// The plan without any reuse that this host can hold.
    ///
    /// # Errors
    /// The planner refuses.
    fn no_reuse(&self) -> Result<Plan, ExecError>;
}
