//! A run that is watched: after each step every word of the arenas is compared with what it must be.

use super::reference::{Reference, locate};
use crate::exec::machine::Machine;
use crate::exec::{BufferKey, ExecError, Program};
use crate::graph::{Rows, ValueId};
use crate::plan::{Plan, Problem, TensorId};
use std::ops::Range;

/// The first step after which something was not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstBad {
    /// The step.
    pub step: usize,
    /// Its node.
    pub node: String,
    /// The tensor whose bytes are wrong.
    pub tensor: String,
    /// The tensor beside or over it in the arena.
    pub neighbour: Option<String>,
}

/// An arena tensor with its bytes and its steps.
#[derive(Debug, Clone)]
struct Life {
    value: ValueId,
    arena: usize,
    /// From its first byte to its last.
    bytes: Range<u64>,
    /// Where it does not lie in one piece.
    rows: Option<Rows>,
    first: usize,
    last: usize,
}

impl Life {
    /// Its own bytes, piece by piece.
    fn pieces(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        pieces(self.bytes.clone(), self.rows)
    }

    /// Whether a word is one of its own.
    fn covers(&self, arena: usize, word: usize) -> bool {
        self.arena == arena && self.pieces().any(|piece| words(&piece).contains(&word))
    }
}

/// The bytes of a value in a range that reaches from its first to its last.
pub(super) fn pieces(bytes: Range<u64>, rows: Option<Rows>) -> impl Iterator<Item = Range<u64>> + use<> {
    let whole = (bytes.end - bytes.start) as usize;
    let Rows { len, stride } = rows.unwrap_or(Rows { len: whole / 4, stride: whole.max(4) / 4 });
    let starts = bytes.clone().step_by((stride * 4).max(4));
    starts.map(move |start| start..(start + len as u64 * 4).min(bytes.end))
}

/// First and last step at which a tensor must hold its bytes, both included.
pub(super) fn problem_steps(problem: &Problem, tensor: TensorId) -> (u32, u32) {
    let record = &problem.tensors()[tensor.index()];
    (record.first(), problem.last(record))
}

/// All arena tensors of a program under a plan.
pub(super) struct Lives {
    all: Vec<Life>,
    arenas: Vec<u64>,
}

impl Lives {
    pub fn new(program: &Program, plan: &Plan) -> Self {
        let problem = &program.usage.problem;
        let life = |tensor| {
            let value = program.usage.value(tensor);
            let (BufferKey::Arena(arena), bytes) = locate(program, plan, value)? else { return None };
            let (first, last) = problem_steps(problem, tensor);
            let rows = program.rows(value);
            Some(Life { value, arena, bytes, rows, first: first as usize, last: last as usize })
        };
        let arenas = plan.arenas().iter().map(|bytes| bytes / 4 * 4).collect();
        Lives { all: problem.ids().filter_map(life).collect(), arenas }
    }

    /// What may be overwritten after a step: the bytes of tensors that end there, less those of tensors
    /// still live.
    fn dead_after(&self, step: usize) -> Vec<(usize, Range<u64>)> {
        let mut free = Vec::new();
        for ended in self.all.iter().filter(|l| l.last == step) {
            let live = self.all.iter().filter(|l| l.arena == ended.arena && l.first <= step && l.last > step);
            let rest = without(ended.pieces(), live.flat_map(Life::pieces).collect());
            free.extend(rest.into_iter().map(|r| (ended.arena, r)));
        }
        free
    }
}

/// What is left of ascending ranges without those of `holes`.
fn without(ranges: impl Iterator<Item = Range<u64>>, mut holes: Vec<Range<u64>>) -> Vec<Range<u64>> {
    holes.sort_unstable_by_key(|hole| hole.start);
    // One sweep: a value in rows has tens of thousands of pieces. Holes may overlap, so they become one where
    // they touch.
    holes.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    let (mut rest, mut next) = (Vec::new(), 0);
    for range in ranges {
        let mut start = range.start;
        while holes.get(next).is_some_and(|hole| hole.end <= start) {
            next += 1;
        }
        for hole in holes[next..].iter().take_while(|hole| hole.start < range.end) {
            if start < hole.start {
                rest.push(start..hole.start);
            }
            start = start.max(hole.end);
        }
        if start < range.end {
            rest.push(start..range.end);
        }
    }
    rest
}

fn words(bytes: &Range<u64>) -> Range<usize> {
    (bytes.start / 4) as usize..(bytes.end / 4) as usize
}

/// What a watched run saw.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub first_bad: Option<FirstBad>,
    /// A tensor differs from the run without reuse.
    pub differs: bool,
    /// A word outside the step's outputs changed.
    pub guard_broken: bool,
    pub tensors_compared: usize,
    pub steps_watched: usize,
    pub guard_words: u64,
}

/// Poisons the arenas and sets the inputs.
async fn prepare<M: Machine>(
    machine: &mut M,
    lives: &Lives,
    inputs: &[Vec<f32>],
    poison: u32,
) -> Result<(), ExecError> {
    machine.write_inputs(inputs).await?;
    for (arena, bytes) in lives.arenas.iter().enumerate() {
        machine.fill(arena, 0..*bytes, poison).await?;
    }
    Ok(())
}

/// Runs with the arenas filled before, and each tensor's bytes again after its last use.
pub(super) async fn run_poisoned<M: Machine>(
    machine: &mut M,
    program: &Program,
    lives: &Lives,
    inputs: &[Vec<f32>],
    poison: u32,
) -> Result<(), ExecError> {
    prepare(machine, lives, inputs, poison).await?;
    for step in 0..program.steps.len() {
        machine.step(step).await?;
        for (arena, bytes) in lives.dead_after(step) {
            machine.fill(arena, bytes, poison).await?;
        }
    }
    Ok(())
}

/// The same, and after each step compares everything; stops at the first step that is bad.
pub(super) async fn run_watched<M: Machine>(
    machine: &mut M,
    program: &Program,
    lives: &Lives,
    reference: &Reference,
    inputs: &[Vec<f32>],
    poison: u32,
) -> Result<Watched, ExecError> {
    prepare(machine, lives, inputs, poison).await?;
    let mut seen = Watched::default();
    let mut shadow: Vec<Vec<u32>> =
        lives.arenas.iter().map(|bytes| vec![poison; (bytes / 4) as usize]).collect();
    for (step, node) in program.graph.nodes.iter().enumerate() {
        machine.step(step).await?;
        let now = snapshot(machine, lives).await?;
        let bad = broken_guard(lives, step, &shadow, &now, &mut seen)
            .inspect(|_| seen.guard_broken = true)
            .or_else(|| {
                wrong_tensor(lives, step, reference, &now, &mut seen).inspect(|_| seen.differs = true)
            });
        let mut bad = bad.map(|(arena, word, value)| {
            let tensor = value.map_or("(unused bytes)".to_owned(), |v| program.graph.get(v).name.clone());
            let neighbour =
                neighbour(lives, step, arena, word, value).map(|v| program.graph.get(v).name.clone());
            FirstBad { step, node: node.name.clone(), tensor, neighbour }
        });
        for (i, id) in program.graph.outputs.iter().enumerate().filter(|(_, id)| node.outputs.contains(id)) {
            let value = program.graph.get(*id);
            let words = match value.is_empty() {
                true => Vec::new(),
                false => machine.read(&[(BufferKey::Output(i), 0..value.size_bytes())]).await?,
            };
            seen.tensors_compared += 1;
            if reference.first_difference(*id, &words).is_some() && bad.is_none() {
                seen.differs = true;
                bad = Some(FirstBad {
                    step,
                    node: node.name.clone(),
                    tensor: value.name.clone(),
                    neighbour: None,
                });
            }
        }
        if bad.is_some() {
            seen.first_bad = bad;
            return Ok(seen);
        }
        shadow = now;
        for (arena, bytes) in lives.dead_after(step) {
            shadow[arena][words(&bytes)].fill(poison);
            machine.fill(arena, bytes, poison).await?;
        }
        seen.steps_watched += 1;
    }
    Ok(seen)
}

async fn snapshot<M: Machine>(machine: &mut M, lives: &Lives) -> Result<Vec<Vec<u32>>, ExecError> {
    let ranges: Vec<_> =
        lives.arenas.iter().enumerate().map(|(i, bytes)| (BufferKey::Arena(i), 0..*bytes)).collect();
    let mut all = machine.read(&ranges).await?;
    let mut arenas = Vec::with_capacity(ranges.len());
    for bytes in lives.arenas.iter().rev() {
        arenas.push(all.split_off(all.len() - (bytes / 4) as usize));
    }
    arenas.reverse();
    Ok(arenas)
}

/// A word (arena, index) that is not as it must be, and the tensor it belongs to.
type BadWord = (usize, usize, Option<ValueId>);

/// Compares every word outside the step's outputs with what it was before the step.
fn broken_guard(
    lives: &Lives,
    step: usize,
    shadow: &[Vec<u32>],
    now: &[Vec<u32>],
    seen: &mut Watched,
) -> Option<BadWord> {
    let mut found = None;
    for arena in 0..now.len() {
        let whole = 0..now[arena].len() as u64 * 4;
        let written = lives.all.iter().filter(|l| l.arena == arena && l.first == step);
        let guards = without(std::iter::once(whole), written.flat_map(Life::pieces).collect());
        for range in guards.iter().map(words) {
            seen.guard_words += range.len() as u64;
            let (was, is) = (&shadow[arena][range.clone()], &now[arena][range.clone()]);
            if found.is_none()
                && was != is
                && let Some(at) = was.iter().zip(is).position(|(a, b)| a != b)
            {
                let word = range.start + at;
                let covers = |l: &&Life| l.covers(arena, word);
                let owner = lives.all.iter().filter(covers).find(|l| l.first < step && l.last >= step);
                found = Some((arena, word, owner.map(|l| l.value)));
            }
        }
    }
    found
}

/// Compares the step's outputs, and every tensor that is still to be read, with the run without reuse.
fn wrong_tensor(
    lives: &Lives,
    step: usize,
    reference: &Reference,
    now: &[Vec<u32>],
    seen: &mut Watched,
) -> Option<BadWord> {
    seen.tensors_compared += lives.all.iter().filter(|l| l.first == step).count();
    let due = lives.all.iter().filter(|l| l.first == step || (l.first < step && l.last > step));
    due.filter_map(|life| {
        let range = words(&life.bytes);
        let words = &now[life.arena][range.clone()];
        let place = |at: usize| life.rows.map_or(at, |rows| rows.place(at));
        let at = match life.rows {
            None => reference.first_difference(life.value, words)?,
            Some(rows) => reference.first_difference_in_rows(life.value, words, rows)?,
        };
        Some((life.arena, range.start + place(at), Some(life.value)))
    })
    .next()
}

/// The tensor that most likely did it: one written in this step over the bad word, else one live there,
/// else the one that ends nearest below or starts nearest above.
fn neighbour(lives: &Lives, step: usize, arena: usize, word: usize, but: Option<ValueId>) -> Option<ValueId> {
    let others = || lives.all.iter().filter(move |l| l.arena == arena && Some(l.value) != but);
    let covering = || others().filter(|l| l.covers(arena, word));
    let distance = |l: &&Life| {
        let range = words(&l.bytes);
        range.start.abs_diff(word).min(range.end.abs_diff(word))
    };
    let live = |l: &&Life| l.first <= step && l.last >= step;
    covering()
        .find(|l| l.first == step)
        .or_else(|| covering().find(live))
        .or_else(|| others().filter(live).min_by_key(distance))
        .map(|l| l.value)
}
