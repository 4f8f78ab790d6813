//! Operators with graphs inside. Every shape is known before a run, so which graphs run, and how often,
//! must be too: they are inlined.

use rten_onnx::onnx::GraphProto;

use crate::graph::Op;
use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::tensor::{Constant, Tensor};

/// Most rounds of a loop that are written out.
const MAX_ROUNDS: usize = 1000;

fn inner_graph<'m>(site: &Site<'_, 'm>, name: &str) -> Result<&'m GraphProto, Fault> {
    let graph = site.attributes().get(name).and_then(|attribute| attribute.g.as_ref());
    graph.ok_or_else(|| format!("attribute '{name}' is not a graph").into())
}

/// What an inlined graph gives.
fn output(site: &Site, graph: &GraphProto, index: usize) -> Result<Tensor, Fault> {
    let name = graph.output.get(index).and_then(|o| o.name.as_deref()).unwrap_or_default();
    let tensor = site.importer.known.get(name).cloned();
    tensor.ok_or_else(|| format!("nothing inside defines output {index}, '{name}'").into())
}

/// States that output `index` is a tensor of an inlined graph: a run-time one is copied under its name.
fn hand_out(site: &mut Site, index: usize, tensor: Tensor) -> Result<(), Fault> {
    match tensor.value.filter(|_| tensor.data.is_none()) {
        Some(value) if site.output_used(index) => {
            site.emit_output_as(index, Op::Copy, vec![value], tensor.shape, tensor.dtype)
        }
        _ => {
            site.set(index, tensor);
            Ok(())
        }
    }
}

/// The nodes of the branch that a constant condition chooses take the place of the node.
pub(super) fn choose_branch(site: &mut Site) -> Result<(), Fault> {
    let taken = match site.input(0)?.i64_data() {
        Some([condition]) => *condition != 0,
        _ => {
            return Err("its condition is not constant: which branch is taken must be known at import".into());
        }
    };
    let branch = inner_graph(site, if taken { "then_branch" } else { "else_branch" })?;
    site.importer.inline(branch).map_err(|e| e.to_string())?;
    for i in 0..branch.output.len().min(site.output_count()) {
        let tensor = output(site, branch, i)?;
        hand_out(site, i, tensor)?;
    }
    Ok(())
}

/// One constant of an optional input.
fn constant(site: &Site, index: usize, role: &str) -> Result<Option<i64>, Fault> {
    match site.optional(index).map(|tensor| tensor.i64_data()) {
        None => Ok(None),
        Some(Some([int])) => Ok(Some(*int)),
        Some(_) => Err(format!("{role} is not constant: how often it runs must be known at import").into()),
    }
}

/// The nodes of each round take the place of the node. Inputs: rounds, condition, what is carried from
/// round to round; outputs: what is carried in the end, then what each round adds to a list.
pub(super) fn unroll(site: &mut Site) -> Result<(), Fault> {
    let body = inner_graph(site, "body")?;
    let rounds = constant(site, 0, "its number of rounds")?;
    let mut goes_on = constant(site, 1, "its condition")?.unwrap_or(1) != 0;
    let carried_count = site.input_count().max(2) - 2;
    if body.input.len() != carried_count + 2 || body.output.len() < carried_count + 1 {
        return Err(format!("its body has {} inputs for {carried_count} values", body.input.len()).into());
    }
    let mut carried =
        (0..carried_count).map(|i| site.input(i + 2).cloned()).collect::<Result<Vec<_>, _>>()?;
    let lists_count = body.output.len() - 1 - carried_count;
    let mut lists: Vec<Vec<Tensor>> = vec![Vec::new(); lists_count];
    let limit = usize::try_from(rounds.unwrap_or(i64::MAX).max(0)).unwrap_or(usize::MAX);
    site.importer.read_again(body, limit.min(MAX_ROUNDS));
    let mut round = 0;
    while goes_on && round < limit {
        if round == MAX_ROUNDS {
            return Err(format!("it runs more than {MAX_ROUNDS} rounds").into());
        }
        let head = [Tensor::ints(vec![], vec![round as i64]), flag(true)];
        for (input, tensor) in body.input.iter().zip(head.into_iter().chain(carried)) {
            site.importer.known.insert(input.name.as_deref().unwrap_or_default(), tensor);
        }
        site.importer.inline(body).map_err(|e| format!("round {round}: {e}"))?;
        goes_on = match output(site, body, 0)?.i64_data() {
            Some([on]) => *on != 0,
            _ => return Err("whether it goes on is computed by the run, not at import".into()),
        };
        carried = (0..carried_count).map(|i| output(site, body, i + 1)).collect::<Result<_, _>>()?;
        for (i, list) in lists.iter_mut().enumerate() {
            list.push(output(site, body, 1 + carried_count + i)?);
        }
        round += 1;
    }
    for (i, tensor) in carried.into_iter().enumerate() {
        hand_out(site, i, tensor)?;
    }
    for (index, list) in (carried_count..).zip(&lists) {
        if site.output_used(index) {
            stack(site, index, list)?;
        }
    }
    Ok(())
}

fn flag(on: bool) -> Tensor {
    let data = Constant::I64(std::sync::Arc::new(vec![i64::from(on)]));
    Tensor::constant(crate::graph::DType::Bool, vec![], data)
}

/// Tensors of one shape along a new first dimension.
fn stack(site: &mut Site, index: usize, list: &[Tensor]) -> Result<(), Fault> {
    let Some(first) = list.first() else {
        return Err(
            format!("output {index} lists what no round computes, so that its shape is not known").into()
        );
    };
    let (mut parts, one) = (Vec::new(), [&[1], &first.shape[..]].concat());
    for (round, tensor) in list.iter().enumerate() {
        if tensor.shape != first.shape {
            return Err(
                format!("output {index} lists shapes {:?} and {:?}", first.shape, tensor.shape).into()
            );
        }
        let value = site.value_of(&format!("{index}/{round}/value"), tensor)?;
        parts.push(site.emit_before(&format!("{index}/{round}"), Op::Copy, vec![value], one.clone())?);
    }
    let shape = [&[list.len()], &first.shape[..]].concat();
    site.emit_output_as(index, Op::Concat { axis: 0 }, parts, shape, first.dtype)
}
