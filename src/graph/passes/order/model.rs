//! What an order costs, node by node: a fast picture of the load in which nodes are executed one at a time.
//!
//! Values that are bytes of one value are one *block*: it lives from the first of its writers to the last
//! node that touches it. What shares storage was found for one order and is taken as it is for all of them;
//! only whether an input dies at a node, so that the output may take its bytes, follows the order.

use crate::graph::sharing::{Kind, kinds};
use crate::graph::{Graph, Sharing};

/// One node.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    /// Blocks that it reads or writes, each once.
    touches: Vec<u32>,
    /// The block that it writes, if it may take the bytes of others, with those.
    in_place: Option<(u32, Vec<u32>)>,
    /// Nodes that must come first.
    before: Vec<u32>,
    /// Nodes that must come later.
    after: Vec<u32>,
}

/// Bytes that several values share.
#[derive(Debug, Clone, Copy)]
struct Block {
    size_bytes: u64,
    /// Nodes that touch it.
    touched: u32,
    /// Nodes that write to it.
    written: u32,
}

/// Nodes to be put in order, numbered as they are now.
#[derive(Debug, Clone)]
pub(super) struct Model {
    steps: Vec<Step>,
    blocks: Vec<Block>,
    start: State,
}

/// What has been executed, and what lives.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Per node the number of nodes before it that are still to come.
    missing: Vec<u32>,
    /// Per block the number of nodes that will touch it.
    left: Vec<u32>,
    /// Nodes that may be next, ascending.
    ready: Vec<u32>,
    /// Bytes that live between two nodes.
    load_bytes: u64,
}

/// What executing a node costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// Bytes that live while it runs.
    pub during_bytes: u64,
    /// Bytes that live afterwards.
    pub after_bytes: u64,
}

impl Model {
    /// The whole graph, under a sharing.
    pub fn new(graph: &Graph, sharing: &Sharing) -> Self {
        let kinds = kinds(graph);
        let mut number: Vec<Option<u32>> = vec![None; graph.values.len()];
        let mut writer: Vec<Option<u32>> = vec![None; graph.values.len()];
        let mut model = Model { steps: Vec::new(), blocks: Vec::new(), start: State::default() };
        let mut block = |model: &mut Model, value: crate::graph::ValueId| {
            let root = sharing.place(value).0;
            if kinds[root.index()] != Kind::Intermediate || graph.get(value).is_empty() {
                return None;
            }
            Some(*number[root.index()].get_or_insert_with(|| {
                let size_bytes = graph.get(root).size_bytes();
                model.blocks.push(Block { size_bytes, touched: 0, written: 0 });
                model.blocks.len() as u32 - 1
            }))
        };
        let mut permits: std::collections::BTreeMap<_, Vec<_>> = std::collections::BTreeMap::new();
        for (output, input) in sharing.in_place() {
            permits.entry(*output).or_default().push(*input);
        }
        for (at, node) in (0u32..).zip(&graph.nodes) {
            let mut step = Step::default();
            for id in &node.outputs {
                writer[id.index()] = Some(at);
                let Some(written) = block(&mut model, *id) else { continue };
                model.blocks[written as usize].written += 1;
                step.touches.push(written);
                let inputs = permits.get(id).into_iter().flatten();
                let inputs: Vec<u32> =
                    distinct(inputs.filter_map(|id| block(&mut model, *id)).filter(|b| *b != written));
                step.in_place = (!inputs.is_empty()).then_some((written, inputs));
            }
            step.touches.extend(node.inputs.iter().filter_map(|id| block(&mut model, *id)));
            step.touches = distinct(step.touches.into_iter());
            step.touches.iter().for_each(|b| model.blocks[*b as usize].touched += 1);
            step.before = distinct(node.inputs.iter().filter_map(|id| writer[id.index()]));
            model.steps.push(step);
        }
        for at in 0..model.steps.len() {
            for before in model.steps[at].before.clone() {
                model.steps[before as usize].after.push(at as u32);
            }
        }
        model.start.left = model.blocks.iter().map(|b| b.touched).collect();
        model.start.missing = model.steps.iter().map(|s| s.before.len() as u32).collect();
        model.start.find_ready();
        model
    }

    /// The nodes of a stretch of a valid order as a model of its own; `state` is what is executed before it.
    pub fn piece(&self, nodes: &[u32], state: &State) -> Model {
        let mut local = vec![u32::MAX; self.steps.len()];
        (0u32..).zip(nodes).for_each(|(i, node)| local[*node as usize] = i);
        let blocks = distinct(nodes.iter().flat_map(|n| self.steps[*n as usize].touches.iter().copied()));
        let here = |b: &u32| blocks.binary_search(b).expect("a node of the stretch touches it") as u32;
        let within = |list: &[u32]| -> Vec<u32> {
            list.iter().map(|n| local[*n as usize]).filter(|n| *n != u32::MAX).collect()
        };
        let step = |node: &u32| {
            let step = &self.steps[*node as usize];
            Step {
                touches: step.touches.iter().map(here).collect(),
                in_place: step.in_place.as_ref().map(|(o, i)| (here(o), i.iter().map(here).collect())),
                before: within(&step.before),
                after: within(&step.after),
            }
        };
        let steps: Vec<Step> = nodes.iter().map(step).collect();
        let mut start = State {
            missing: steps.iter().map(|s| s.before.len() as u32).collect(),
            left: blocks.iter().map(|b| state.left[*b as usize]).collect(),
            ready: Vec::new(),
            load_bytes: state.load_bytes,
        };
        start.find_ready();
        Model { steps, blocks: blocks.iter().map(|b| self.blocks[*b as usize]).collect(), start }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Nothing executed yet.
    pub fn start(&self) -> &State {
        &self.start
    }

    /// What executing a node next would cost.
    pub fn cost(&self, state: &State, node: u32) -> Cost {
        let step = &self.steps[node as usize];
        let (mut born, mut died) = (0, 0);
        for b in &step.touches {
            let block = &self.blocks[*b as usize];
            let left = state.left[*b as usize];
            born += if left == block.touched { block.size_bytes } else { 0 };
            died += if left == 1 { block.size_bytes } else { 0 };
        }
        let full = state.load_bytes + born;
        Cost { during_bytes: full - self.saved(step, state), after_bytes: full - died }
    }

    /// Bytes that an output takes from inputs that die.
    fn saved(&self, step: &Step, state: &State) -> u64 {
        let Some((output, inputs)) = &step.in_place else { return 0 };
        if state.left[*output as usize] != self.blocks[*output as usize].touched {
            return 0;
        }
        let dying = inputs.iter().filter(|b| state.left[**b as usize] == 1);
        self.most_saved(*output, dying)
    }

    fn most_saved<'a>(&self, output: u32, inputs: impl Iterator<Item = &'a u32>) -> u64 {
        let output_bytes = self.blocks[output as usize].size_bytes;
        let inputs: u64 = inputs.map(|b| self.blocks[*b as usize].size_bytes.min(output_bytes)).sum();
        inputs.min(output_bytes)
    }

    /// Executes a node.
    pub fn execute(&self, state: &mut State, node: u32) {
        state.load_bytes = self.cost(state, node).after_bytes;
        let step = &self.steps[node as usize];
        step.touches.iter().for_each(|b| state.left[*b as usize] -= 1);
        if let Ok(at) = state.ready.binary_search(&node) {
            state.ready.remove(at);
        }
        for after in &step.after {
            let missing = &mut state.missing[*after as usize];
            *missing -= 1;
            if *missing == 0 {
                let at = state.ready.partition_point(|n| n < after);
                state.ready.insert(at, *after);
            }
        }
    }

    /// A node that may as well be next, since no order that is completed within `limit_bytes` is lost.
    ///
    /// Moved to the front of any such order, a node that leaves no more bytes than it found raises no other
    /// step: what dies by it lived until it came. What it writes must be its own, or another writer's saving
    /// in place might be lost.
    pub fn forced(&self, state: &State, limit_bytes: u64) -> Option<u32> {
        let is_free = |node: &u32| {
            let cost = self.cost(state, *node);
            cost.after_bytes <= state.load_bytes
                && cost.during_bytes <= limit_bytes
                && self.steps[*node as usize].touches.iter().all(|b| {
                    let block = &self.blocks[*b as usize];
                    block.written == 1 || state.left[*b as usize] != block.touched
                })
        };
        state.ready.iter().copied().find(is_free)
    }

    /// The highest load of an order; every step of it is told.
    pub fn walk(&self, order: impl IntoIterator<Item = u32>, mut visit: impl FnMut(u64)) -> State {
        let mut state = self.start.clone();
        for node in order {
            visit(self.cost(&state, node).during_bytes);
            self.execute(&mut state, node);
        }
        state
    }

    /// The highest load of an order.
    pub fn peak(&self, order: impl IntoIterator<Item = u32>) -> u64 {
        let mut peak = 0;
        self.walk(order, |load| peak = peak.max(load));
        peak
    }

    /// What no order can undercut: some node's own blocks, all live while it runs.
    pub fn floor(&self) -> u64 {
        let blocks = self.blocks.iter().zip(&self.start.left);
        let live: u64 = blocks.filter(|(b, left)| **left < b.touched).map(|(b, _)| b.size_bytes).sum();
        // What lives all along and is touched by none of these nodes.
        let around = self.start.load_bytes - live;
        let least = |step: &Step| {
            let all: u64 = step.touches.iter().map(|b| self.blocks[*b as usize].size_bytes).sum();
            let saved = step.in_place.as_ref().map_or(0, |(o, inputs)| self.most_saved(*o, inputs.iter()));
            around + all - saved
        };
        self.steps.iter().map(least).max().unwrap_or(0)
    }

    /// Nodes that have the same place in every order, as flags.
    pub fn cuts(&self) -> Vec<bool> {
        let n = self.steps.len();
        // Alone from the front: all that comes later needs it. Alone from the back: it needs all before.
        let alone = |places: &mut dyn Iterator<Item = usize>, needs: &dyn Fn(&Step) -> usize, back: bool| {
            let mut missing: Vec<usize> = self.steps.iter().map(needs).collect();
            let mut ready = missing.iter().filter(|m| **m == 0).count();
            let mut found = vec![false; n];
            for at in places {
                found[at] = ready == 1;
                ready -= 1;
                for next in if back { &self.steps[at].before } else { &self.steps[at].after } {
                    missing[*next as usize] -= 1;
                    ready += usize::from(missing[*next as usize] == 0);
                }
            }
            found
        };
        let front = alone(&mut (0..n), &|s| s.before.len(), false);
        let back = alone(&mut (0..n).rev(), &|s| s.after.len(), true);
        front.iter().zip(back).map(|(f, b)| *f && b).collect()
    }
}

impl State {
    /// Nodes that may be next, ascending.
    pub fn ready(&self) -> &[u32] {
        &self.ready
    }

    fn find_ready(&mut self) {
        let free = (0u32..).zip(&self.missing).filter(|(_, missing)| **missing == 0);
        self.ready = free.map(|(node, _)| node).collect();
    }
}

/// Ascending, each once.
fn distinct(list: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut list: Vec<u32> = list.collect();
    list.sort_unstable();
    list.dedup();
    list
}
