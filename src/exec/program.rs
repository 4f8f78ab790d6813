//! A graph lowered to dispatches with its planning problem: all that is known before a plan and a device.

use super::{ExecError, Layout};
use crate::graph::{DType, Graph, Rows, Sharing, Usage, Value, ValueId, int_word, usage};
use crate::kernel::{Dispatch, LowerLimits, Operand, lower, lower_shared};
use crate::plan::{Alignment, Plan};

/// A network ready to be planned and run. Steps are the graph's nodes, in order.
#[derive(Debug)]
pub struct Program {
    /// The graph.
    pub graph: Graph,
    /// Its planning problem.
    pub usage: Usage,
    /// Dispatches of each step, in order.
    pub steps: Vec<Vec<Dispatch>>,
    /// How its tensors are to be spread over buffers and bound.
    pub layout: Layout,
    /// Which values are bytes of others.
    sharing: Sharing,
    limits: LowerLimits,
}

/// Where a value lies at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In an arena.
    Arena {
        /// Which arena.
        arena: usize,
        /// First byte.
        offset_bytes: u64,
    },
    /// In the buffer of a graph input.
    Input {
        /// Which input, by position.
        input: usize,
        /// First byte; 0 for the input itself.
        offset_bytes: u64,
    },
    /// In the buffer of a graph output.
    Output {
        /// Which output, by position.
        output: usize,
        /// First byte; 0 for the output itself.
        offset_bytes: u64,
    },
    /// With the weights.
    Constant,
    /// Nowhere: it has no element, or nothing ever writes it.
    Nowhere,
}

impl Program {
    /// Lowers every node and reads off the usage intervals.
    ///
    /// # Errors
    /// The graph breaks a rule, a node has no kernel, or a tensor is over the binding limit and a node that
    /// binds it is not computed in segments. Nothing is allocated.
    pub fn new(graph: Graph, alignment: Alignment, limits: LowerLimits) -> Result<Self, ExecError> {
        Program::sharing(graph, Sharing::default(), alignment, limits)
    }

    /// The same with values that share storage: nodes whose output is there already have no dispatch.
    ///
    /// # Errors
    /// Like [`Program::new`].
    pub fn sharing(
        graph: Graph,
        sharing: Sharing,
        alignment: Alignment,
        limits: LowerLimits,
    ) -> Result<Self, ExecError> {
        graph.check()?;
        let sharing = within_limits(&graph, sharing, limits);
        let usage = usage(&graph, alignment, &sharing)?;
        let lower = |step| lower_shared(&graph, step, limits, &sharing);
        let steps = (0..graph.nodes.len()).map(lower).collect::<Result<Vec<_>, _>>()?;
        Ok(Program { graph, usage, steps, layout: Layout::Shared, sharing, limits })
    }

    /// Dispatches of a step as they are where nothing shares storage.
    ///
    /// # Errors
    /// None for a step that this program has.
    pub(super) fn unshared(&self, step: usize) -> Result<Vec<Dispatch>, ExecError> {
        Ok(lower(&self.graph, &self.graph.nodes[step], self.limits)?)
    }

    /// Whether a step's dispatches are others than those of [`Program::unshared`]: some are left out, since
    /// what they would write is there, or they read or write rows.
    pub(super) fn is_changed(&self, step: usize) -> bool {
        self.sharing.touches(step) || self.sharing.in_rows(&self.graph.nodes[step])
    }

    /// The rows in which a value lies, where it does not lie in one piece.
    pub(super) fn rows(&self, value: ValueId) -> Option<Rows> {
        self.sharing.rows(value)
    }

    /// Elements from the first of a value to its last, those of others between its rows included.
    pub(super) fn span_len(&self, value: ValueId) -> usize {
        let len = self.graph.get(value).len();
        self.rows(value).map_or(len, |rows| rows.span(len))
    }

    /// The same program in another layout. For [`Layout::PingPong`] no tensor that a step writes may share an
    /// arena with one that it reads. The alignment of the problem stays: see [`Layout::alignment`].
    ///
    /// # Errors
    /// The planner refuses a separation.
    pub fn with_layout(mut self, layout: Layout) -> Result<Self, ExecError> {
        self.layout = layout;
        layout.constrain(&self.graph, &self.sharing, &mut self.usage)?;
        Ok(self)
    }

    /// Where `value` lies under a plan of this program's problem.
    pub fn place(&self, plan: &Plan, value: ValueId) -> Place {
        if let Some(tensor) = self.usage.tensor(value) {
            return Place::Arena {
                arena: plan.arena(tensor).index(),
                offset_bytes: plan.offset_bytes(tensor),
            };
        }
        let (root, start_len) = self.sharing.place(value);
        if self.graph.get(root).constant.is_some() {
            return Place::Constant;
        }
        let offset_bytes = start_len as u64 * 4;
        let at = |list: &[ValueId]| list.iter().position(|v| *v == root);
        match (at(&self.graph.outputs), at(&self.graph.inputs)) {
            (Some(output), _) => Place::Output { output, offset_bytes },
            (None, Some(input)) => Place::Input { input, offset_bytes },
            (None, None) => Place::Nowhere,
        }
    }

    /// Dispatches of all steps.
    pub fn dispatch_count(&self) -> usize {
        self.steps.iter().map(Vec::len).sum()
    }

    /// Constant operands that some dispatch binds, in order of first use.
    pub fn constant_operands(&self) -> impl Iterator<Item = Operand> + '_ {
        let constant = |operand: &Operand| match operand {
            Operand::Value { value, .. } => self.graph.get(*value).constant.is_some(),
            Operand::Absent => false,
        };
        self.steps.iter().flatten().flat_map(|d| d.inputs.iter().copied()).filter(constant)
    }

    /// Bytes of all graph inputs and outputs.
    pub fn io_bytes(&self) -> u64 {
        self.graph.inputs.iter().chain(&self.graph.outputs).map(|id| self.graph.get(*id).size_bytes()).sum()
    }

    /// Checks the number and size of inputs: one word an element.
    ///
    /// # Errors
    /// Names the input and both numbers.
    pub fn check_inputs(&self, inputs: &[Vec<f32>]) -> Result<(), ExecError> {
        if inputs.len() != self.graph.inputs.len() {
            return Err(ExecError::InputCount { expected: self.graph.inputs.len(), got: inputs.len() });
        }
        for (id, data) in self.graph.inputs.iter().zip(inputs) {
            let value = self.graph.get(*id);
            if value.len() != data.len() {
                let (name, shape) = (value.name.clone(), value.shape.clone());
                return Err(ExecError::InputLen { name, shape, expected: value.len(), got: data.len() });
            }
        }
        Ok(())
    }

    /// The deterministic test input of every graph input; see [`default_input`].
    pub fn default_inputs(&self) -> Vec<Vec<f32>> {
        self.graph.inputs.iter().map(|id| default_input(self.graph.get(*id))).collect()
    }
}

/// The same sharing, but what a device's limits keep from being written in rows is copied there.
fn within_limits(graph: &Graph, mut sharing: Sharing, limits: LowerLimits) -> Sharing {
    for (step, node) in graph.nodes.iter().enumerate() {
        let [output] = node.outputs[..] else { continue };
        if sharing.rows(output).is_some() && lower_shared(graph, step, limits, &sharing).is_err() {
            sharing.gather(graph, output);
        }
    }
    sharing
}

/// The test input used where none is given, as words. Element i is `((i * 7919) % 1000) / 1000`, of
/// integers `((i * 7919) % 1000) % 256`, of bools that of integers modulo 2. A state that a network hands
/// from run to run (its name holds `state`) starts with zeros.
pub fn default_input(value: &Value) -> Vec<f32> {
    if value.name.to_ascii_lowercase().contains("state") {
        return vec![0.0; value.len()];
    }
    let element = |i: u64| {
        let draw = (i.wrapping_mul(7919) % 1000) as i32;
        match value.dtype {
            DType::Bool => int_word(draw % 256 % 2),
            DType::I8 => int_word(draw % 256 % 128),
            _ if value.is_float() => draw as f32 / 1000.0,
            _ => int_word(draw % 256),
        }
    };
    (0..value.len() as u64).map(element).collect()
}
