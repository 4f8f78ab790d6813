//! A training iteration as a planning problem: the steps of the backward pass derived from a forward graph,
//! with the tensors that they write and those of the forward pass that they still need.
//!
//! Nothing here is computed, only counted. One iteration is: every node forward, in order; the loss, which
//! reads the graph's outputs and writes their gradients; the backward step of every node that a gradient
//! reaches, in the opposite order; the update of the weights. Rules:
//!
//! - An activation lives from the step that writes it to the last that reads it, forward or backward. Which
//!   of its tensors an operator's backward step reads is a table, one row an operator
//!   (`src/graph/training/rule.rs`).
//! - The gradient of a value lives from the backward step of its last reader to that of its writer. Later
//!   readers add to it where it lies.
//! - The gradient of a weight lives from the first backward step that adds to it to the update. Weights
//!   themselves live always and are counted apart, as [`Training::weights_bytes`]; so are the graph's inputs,
//!   which get no gradient. A weight is a float constant of more than one element.
//! - A convolution with a fused activation first turns the gradient of its output into that of the sum: one
//!   more tensor of the output's size, in that step alone.
//! - Everything that depends on an input of the graph is as many times larger as there are samples; weights
//!   and their gradients are not.
//!
//! Workspaces of kernels, optimiser states and dropout's masks (the forward graph has no dropout) are not
//! counted.
//!
//! ```
//! use sublet::graph::training::{Training, Role};
//! use sublet::plan::{Alignment, Planner};
//!
//! let graph = sublet::model::zoo::build("mobilenet_v1").unwrap();
//! let training = Training::new(&graph, 32)?;
//! let problem = training.problem(Alignment::PORTABLE)?;
//! let plan = Planner::auto().plan(&problem)?;
//! plan.validate(&problem).unwrap();
//! let activations = training.tensors.iter().filter(|t| t.role == Role::Activation).count();
//! assert_eq!(activations, graph.nodes.len());
//! # Ok::<(), sublet::graph::GraphError>(())
//! ```

mod rule;

use super::{Graph, GraphError, Node, ValueId};
use crate::plan::{Alignment, PlanError, Problem};
use rule::{Rule, Saved, rule};

/// What a tensor of a training iteration is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A value of the forward graph.
    Activation,
    /// Written by a forward step for its backward step alone: indices, statistics, a sum before its
    /// activation.
    Saved,
    /// Of a value of the forward graph.
    Gradient,
    /// Lives in one backward step.
    Scratch,
    /// Of a constant that is trained.
    WeightGradient,
}

/// A step of an iteration; nodes by their position in [`Graph::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The node, as in inference.
    Forward(usize),
    /// Reads the graph's outputs, writes their gradients.
    Loss,
    /// Gradients of what the node reads, from those of what it writes.
    Backward(usize),
    /// Reads the gradients of all weights.
    Update,
}

/// A tensor of a training iteration with the closed interval of steps in which it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingTensor {
    /// The value's name, and for what is not an activation a word behind it.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// The value of the forward graph that it is or belongs to.
    pub value: ValueId,
    /// Bytes for the whole batch.
    pub size_bytes: u64,
    /// First step, an index into [`Training::steps`].
    pub first: u32,
    /// Last step, included.
    pub last: u32,
}

/// A training iteration: its steps, and the tensors that must be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Training {
    /// The schedule.
    pub steps: Vec<Step>,
    /// In order of first use.
    pub tensors: Vec<TrainingTensor>,
    /// Bytes of the constants that are trained; not among the tensors.
    pub weights_bytes: u64,
    /// Bytes of the graph's inputs for the whole batch; not among the tensors.
    pub inputs_bytes: u64,
}

impl Training {
    /// Derives one iteration over `batch` samples from a graph that is built for one.
    ///
    /// # Errors
    /// No samples; a size that overflows, naming the tensor.
    pub fn new(graph: &Graph, batch: u64) -> Result<Self, GraphError> {
        if batch == 0 {
            return Err(GraphError::Invalid { node: "batch".into(), what: "0 samples".into() });
        }
        Deriving::new(graph, batch).derive()
    }

    /// The tensors as a planning problem.
    ///
    /// # Errors
    /// Sizes overflow together; two values of the graph have one name.
    pub fn problem(&self, alignment: Alignment) -> Result<Problem, GraphError> {
        let mut problem = Problem::new(alignment);
        for tensor in &self.tensors {
            problem.tensor(tensor.name.clone(), tensor.size_bytes, tensor.first..=tensor.last)?;
        }
        Ok(problem)
    }
}

/// The iteration as far as it is derived.
struct Deriving<'a> {
    graph: &'a Graph,
    batch: u64,
    /// Whether a value depends on an input of the graph.
    per_sample: Vec<bool>,
    /// Whether a value is a trained weight or depends on one.
    trained: Vec<bool>,
    steps: Vec<Step>,
    tensors: Vec<TrainingTensor>,
    /// Index of the tensor that holds a value, and of the one that holds its gradient.
    activations: Vec<Option<usize>>,
    gradients: Vec<Option<usize>>,
    /// What a node saves for its backward step.
    saved: Vec<Option<usize>>,
}

impl<'a> Deriving<'a> {
    fn new(graph: &'a Graph, batch: u64) -> Self {
        let none = vec![None; graph.values.len()];
        let mut this = Deriving {
            graph,
            batch,
            per_sample: vec![false; graph.values.len()],
            trained: vec![false; graph.values.len()],
            steps: Vec::new(),
            tensors: Vec::new(),
            activations: none.clone(),
            gradients: none,
            saved: vec![None; graph.nodes.len()],
        };
        graph.inputs.iter().for_each(|id| this.per_sample[id.index()] = true);
        for node in &graph.nodes {
            let wants = this.wants(node);
            for (id, wants) in node.inputs.iter().zip(&wants) {
                this.trained[id.index()] |= wants;
            }
            let per_sample = node.inputs.iter().any(|id| this.per_sample[id.index()]);
            for id in &node.outputs {
                this.per_sample[id.index()] = per_sample;
                this.trained[id.index()] =
                    graph.get(*id).is_float() && !rule::stops(&node.op) && wants.contains(&true);
            }
        }
        this
    }

    /// Which inputs of a node get a gradient from it: those that are weights or depend on some.
    fn wants(&self, node: &Node) -> Vec<bool> {
        let of = |(position, id): (usize, &ValueId)| {
            let value = self.graph.get(*id);
            let weight = value.constant.is_some() && value.len() > 1;
            value.is_float() && (weight || self.trained[id.index()]) && rule::reaches(&node.op, position)
        };
        node.inputs.iter().enumerate().map(of).collect()
    }

    fn derive(mut self) -> Result<Training, GraphError> {
        let mut rules = Vec::with_capacity(self.graph.nodes.len());
        for (i, node) in self.graph.nodes.iter().enumerate() {
            rules.push(self.forward(i, node)?);
        }
        self.loss()?;
        for (i, node) in self.graph.nodes.iter().enumerate().rev() {
            self.backward(i, node, &rules[i])?;
        }
        let update = self.step(Step::Update);
        for tensor in self.tensors.iter_mut().filter(|t| t.role == Role::WeightGradient) {
            tensor.last = update;
        }
        // What no backward step asked for was saved in vain.
        self.tensors.retain(|t| t.role != Role::Saved || t.last > t.first);
        let (mut weights_bytes, mut inputs_bytes) = (0_u64, 0_u64);
        for (i, value) in self.graph.values.iter().enumerate() {
            if value.constant.is_some() && self.trained[i] {
                weights_bytes = weights_bytes.saturating_add(value.size_bytes());
            }
        }
        for id in &self.graph.inputs {
            inputs_bytes = inputs_bytes.saturating_add(self.bytes(*id, self.graph.get(*id).size_bytes())?);
        }
        Ok(Training { steps: self.steps, tensors: self.tensors, weights_bytes, inputs_bytes })
    }

    fn forward(&mut self, i: usize, node: &Node) -> Result<Rule, GraphError> {
        let step = self.step(Step::Forward(i));
        for id in &node.outputs {
            let value = self.graph.get(*id);
            let bytes = self.bytes(*id, value.size_bytes())?;
            self.activations[id.index()] =
                Some(self.tensor(value.name.clone(), Role::Activation, *id, bytes, step));
        }
        for id in &node.inputs {
            self.read(self.activations[id.index()], step);
        }
        let rule = rule(self.graph, node, &self.wants(node));
        let out = node.outputs[0];
        let bytes = match rule.saved {
            Saved::Nothing => return Ok(rule),
            Saved::PerSample(bytes) => self.bytes(out, bytes)?,
            Saved::Once(bytes) => bytes,
        };
        let name = format!("{}:saved", self.graph.get(out).name);
        self.saved[i] = Some(self.tensor(name, Role::Saved, out, bytes, step));
        Ok(rule)
    }

    fn loss(&mut self) -> Result<(), GraphError> {
        let step = self.step(Step::Loss);
        for id in &self.graph.outputs {
            self.read(self.activations[id.index()], step);
            if self.trained[id.index()] {
                self.add_gradient(*id, step)?;
            }
        }
        Ok(())
    }

    fn backward(&mut self, i: usize, node: &Node, rule: &Rule) -> Result<(), GraphError> {
        if node.outputs.iter().all(|id| self.gradients[id.index()].is_none()) {
            return Ok(());
        }
        let wants = self.wants(node);
        let step = self.step(Step::Backward(i));
        for id in &node.outputs {
            self.read(self.gradients[id.index()], step);
            if rule.output {
                self.read(self.activations[id.index()], step);
            }
        }
        self.read(self.saved[i], step);
        for (id, _) in node.inputs.iter().zip(&rule.inputs).filter(|(_, needed)| **needed) {
            self.read(self.activations[id.index()], step);
        }
        if rule.scratch {
            let out = node.outputs[0];
            let value = self.graph.get(out);
            let bytes = self.bytes(out, value.size_bytes())?;
            self.tensor(format!("{}:gradient of the sum", value.name), Role::Scratch, out, bytes, step);
        }
        for (id, _) in node.inputs.iter().zip(wants).filter(|(_, wants)| *wants) {
            self.add_gradient(*id, step)?;
        }
        Ok(())
    }

    /// A step adds to the gradient of a value: the first one writes it.
    fn add_gradient(&mut self, id: ValueId, step: u32) -> Result<(), GraphError> {
        if self.gradients[id.index()].is_some() {
            self.read(self.gradients[id.index()], step);
            return Ok(());
        }
        let value = self.graph.get(id);
        let role = if value.constant.is_some() { Role::WeightGradient } else { Role::Gradient };
        let bytes = self.bytes(id, value.size_bytes())?;
        let name = format!("{}:gradient", value.name);
        self.gradients[id.index()] = Some(self.tensor(name, role, id, bytes, step));
        Ok(())
    }

    fn step(&mut self, step: Step) -> u32 {
        self.steps.push(step);
        u32::try_from(self.steps.len() - 1).unwrap_or(u32::MAX)
    }

    fn tensor(&mut self, name: String, role: Role, value: ValueId, size_bytes: u64, step: u32) -> usize {
        self.tensors.push(TrainingTensor { name, role, value, size_bytes, first: step, last: step });
        self.tensors.len() - 1
    }

    /// A tensor is used in a step; what has none (inputs, constants) lies elsewhere.
    fn read(&mut self, tensor: Option<usize>, step: u32) {
        if let Some(tensor) = tensor {
            self.tensors[tensor].last = step;
        }
    }

    /// Bytes for the batch of what takes that many for one sample, where the value depends on samples.
    fn bytes(&self, id: ValueId, one: u64) -> Result<u64, GraphError> {
        let times = if self.per_sample[id.index()] { self.batch } else { 1 };
        one.checked_mul(times).ok_or_else(|| {
            let tensor = self.graph.get(id).name.clone();
            GraphError::Plan(PlanError::Overflow { tensor, size_bytes: one, total_bytes: u64::MAX })
        })
    }
}
