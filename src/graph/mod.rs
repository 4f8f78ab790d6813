//! Floor 1, pure: a network as values and nodes with every shape known, and its liveness as a planning
//! problem.
//!
//! A [`Graph`] is built by an importer, by [`crate::model::zoo`] or by hand; [`passes`] rewrite it and find
//! what shares storage; [`usage()`] reads tensor usage records off the schedule; [`training`] derives an
//! iteration of training.
//!
//! ```
//! use sublet::graph::passes::Passes;
//! use sublet::graph::{BinaryOp, Graph, Op, UnaryOp, Value, usage};
//! use sublet::plan::{Alignment, Planner};
//!
//! let mut graph = Graph::new("twice");
//! let [x, a, b, sum, out] = ["x", "a", "b", "sum", "out"].map(|name| graph.value(Value::f32(name, [256])));
//! graph.inputs.push(x);
//! graph.outputs.push(out);
//! graph.node("exp", Op::Unary(UnaryOp::Exp), vec![x], vec![a]);
//! graph.node("tanh", Op::Unary(UnaryOp::Tanh), vec![a], vec![b]);
//! graph.node("add", Op::Binary(BinaryOp::Add), vec![a, b], vec![sum]);
//! graph.node("relu", Op::Unary(UnaryOp::Relu), vec![sum], vec![out]);
//! graph.check()?;
//!
//! let (graph, sharing) = Passes::ALL.apply(graph)?;
//! let usage = usage(&graph, Alignment::PORTABLE, &sharing)?;
//! assert_eq!(usage.problem.len(), 3); // inputs and outputs have buffers of their own
//! let plan = Planner::auto().plan(&usage.problem)?;
//! assert_eq!(plan.peak_bytes(), 2 * 1024); // the sum takes the bytes of an input that dies there
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod elementwise;
mod error;
mod gates;
mod op;
pub mod passes;
mod sharing;
pub mod training;
mod types;
mod usage;
mod value;

pub use elementwise::{BinaryOp, UnaryOp};
pub use error::GraphError;
pub use gates::{Gate, GruPart, LstmPart};
pub use op::{Op, PadMode, PoolKind, ReduceKind, Reduction, Window, Window3};
pub use sharing::{Rows, Sharing};
pub use usage::{Usage, usage};
pub use value::{Constant, DType, Value, ValueId, WORD_BYTES, int_word, word_int};

/// One operator of the network; its position in [`Graph::nodes`] is its step in the schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name as in the model, or made up where the model gives none; never empty.
    pub name: String,
    /// What it computes, every attribute resolved.
    pub op: Op,
    /// Values it reads, in the order that [`Op`] states.
    pub inputs: Vec<ValueId>,
    /// Values it writes; each value has at most one writer.
    pub outputs: Vec<ValueId>,
}

/// A network in execution order: every shape is known, every constant is folded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// Name for reports.
    pub name: String,
    /// Every value; [`ValueId`] indexes this.
    pub values: Vec<Value>,
    /// The schedule, in topological order.
    pub nodes: Vec<Node>,
    /// Values the caller supplies, in the model's order. Never constants.
    pub inputs: Vec<ValueId>,
    /// Values the caller reads back, in the model's order. Each is written by a node.
    pub outputs: Vec<ValueId>,
}

impl Graph {
    /// An empty graph of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Graph { name: name.into(), ..Graph::default() }
    }

    /// Adds a value and returns its id.
    pub fn value(&mut self, value: Value) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("fewer than 2^32 values"));
        self.values.push(value);
        id
    }

    /// Appends a node to the schedule.
    pub fn node(&mut self, name: impl Into<String>, op: Op, inputs: Vec<ValueId>, outputs: Vec<ValueId>) {
        self.nodes.push(Node { name: name.into(), op, inputs, outputs });
    }

    /// The value behind an id.
    pub fn get(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// Total bytes of all constants that some node reads.
    pub fn constant_bytes(&self) -> u64 {
        let mut used = vec![false; self.values.len()];
        for id in self.nodes.iter().flat_map(|n| &n.inputs) {
            used[id.index()] = true;
        }
        self.values
            .iter()
            .zip(used)
            .filter(|(v, used)| *used && v.constant.is_some())
            .map(|(v, _)| v.size_bytes())
            .sum()
    }

    /// Checks what every later stage relies on: ids in range, writers before readers, one writer a value,
    /// outputs written, element types that the operators take, constants as long as their shapes.
    ///
    /// # Errors
    /// Names the node and the value that break a rule.
    pub fn check(&self) -> Result<(), GraphError> {
        let mut known: Vec<bool> = self.values.iter().map(|v| v.constant.is_some()).collect();
        for id in &self.inputs {
            if self.get(*id).constant.is_some() {
                return Err(GraphError::Invalid {
                    node: "graph inputs".into(),
                    what: format!("input '{}' is a constant", self.get(*id).name),
                });
            }
            known[id.index()] = true;
        }
        for node in &self.nodes {
            let bad = |what: String| GraphError::Invalid { node: node.name.clone(), what };
            for id in node.inputs.iter().chain(&node.outputs) {
                let value = self
                    .values
                    .get(id.index())
                    .ok_or_else(|| bad(format!("value {} does not exist", id.0)))?;
                if let Some(data) = value.constant.as_ref().filter(|data| data.len() != value.len()) {
                    let (name, shape) = (&value.name, &value.shape);
                    return Err(bad(format!("'{name}' of shape {shape:?} holds {} elements", data.len())));
                }
            }
            let inputs: Vec<&Value> = node.inputs.iter().map(|id| self.get(*id)).collect();
            for output in node.outputs.iter().map(|id| self.get(*id)) {
                node.op.check_types(&inputs, output).map_err(|what| GraphError::Type {
                    node: node.name.clone(),
                    op: node.op.name(),
                    what,
                })?;
            }
            for id in &node.inputs {
                if !known[id.index()] {
                    return Err(bad(format!("reads '{}' before any node wrote it", self.get(*id).name)));
                }
            }
            for id in &node.outputs {
                if std::mem::replace(&mut known[id.index()], true) {
                    return Err(bad(format!("'{}' already has a value", self.get(*id).name)));
                }
            }
        }
        let written: std::collections::HashSet<ValueId> =
            self.nodes.iter().flat_map(|n| n.outputs.iter().copied()).collect();
        match self.outputs.iter().find(|id| !written.contains(id)) {
            Some(id) => Err(GraphError::Invalid {
                node: "graph outputs".into(),
                what: format!("no node writes output '{}'", self.get(*id).name),
            }),
            None => Ok(()),
        }
    }
}
