//! Operators that join their producer, where one kernel does both.
//!
//! One sweep over the schedule: each node is offered to the convolution or matrix product that its input
//! comes from. What a joined node computed is then written by that product at its own place in the schedule,
//! so the value between the two is never stored.

mod activation;
mod addend;
mod affine;
mod bias;
mod split;

use crate::graph::{Graph, Node, Op, ValueId};

pub(super) use split::split_concats;

/// Joins what can be joined.
pub(super) fn fuse(graph: &mut Graph) {
    let mut draft = Draft::new(graph);
    for node in 0..draft.nodes.len() {
        let _ = affine::join(&mut draft, node)
            || bias::join(&mut draft, node)
            || addend::join(&mut draft, node)
            || activation::join(&mut draft, node);
    }
    draft.finish();
    forget_unread(graph);
}

/// A graph whose nodes are being joined.
struct Draft<'a> {
    graph: &'a mut Graph,
    /// In order; `None` where a node was joined to an earlier one.
    nodes: Vec<Option<Node>>,
    /// Per value the node that writes it.
    writer: Vec<Option<usize>>,
    /// Per value how often it is read, by nodes or as an output.
    reads: Vec<usize>,
}

impl<'a> Draft<'a> {
    fn new(graph: &'a mut Graph) -> Self {
        let nodes: Vec<Option<Node>> = std::mem::take(&mut graph.nodes).into_iter().map(Some).collect();
        let mut draft = Draft {
            writer: vec![None; graph.values.len()],
            reads: vec![0; graph.values.len()],
            nodes,
            graph,
        };
        for (at, node) in draft.nodes.iter().enumerate() {
            let Some(node) = node else { continue };
            node.outputs.iter().for_each(|id| draft.writer[id.index()] = Some(at));
            node.inputs.iter().for_each(|id| draft.reads[id.index()] += 1);
        }
        draft.graph.outputs.iter().for_each(|id| draft.reads[id.index()] += 1);
        draft
    }

    fn finish(self) {
        self.graph.nodes = self.nodes.into_iter().flatten().collect();
    }

    /// The convolution or matrix product that writes a value which is read once, and that has room for
    /// another operation.
    fn open(&self, value: ValueId) -> Option<usize> {
        let at = self.writer[value.index()].filter(|_| self.reads[value.index()] == 1)?;
        let is_open = match &self.nodes[at].as_ref()?.op {
            Op::Conv { activation, .. } | Op::MatMul { activation } | Op::Gemm { activation, .. } => {
                activation.is_none()
            }
            _ => false,
        };
        is_open.then_some(at)
    }

    /// The same, if it is a convolution.
    fn open_conv(&self, value: ValueId) -> Option<usize> {
        let is_conv = |at: &usize| self.node(*at).is_some_and(|n| matches!(n.op, Op::Conv { .. }));
        self.open(value).filter(is_conv)
    }

    /// How long the bias of a convolution or matrix product is.
    fn columns(&self, at: usize) -> Option<usize> {
        let node = self.node(at)?;
        let shape = &self.graph.get(*node.inputs.get(1)?).shape;
        match (&node.op, &shape[..]) {
            (Op::Conv { .. }, [channels, ..]) => Some(*channels),
            (Op::Gemm { trans_b, .. }, [k, n]) => Some(if *trans_b { *k } else { *n }),
            (Op::MatMul { .. }, [_]) => Some(1),
            (Op::MatMul { .. }, [.., n]) => Some(*n),
            _ => None,
        }
    }

    /// The node at a position that has not been joined.
    fn node(&self, at: usize) -> Option<&Node> {
        self.nodes[at].as_ref()
    }

    /// Lets the product at `product` write what the node at `at` wrote, with these inputs and that operator;
    /// the node is gone.
    fn join(&mut self, product: usize, at: usize, op: Op, inputs: Vec<ValueId>) {
        let Some(joined) = self.nodes[at].take() else { return };
        let Some(node) = self.nodes[product].as_mut() else { return };
        for id in &inputs {
            self.reads.resize(self.graph.values.len(), 0);
            self.writer.resize(self.graph.values.len(), None);
            self.reads[id.index()] += 1;
        }
        node.inputs.iter().chain(&joined.inputs).for_each(|id| self.reads[id.index()] -= 1);
        joined.outputs.iter().for_each(|id| self.writer[id.index()] = Some(product));
        (node.op, node.inputs, node.outputs) = (op, inputs, joined.outputs);
    }

    /// A constant of the graph under a free name.
    fn constant(&mut self, wish: &str, shape: Vec<usize>, data: Vec<f32>) -> ValueId {
        let id = add_constant(self.graph, wish, shape, data);
        self.reads.push(0);
        self.writer.push(None);
        id
    }
}

/// Adds a constant whose name starts with `wish`.
fn add_constant(graph: &mut Graph, wish: &str, shape: Vec<usize>, data: Vec<f32>) -> ValueId {
    // Names of values are unique, and a number that grows with them makes this one so.
    let name = format!("{wish}#{}", graph.values.len());
    graph.value(crate::graph::Value::f32_constant(name, shape, data))
}

/// Drops the data of constants that no node reads any more.
fn forget_unread(graph: &mut Graph) {
    let mut read = vec![false; graph.values.len()];
    graph.nodes.iter().flat_map(|n| &n.inputs).for_each(|id| read[id.index()] = true);
    let unread = graph.values.iter_mut().zip(read).filter(|(_, read)| !read);
    unread.for_each(|(value, _)| value.constant = None);
}
