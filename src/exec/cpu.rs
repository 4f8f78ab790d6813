//! The CPU executor: the same plan over host byte arenas, with the twins. Fallback where no adapter exists,
//! and the oracle everywhere.

use super::machine::{Host, Machine};
use super::{Bound, BufferKey, ExecError, Place, Program, WeightMap, bind};
use crate::graph::ValueId;
use crate::kernel::{Operand, run_twin};
use crate::legal::BindingLimits;
use crate::plan::{Plan, Planner, Strategy};
use std::ops::Range;
use std::sync::Arc;

/// A network on the CPU.
#[derive(Debug)]
pub struct CpuNetwork {
    program: Arc<Program>,
    plan: Plan,
    arenas: Vec<Vec<f32>>,
    inputs: Vec<Vec<f32>>,
    outputs: Vec<Vec<f32>>,
    scratch: Vec<f32>,
}

impl CpuNetwork {
    /// Allocates the plan's arenas on the host.
    ///
    /// # Errors
    /// The plan is not valid for the program's problem.
    pub fn new(program: Arc<Program>, plan: &Plan) -> Result<Self, ExecError> {
        plan.validate(&program.usage.problem)?;
        Ok(Self::unchecked(program, plan))
    }

    /// Without asking the judge: for the mutations of an audit.
    fn unchecked(program: Arc<Program>, plan: &Plan) -> Self {
        let words = |bytes: &u64| vec![0.0; bytes.div_ceil(4) as usize];
        let arenas = plan.arenas().iter().map(words).collect();
        let zeros = |ids: &[ValueId]| ids.iter().map(|id| vec![0.0; program.graph.get(*id).len()]).collect();
        let (inputs, outputs) = (zeros(&program.graph.inputs), zeros(&program.graph.outputs));
        CpuNetwork { plan: plan.clone(), arenas, inputs, outputs, scratch: Vec::new(), program }
    }

    /// Runs the network once and returns the outputs in the graph's order.
    ///
    /// # Errors
    /// Inputs of the wrong number or size.
    pub fn run(&mut self, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, ExecError> {
        self.program.check_inputs(inputs)?;
        self.inputs = inputs.to_vec();
        self.run_steps(0..self.program.steps.len());
        Ok(self.outputs.clone())
    }

    /// Bytes of the host arenas.
    pub fn arena_bytes(&self) -> u64 {
        self.arenas.iter().map(|a| a.len() as u64 * 4).sum()
    }

    fn run_steps(&mut self, steps: Range<usize>) {
        let program = self.program.clone();
        for dispatch in program.steps[steps].iter().flatten() {
            let Operand::Value { value, start_len, len } = dispatch.output else { continue };
            let range = start_len..start_len + len;
            // Twins write to scratch, so an input may share bytes with the output, as it may on a device.
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.clear();
            match dispatch.fills_output {
                true => scratch.resize(len, 0.0),
                false => scratch.extend_from_slice(&self.show(value)[range.clone()]),
            }
            run_twin(dispatch, |id| self.show(id), &mut scratch);
            if let Some(target) = self.show_mut(value) {
                target[range].copy_from_slice(&scratch);
            }
            self.scratch = scratch;
        }
    }

    fn span(&self, value: ValueId, offset_bytes: u64) -> Range<usize> {
        let start = (offset_bytes / 4) as usize;
        start..start + self.program.span_len(value)
    }

    fn show(&self, value: ValueId) -> &[f32] {
        match self.program.place(&self.plan, value) {
            Place::Arena { arena, offset_bytes } => &self.arenas[arena][self.span(value, offset_bytes)],
            Place::Input { input, offset_bytes } => &self.inputs[input][self.span(value, offset_bytes)],
            Place::Output { output, offset_bytes } => &self.outputs[output][self.span(value, offset_bytes)],
            Place::Constant => self.program.graph.get(value).words().unwrap_or_default(),
            Place::Nowhere => &[],
        }
    }

    fn show_mut(&mut self, value: ValueId) -> Option<&mut [f32]> {
        match self.program.place(&self.plan, value) {
            Place::Arena { arena, offset_bytes } => {
                let span = self.span(value, offset_bytes);
                Some(&mut self.arenas[arena][span])
            }
            Place::Output { output, offset_bytes } => {
                let span = self.span(value, offset_bytes);
                Some(&mut self.outputs[output][span])
            }
            Place::Input { .. } | Place::Constant | Place::Nowhere => None,
        }
    }
}

impl Machine for CpuNetwork {
    async fn write_inputs(&mut self, inputs: &[Vec<f32>]) -> Result<(), ExecError> {
        self.program.check_inputs(inputs)?;
        self.inputs = inputs.to_vec();
        Ok(())
    }

    async fn fill(&mut self, arena: usize, bytes: Range<u64>, pattern: u32) -> Result<(), ExecError> {
        let words = (bytes.start / 4) as usize..(bytes.end / 4) as usize;
        self.arenas[arena][words].fill(f32::from_bits(pattern));
        Ok(())
    }

    async fn step(&mut self, step: usize) -> Result<(), ExecError> {
        self.run_steps(step..step + 1);
        Ok(())
    }

    async fn run(&mut self) -> Result<(), ExecError> {
        self.run_steps(0..self.program.steps.len());
        Ok(())
    }

    async fn read(&mut self, ranges: &[(BufferKey, Range<u64>)]) -> Result<Vec<u32>, ExecError> {
        let mut words = Vec::new();
        for (key, bytes) in ranges {
            let buffer: &[f32] = match key {
                BufferKey::Arena(i) => &self.arenas[*i],
                BufferKey::Input(i) => &self.inputs[*i],
                BufferKey::Output(i) => &self.outputs[*i],
                BufferKey::Weights(_) | BufferKey::Zeros => &[],
            };
            let range = (bytes.start / 4) as usize..(bytes.end / 4) as usize;
            words.extend(buffer[range].iter().map(|x| x.to_bits()));
        }
        Ok(words)
    }
}

/// Makes CPU machines of a program; dispatches are checked against the limits every WebGPU device has.
#[derive(Debug, Clone)]
pub struct CpuHost(pub Arc<Program>);

impl CpuHost {
    /// WebGPU's default limits, with bindings as large as they come: the CPU binds nothing.
    pub const LIMITS: BindingLimits = BindingLimits {
        storage_alignment_bytes: 4,
        uniform_alignment_bytes: 256,
        max_storage_binding_bytes: u64::MAX,
        max_uniform_binding_bytes: 65_536,
        max_storage_bindings: 8,
        max_workgroups: 65_535,
    };
}

impl Host for CpuHost {
    type Machine = CpuNetwork;

    fn program(&self) -> &Program {
        &self.0
    }

    async fn machine(&self, plan: &Plan) -> Result<CpuNetwork, ExecError> {
        plan.check_arenas(&self.0.usage.problem)?;
        Ok(CpuNetwork::unchecked(self.0.clone(), plan))
    }

    fn bound(&self, plan: &Plan) -> Result<Vec<Bound>, ExecError> {
        let weights = WeightMap::new(&self.0, Self::LIMITS.storage_alignment_bytes, u64::MAX);
        bind(&self.0, plan, &weights, &Self::LIMITS)
    }

    fn no_reuse(&self) -> Result<Plan, ExecError> {
        Ok(Planner::new(Strategy::Naive).plan(&self.0.usage.problem)?)
    }
}
