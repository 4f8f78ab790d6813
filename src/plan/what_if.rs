//! Problems as they would be if a network were a little different: what to plan to know what a change saves.

use std::ops::RangeInclusive;

use super::{PlanError, Problem, Tensor, TensorId};

/// The same problem with half the bytes, rounded up, for those tensors of which `is_halved` holds: float16 in
/// the place of float32. Tensors that are the same bytes by meaning are halved together or not at all.
///
/// # Errors
/// Pins that then contradict each other.
pub fn halved(problem: &Problem, is_halved: impl Fn(TensorId) -> bool) -> Result<Problem, PlanError> {
    let mut whole = vec![true; problem.len()];
    for id in problem.ids() {
        whole[root(problem, id).index()] &= is_halved(id);
    }
    let divisor = |id: TensorId| if whole[root(problem, id).index()] { 2 } else { 1 };
    rebuilt(problem, divisor, |id, tensor| {
        let bytes = tensor.size_bytes().div_ceil(divisor(id));
        vec![(tensor.label().to_owned(), bytes, tensor.first()..=tensor.last())]
    })
}

/// The same problem with a tensor in `parts` pieces, which need not lie side by side.
///
/// # Errors
/// A tensor that is a view or has views, is pinned, or may be used in place: its pieces would not be.
pub fn split(problem: &Problem, id: TensorId, parts: u64) -> Result<Problem, PlanError> {
    let parts = parts.max(1);
    rebuilt(
        problem,
        |_| 1,
        |at, tensor| {
            let usage = tensor.first()..=tensor.last();
            if at != id {
                return vec![(tensor.label().to_owned(), tensor.size_bytes(), usage)];
            }
            let bytes =
                |part: u64| tensor.size_bytes() * (part + 1) / parts - tensor.size_bytes() * part / parts;
            (0..parts)
                .map(|part| (format!("{} part {part}", tensor.label()), bytes(part), usage.clone()))
                .collect()
        },
    )
}

/// The same problem with a tensor's bytes free after step `until` and before step `from`: parked elsewhere in
/// between, or computed a second time.
///
/// # Errors
/// Like [`split`]; steps outside of its usage.
pub fn parked(problem: &Problem, id: TensorId, until: u32, from: u32) -> Result<Problem, PlanError> {
    rebuilt(
        problem,
        |_| 1,
        |at, tensor| {
            let label = tensor.label().to_owned();
            if at != id {
                return vec![(label, tensor.size_bytes(), tensor.first()..=tensor.last())];
            }
            let again = format!("{label} again");
            let bytes = tensor.size_bytes();
            vec![(label, bytes, tensor.first()..=until), (again, bytes, from..=tensor.last())]
        },
    )
}

/// The same problem with every output that is born at `step` permitted to take the bytes of the smallest
/// input that holds it and dies there, each input given once, the largest output first; and the pairs. `None`
/// where there is no such pair.
pub fn in_place_at(problem: &Problem, step: u32) -> Option<(Problem, Vec<(TensorId, TensorId)>)> {
    let own = |id: &TensorId| {
        let tensor = &problem.tensors()[id.index()];
        tensor.size_bytes() > 0 && tensor.alias().is_none() && !tensor.is_kept()
    };
    let size = |id: &TensorId| problem.tensors()[id.index()].size_bytes();
    let ids = || problem.ids().filter(own);
    let mut outputs: Vec<TensorId> =
        ids().filter(|id| problem.tensors()[id.index()].first() == step).collect();
    let mut inputs: Vec<TensorId> = ids().filter(|id| problem.tensors()[id.index()].last() == step).collect();
    outputs.sort_by_key(|id| (std::cmp::Reverse(size(id)), *id));
    inputs.sort_by_key(|id| (size(id), *id));
    let (mut changed, mut pairs) = (problem.clone(), Vec::new());
    for output in outputs {
        let fits = |input: &TensorId| *input != output && size(input) >= size(&output);
        let Some(at) = inputs.iter().position(fits) else { continue };
        // What the problem itself forbids is no pair.
        if changed.allow_in_place(output, inputs[at]).is_ok() {
            pairs.push((output, inputs.remove(at)));
        }
    }
    (!pairs.is_empty()).then_some((changed, pairs))
}

fn root(problem: &Problem, id: TensorId) -> TensorId {
    let mut at = id;
    while let Some(alias) = problem.get(at).and_then(Tensor::alias) {
        at = alias.base;
    }
    at
}

/// Label, bytes and usage interval of a tensor to come.
type Piece = (String, u64, RangeInclusive<u32>);

/// A problem with each tensor in pieces; of one that stays whole the constraints stay. First bytes of views
/// are divided like their sizes.
fn rebuilt(
    problem: &Problem,
    divisor: impl Fn(TensorId) -> u64,
    pieces: impl Fn(TensorId, &Tensor) -> Vec<Piece>,
) -> Result<Problem, PlanError> {
    let mut made = Problem::new(problem.alignment());
    let mut now: Vec<Vec<TensorId>> = Vec::with_capacity(problem.len());
    for (id, tensor) in problem.ids().zip(problem.tensors()) {
        let ids =
            pieces(id, tensor).into_iter().map(|(label, bytes, usage)| made.tensor(label, bytes, usage));
        now.push(ids.collect::<Result<_, _>>()?);
    }
    let in_pieces =
        |id: TensorId| PlanError::InPieces { tensor: problem.tensors()[id.index()].label().to_owned() };
    let turns: Vec<bool> = now.iter().map(|pieces| are_in_turn(&made, pieces)).collect();
    let in_turn = |id: TensorId| if turns[id.index()] { Ok(&now[id.index()]) } else { Err(in_pieces(id)) };
    for (id, tensor) in problem.ids().zip(problem.tensors()) {
        for piece in &now[id.index()] {
            if let Some(alignment) = tensor.alignment() {
                made.set_alignment(*piece, alignment)?;
            }
            if tensor.is_kept() {
                made.keep(*piece)?;
            }
        }
        let whole = |id: TensorId| match now[id.index()][..] {
            [one] => Ok(one),
            _ => Err(in_pieces(id)),
        };
        if let Some(pin) = tensor.pin() {
            made.pin(whole(id)?, pin)?;
        }
        if let Some(alias) = tensor.alias() {
            made.alias(whole(id)?, whole(alias.base)?, alias.byte_offset / divisor(id))?;
        }
        for input in tensor.in_place() {
            // Of pieces in turn, the first is the one that is written and the last the one that is read last.
            let (outputs, inputs) = (in_turn(id)?, in_turn(*input)?);
            let (output, input) = (outputs[0], inputs[inputs.len() - 1]);
            // Of two that are no longer of one type, the larger may not fit.
            if made.tensors()[output.index()].size_bytes() <= made.tensors()[input.index()].size_bytes() {
                made.allow_in_place(output, input)?;
            }
        }
    }
    for separation in problem.separations() {
        let side = |ids: &[TensorId]| ids.iter().flat_map(|id| &now[id.index()]).copied().collect::<Vec<_>>();
        made.separate_step_io(&side(separation.left()), &side(separation.right()))?;
    }
    Ok(made)
}

/// Whether no two of these live at one step.
fn are_in_turn(problem: &Problem, pieces: &[TensorId]) -> bool {
    let usage = |id: TensorId| (problem.tensors()[id.index()].first(), problem.tensors()[id.index()].last());
    pieces.windows(2).all(|pair| usage(pair[0]).1 < usage(pair[1]).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Alignment, Planner};

    fn peak(problem: &Problem) -> u64 {
        Planner::auto().plan(problem).unwrap().peak_bytes()
    }

    fn chain() -> (Problem, [TensorId; 3]) {
        let mut problem = Problem::new(Alignment::ONE);
        let a = problem.tensor("a", 100, 0..=4).unwrap();
        let b = problem.tensor("b", 60, 1..=2).unwrap();
        let c = problem.tensor("c", 50, 2..=3).unwrap();
        (problem, [a, b, c])
    }

    #[test]
    fn half_of_every_byte_and_views_with_their_bases() {
        let (mut problem, [a, b, _]) = chain();
        let view = problem.tensor("view", 40, 1..=2).unwrap();
        problem.alias(view, a, 20).unwrap();
        assert_eq!(peak(&problem), 210);
        let half = halved(&problem, |_| true).unwrap();
        assert_eq!(peak(&half), 105);
        assert_eq!(half.tensors()[view.index()].alias().unwrap().byte_offset, 10);
        assert_eq!(peak(&halved(&problem, |id| id == b).unwrap()), 180);
        assert_eq!(
            peak(&halved(&problem, |id| id == a).unwrap()),
            210,
            "the view is not halved, nor its base"
        );
    }

    #[test]
    fn what_is_parked_leaves_its_bytes() {
        let (mut problem, [a, b, c]) = chain();
        assert_eq!(peak(&parked(&problem, a, 0, 4).unwrap()), 110);
        assert_eq!(split(&problem, b, 3).unwrap().tensors().len(), 5);
        problem.allow_in_place(c, b).unwrap();
        let error = split(&problem, b, 2).unwrap_err();
        assert!(error.to_string().contains("'b'"), "{error}");
    }

    #[test]
    fn outputs_take_the_smallest_input_that_holds_them() {
        let (problem, [_, b, c]) = chain();
        let (changed, pairs) = in_place_at(&problem, 2).unwrap();
        assert_eq!(pairs, [(c, b)]);
        assert_eq!((peak(&problem), peak(&changed)), (210, 160));
        assert!(in_place_at(&problem, 0).is_none());
    }
}
