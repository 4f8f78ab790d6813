//! The step at which most is live, and what is live there.

use serde_json::{Value, json};

use super::Subject;
use crate::cli::format::shape;
use crate::graph::{Graph, Node, ValueId};
use crate::plan::report::{grouped, mib};
use crate::plan::{TensorId, bound};

/// Tensors that a text names.
const NAMED: usize = 12;

/// What happens to a tensor at the peak step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The step writes it.
    Written,
    /// The step reads it.
    Read,
    /// Neither: it waits for a later step. Last touched at the one, next read at the other.
    Waits { since: u32, until: u32 },
    /// Records do not say.
    Live,
}

/// A tensor that is live at the peak.
pub(super) struct Part {
    pub id: TensorId,
    pub name: String,
    pub bytes: u64,
    pub shape: Option<String>,
    pub op: Option<String>,
    pub first: u32,
    pub last: u32,
    pub role: Role,
}

/// The peak step with what it is made of.
pub(super) struct Peak {
    pub step: u32,
    steps: u32,
    op: Option<(String, String)>,
    load_bytes: u64,
    pub parts: Vec<Part>,
}

impl Peak {
    /// The first step with the max load; `None` where no tensor has a byte.
    pub fn new(subject: &Subject) -> Option<Peak> {
        let (step, ids) = bound::peak(&subject.problem)?;
        let step = step.index() as u32;
        let node = subject.model.as_ref().and_then(|model| model.graph.nodes.get(step as usize));
        Some(Peak {
            step,
            steps: subject.problem.steps(),
            op: node.map(|node| (node.op.name().to_owned(), node.name.clone())),
            load_bytes: bound::max_load(&subject.problem),
            parts: ids.into_iter().map(|id| part(subject, id, step)).collect(),
        })
    }

    /// Live bytes at the step.
    pub fn load_bytes(&self) -> u64 {
        self.load_bytes
    }

    /// Bytes that outputs take of inputs at the step.
    fn in_place_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum::<u64>().saturating_sub(self.load_bytes)
    }

    pub fn json(&self) -> Value {
        let part = |part: &Part| {
            let (since, until) = match part.role {
                Role::Waits { since, until } => (Some(since), Some(until)),
                _ => (None, None),
            };
            json!({
                "tensor": part.name,
                "bytes": part.bytes,
                "share": self.share(part),
                "shape": part.shape,
                "op": part.op,
                "first": part.first,
                "last": part.last,
                "role": part.role.key(),
                "waits_since": since,
                "waits_until": until,
            })
        };
        json!({
            "step": self.step,
            "op": self.op.as_ref().map(|(op, _)| op),
            "node": self.op.as_ref().map(|(_, node)| node),
            "load_bytes": self.load_bytes,
            "in_place_bytes": self.in_place_bytes(),
            "tensors": self.parts.iter().map(part).collect::<Vec<_>>(),
        })
    }

    fn share(&self, part: &Part) -> f64 {
        part.bytes as f64 / self.load_bytes.max(1) as f64
    }

    pub fn text(&self) -> String {
        let what = self.op.as_ref().map(|(op, node)| format!(": {op} {node}")).unwrap_or_default();
        let mut text = format!("peak step {} of {}{what}\n\n", self.step, self.steps);
        for part in self.parts.iter().take(NAMED) {
            let shape = part.shape.as_ref().map(|shape| format!(" [{shape}]")).unwrap_or_default();
            let op = part.op.as_ref().map(|op| format!(", by {op}")).unwrap_or_default();
            text.push_str(&format!(
                "{}  {:>5.1} %  {}{shape}{op}: {}\n",
                mib(part.bytes),
                self.share(part) * 100.0,
                part.name,
                part.role.text(part)
            ));
        }
        let rest = self.parts.iter().skip(NAMED);
        if self.parts.len() > NAMED {
            let bytes = rest.map(|part| part.bytes).sum();
            text.push_str(&format!(
                "{}           {} more\n",
                mib(bytes),
                grouped((self.parts.len() - NAMED) as u64)
            ));
        }
        if self.in_place_bytes() > 0 {
            text.push_str(&format!("{}           less: written in place\n", mib(self.in_place_bytes())));
        }
        text
    }
}

impl Role {
    fn key(self) -> &'static str {
        match self {
            Role::Written => "written",
            Role::Read => "read",
            Role::Waits { .. } => "waits",
            Role::Live => "live",
        }
    }

    fn text(self, part: &Part) -> String {
        match self {
            Role::Written => "written here".to_owned(),
            Role::Read => "read here".to_owned(),
            Role::Waits { since, until } => format!("waits from step {since} until step {until}"),
            Role::Live => format!("live from step {} to {}", part.first, part.last),
        }
    }
}

fn part(subject: &Subject, id: TensorId, step: u32) -> Part {
    let tensor = &subject.problem.tensors()[id.index()];
    let mut part = Part {
        id,
        name: tensor.label().to_owned(),
        bytes: tensor.size_bytes(),
        shape: None,
        op: None,
        first: tensor.first(),
        last: subject.problem.last(tensor),
        role: Role::Live,
    };
    if let Some(model) = &subject.model {
        let value = model.usage.value(id);
        part.shape = Some(shape(&model.graph.get(value).shape));
        part.op = model.graph.nodes.get(part.first as usize).map(|node| node.op.name().to_owned());
        // A base may live through its views alone.
        let group = members(subject, id).map(|member| model.usage.value(member)).collect::<Vec<_>>();
        part.role = role(&model.graph, &group, step, part.last);
    }
    part
}

/// A tensor and all its views.
fn members(subject: &Subject, id: TensorId) -> impl Iterator<Item = TensorId> + '_ {
    subject.problem.ids().filter(move |member| {
        let mut at = *member;
        while let Some(alias) = subject.problem.tensors()[at.index()].alias() {
            at = alias.base;
        }
        at == id
    })
}

fn role(graph: &Graph, group: &[ValueId], step: u32, last: u32) -> Role {
    let has = |ids: &[ValueId]| ids.iter().any(|id| group.contains(id));
    let touches = |node: &Node| has(&node.inputs) || has(&node.outputs);
    let Some(node) = graph.nodes.get(step as usize) else { return Role::Live };
    if has(&node.outputs) {
        return Role::Written;
    }
    if has(&node.inputs) {
        return Role::Read;
    }
    let touched = |at: &u32| graph.nodes.get(*at as usize).is_some_and(touches);
    let since = (0..step).rev().find(touched);
    let until = (step + 1..=last).find(touched);
    match (since, until) {
        (Some(since), Some(until)) => Role::Waits { since, until },
        // Kept for the caller.
        (Some(since), None) => Role::Waits { since, until: last },
        _ => Role::Live,
    }
}
