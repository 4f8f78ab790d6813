//! Order and names: every name is written once, every read name is written before, unknown operators
//! are listed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use rten_onnx::onnx::{GraphProto, ModelProto, NodeProto};

use super::{inputs::Input, ops};
use crate::model::{ModelError, UnknownOperator};

/// Version of the standard operator set that the model imports.
///
/// # Errors
/// It imports none, or one before 7 (whose broadcasting is another).
pub(super) fn opset(model: &ModelProto, file: &str) -> Result<i64, ModelError> {
    let malformed = |what: String| ModelError::Malformed { file: file.to_string(), what };
    let standard = model.opset_import.iter().find(|o| is_standard(o.domain.as_deref()));
    let version = standard.ok_or_else(|| malformed("it imports no standard operator set".into()))?;
    match version.version {
        Some(v) if v >= 7 => Ok(v),
        other => Err(malformed(format!(
            "operator set {}; supported from 7 on (convert it with onnx.version_converter)",
            other.unwrap_or(0)
        ))),
    }
}

fn is_standard(domain: Option<&str>) -> bool {
    matches!(domain, None | Some("" | "ai.onnx"))
}

/// Graphs inside the nodes of a graph, at any depth.
pub(super) fn inner_graphs(graph: &GraphProto) -> Vec<&GraphProto> {
    let own = graph.node.iter().flat_map(|n| &n.attribute).filter_map(|a| a.g.as_ref());
    own.flat_map(|inner| [vec![inner], inner_graphs(inner)].concat()).collect()
}

/// The nodes of a graph and of all graphs inside it.
pub(super) fn all_nodes(graph: &GraphProto) -> Vec<&NodeProto> {
    let inner = inner_graphs(graph).into_iter().flat_map(|inner| &inner.node);
    graph.node.iter().chain(inner).collect()
}

/// Every name that a graph and all graphs inside it read, outputs included, as often as they do.
pub(super) fn names_read_in(graph: &GraphProto) -> Vec<&str> {
    let inputs = all_nodes(graph).into_iter().flat_map(|n| &n.input).map(String::as_str);
    let inner = inner_graphs(graph).into_iter().flat_map(|g| &g.output);
    let outputs = graph.output.iter().chain(inner).filter_map(|o| o.name.as_deref());
    inputs.chain(outputs).collect()
}

/// Names that a node reads: its inputs, and what graphs inside it take from around it.
fn read_names(node: &NodeProto) -> Vec<&str> {
    let mut names: Vec<&str> = node.input.iter().map(String::as_str).collect();
    for graph in node.attribute.iter().filter_map(|a| a.g.as_ref()) {
        let mut own: BTreeSet<&str> = graph.node.iter().flat_map(|n| &n.output).map(String::as_str).collect();
        own.extend(graph.initializer.iter().filter_map(|t| t.name.as_deref()));
        own.extend(graph.input.iter().filter_map(|i| i.name.as_deref()));
        let outputs = graph.output.iter().filter_map(|o| o.name.as_deref());
        let read = graph.node.iter().flat_map(read_names).chain(outputs);
        names.extend(read.filter(|name| !own.contains(name)));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// What a node is called in errors: its name, or its first output.
pub(super) fn label(node: &NodeProto) -> String {
    let name = node.name.as_deref().filter(|n| !n.is_empty());
    name.or(node.output.iter().map(String::as_str).find(|o| !o.is_empty())).unwrap_or("unnamed").to_string()
}

/// Refuses operators that have no handler.
///
/// # Errors
/// Lists all of them, in the order of the model.
pub(super) fn check_operators(model: &ModelProto, graph: &GraphProto, file: &str) -> Result<(), ModelError> {
    let unknown = |node: &NodeProto| {
        let op = node.op_type.clone().unwrap_or_default();
        let standard = is_standard(node.domain.as_deref());
        if standard && ops::handler(&op).is_some() {
            return None;
        }
        let domain = if standard { "" } else { node.domain.as_deref().unwrap_or_default() };
        let import = model.opset_import.iter().find(|o| match o.domain.as_deref() {
            d if is_standard(d) => standard,
            d => d == Some(domain),
        });
        let version = import.and_then(|o| o.version);
        Some(UnknownOperator { node: label(node), op, domain: domain.to_string(), version })
    };
    let operators: Vec<UnknownOperator> = graph.node.iter().filter_map(unknown).collect();
    match operators.is_empty() {
        true => Ok(()),
        false => Err(ModelError::UnknownOperators { file: file.to_string(), operators }),
    }
}

/// Indices of the nodes in an order in which writers come before readers: the model's own where it is
/// one already, else the next ready node with the lowest index.
///
/// # Errors
/// A name written twice, a name nobody writes, a cycle.
pub(super) fn schedule(graph: &GraphProto, inputs: &[Input<'_>]) -> Result<Vec<usize>, ModelError> {
    let fault = |index: usize, what: String| ModelError::Node {
        node: label(&graph.node[index]),
        op: graph.node[index].op_type.clone().unwrap_or_default(),
        what,
    };
    let mut sources: BTreeSet<&str> = inputs.iter().map(|i| i.name).collect();
    sources.extend(graph.initializer.iter().filter_map(|t| t.name.as_deref()));
    let mut writers: HashMap<&str, usize> = HashMap::new();
    for (index, node) in graph.node.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            if sources.contains(name.as_str()) {
                return Err(fault(index, format!("writes '{name}', which is an input or initializer")));
            }
            if let Some(other) = writers.insert(name, index) {
                return Err(fault(
                    index,
                    format!("writes '{name}', as '{}' does", label(&graph.node[other])),
                ));
            }
        }
    }
    let mut waits = vec![0usize; graph.node.len()];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); graph.node.len()];
    for (index, node) in graph.node.iter().enumerate() {
        for name in read_names(node) {
            match writers.get(name) {
                Some(writer) => {
                    readers[*writer].push(index);
                    waits[index] += 1;
                }
                None if sources.contains(name) => {}
                None => return Err(fault(index, format!("reads '{name}', which nothing defines"))),
            }
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..waits.len()).filter(|i| waits[*i] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(waits.len());
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for reader in &readers[index] {
            waits[*reader] -= 1;
            if waits[*reader] == 0 {
                ready.push(Reverse(*reader));
            }
        }
    }
    match waits.iter().position(|w| *w > 0) {
        None => Ok(order),
        Some(index) => Err(fault(index, "is part of a cycle or reads from one".into())),
    }
}
