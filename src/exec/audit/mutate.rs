//! Deliberate faults: one offset at a time is shifted into a live neighbour, and judge and device must both
//! notice.

use super::POISONS;
use super::reference::Reference;
use super::watch::{Lives, pieces, problem_steps, run_watched};
use crate::exec::machine::Host;
use crate::exec::{ExecError, Program};
use crate::plan::{Plan, Problem, TensorId};
use std::ops::Range;

/// How many faults were planted, and who noticed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MutationCounts {
    /// Different faults tried.
    pub tried: usize,
    /// Faults noticed by everyone who had to.
    pub caught: usize,
    /// Faults that the judge noticed: all of them.
    pub judge_caught: usize,
    /// Faults whose overwritten bytes some later step reads.
    pub read_later: usize,
    /// Of those, noticed by the watched run.
    pub run_caught: usize,
    /// All faults that the watched run noticed, those included whose bytes only the overwriting step itself
    /// reads.
    pub run_noticed: usize,
}

/// Plants up to `count` different faults in a valid plan, each an offset shifted into a tensor that is live
/// at the same time.
///
/// # Errors
/// The device refuses a run.
pub async fn mutate<H: Host>(
    host: &H,
    plan: &Plan,
    inputs: &[Vec<f32>],
    count: usize,
) -> Result<MutationCounts, ExecError> {
    let program = host.program();
    let problem = &program.usage.problem;
    let reference = Reference::collect(host, inputs).await?;
    let mut counts = MutationCounts::default();
    for (tensor, offset_bytes) in faults(program, plan, count) {
        let mutated = plan.with_offset(tensor, plan.arena(tensor), offset_bytes);
        let judged = mutated.validate(problem).is_err();
        let read_later = overwrites_what_is_read(program, &mutated, tensor);
        let mut machine = host.machine(&mutated).await?;
        let lives = Lives::new(program, &mutated);
        let watched = run_watched(&mut machine, program, &lives, &reference, inputs, POISONS[0]).await?;
        let seen = watched.first_bad.is_some();
        counts.tried += 1;
        counts.judge_caught += usize::from(judged);
        counts.read_later += usize::from(read_later);
        counts.run_noticed += usize::from(seen);
        counts.run_caught += usize::from(read_later && seen);
        counts.caught += usize::from(judged && (seen || !read_later));
    }
    Ok(counts)
}

/// Bytes from the first of a tensor to its last.
fn size(program: &Program, tensor: TensorId) -> u64 {
    program.span_len(program.usage.value(tensor)) as u64 * 4
}

/// A tensor's own bytes, if it lay there.
fn pieces_at(program: &Program, tensor: TensorId, offset_bytes: u64) -> Vec<Range<u64>> {
    let bytes = offset_bytes..offset_bytes + size(program, tensor);
    pieces(bytes, program.rows(program.usage.value(tensor))).collect()
}

/// Whether two tensors have a byte in common; both ascending.
fn overlap(a: &[Range<u64>], b: &[Range<u64>]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.start < y.end && y.start < x.end {
            return true;
        }
        if x.end <= y.start { i += 1 } else { j += 1 }
    }
    false
}

/// Whether one of the two may take the bytes of the other in place.
fn may_take(problem: &Problem, a: TensorId, b: TensorId) -> bool {
    let permits =
        |output: TensorId, input: TensorId| problem.tensors()[output.index()].in_place().contains(&input);
    permits(a, b) || permits(b, a)
}

/// Tensors of the same arena that are live in some step of `tensor`'s.
fn neighbours(program: &Program, plan: &Plan, tensor: TensorId) -> Vec<TensorId> {
    let problem = &program.usage.problem;
    let steps = |t: TensorId| problem_steps(problem, t);
    let (first, last) = steps(tensor);
    let meets = |other: &TensorId| {
        let (other_first, other_last) = steps(*other);
        *other != tensor
            && plan.arena(*other) == plan.arena(tensor)
            && size(program, *other) > 0
            && other_first <= last
            && first <= other_last
    };
    problem.ids().filter(meets).collect()
}

/// Different (tensor, wrong offset) pairs, spread over tensors first, then neighbours, then places in the
/// neighbour.
fn faults(program: &Program, plan: &Plan, count: usize) -> Vec<(TensorId, u64)> {
    let problem = &program.usage.problem;
    let alignment = problem.alignment().bytes().max(4);
    let mut per_tensor: Vec<(TensorId, Vec<u64>)> = Vec::new();
    for tensor in problem.ids().filter(|t| size(program, *t) > 0) {
        let mut offsets = Vec::new();
        let room = plan.arenas()[plan.arena(tensor).index()].saturating_sub(size(program, tensor));
        for place in 0..16 {
            for other in neighbours(program, plan, tensor) {
                let start = plan.offset_bytes(other);
                let (there, end) = (pieces_at(program, other, start), start + size(program, other));
                // From the neighbour's first byte upwards, and down from where the tensor's end still
                // touches it.
                let up = start + place * alignment;
                let down =
                    (end.saturating_sub(size(program, tensor)) / alignment).saturating_sub(place) * alignment;
                for offset in [up, down] {
                    let here = pieces_at(program, tensor, offset);
                    // An output in the bytes of an input that it may take is no fault.
                    let allowed = offset == start && may_take(problem, tensor, other);
                    let new = offset != plan.offset_bytes(tensor) && !offsets.contains(&offset) && !allowed;
                    if new && offset <= room && overlap(&here, &there) {
                        offsets.push(offset);
                    }
                }
            }
        }
        per_tensor.push((tensor, offsets));
    }
    let longest = per_tensor.iter().map(|(_, offsets)| offsets.len()).max().unwrap_or(0);
    let rounds = (0..longest)
        .flat_map(|round| per_tensor.iter().filter_map(move |(t, o)| o.get(round).map(|o| (*t, *o))));
    rounds.take(count).collect()
}

/// Whether a step after the overwriting one reads bytes that the shifted tensor overwrites or loses.
fn overwrites_what_is_read(program: &Program, mutated: &Plan, tensor: TensorId) -> bool {
    let problem = &program.usage.problem;
    let at = |tensor: TensorId| pieces_at(program, tensor, mutated.offset_bytes(tensor));
    let here = at(tensor);
    neighbours(program, mutated, tensor).into_iter().filter(|n| overlap(&here, &at(*n))).any(|neighbour| {
        let order = |t: TensorId| (problem_steps(problem, t).0, t);
        let (earlier, later) = match order(tensor) < order(neighbour) {
            true => (tensor, neighbour),
            false => (neighbour, tensor),
        };
        problem_steps(problem, earlier).1 > problem_steps(problem, later).0
    })
}
