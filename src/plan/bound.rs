//! Lower bounds: what no plan can undercut.
//!
//! Breadth and positional maxima are those of arXiv 2001.03288. Tensors that are the same bytes by meaning
//! count once. Where a tensor may take the bytes of a dying input, the bytes it could save are not counted,
//! so that the bounds hold for every use of the permissions.

use std::collections::BTreeMap;

use super::ids::align_up;
use super::resolve::{Block, Merging, Resolved, resolve};
use super::{Problem, Proof, StepId, TensorId};

/// Fewest live bytes at every step (the papers' operator breadth): one entry a step, [`Problem::steps`] in
/// all.
pub fn breadths(problem: &Problem) -> Vec<u64> {
    let resolved = resolve(problem, Merging::None);
    let savings = savings(problem, &resolved, 1);
    let steps = problem.steps() as usize;
    let (mut born, mut died) = (vec![0u64; steps], vec![0u64; steps + 1]);
    for block in &resolved.blocks {
        born[block.first as usize] += block.size_bytes;
        died[block.last as usize + 1] += block.size_bytes;
    }
    let mut live = 0;
    (0..steps)
        .map(|step| {
            live = live + born[step] - died[step];
            live - savings.get(&(step as u32)).copied().unwrap_or(0)
        })
        .collect()
}

/// Most live bytes at any step: no plan's peak is below it.
pub fn max_load(problem: &Problem) -> u64 {
    peak_load(problem).0
}

/// The first step at which the load is highest, and the tensors live there, largest first; views are left
/// out.
/// `None` where no tensor has a byte.
pub fn peak(problem: &Problem) -> Option<(StepId, Vec<TensorId>)> {
    let step = peak_load(problem).1?;
    let resolved = resolve(problem, Merging::None);
    let mut live: Vec<TensorId> = problem
        .ids()
        .filter(|id| problem.tensors()[id.index()].alias.is_none())
        .filter(|id| {
            resolved.slots[id.index()].is_some_and(|(block, _)| {
                (resolved.blocks[block].first..=resolved.blocks[block].last).contains(&step)
            })
        })
        .collect();
    live.sort_by_key(|id| (std::cmp::Reverse(problem.tensors()[id.index()].size_bytes), *id));
    Some((StepId::new(step), live))
}

/// Largest i-th largest size over all steps, for every i: their sum bounds shared objects, which use no
/// in-place permission.
pub fn positional_maxima(problem: &Problem) -> Vec<u64> {
    positional_maxima_of(&resolve(problem, Merging::None).blocks)
}

pub(crate) fn positional_maxima_of(blocks: &[Block]) -> Vec<u64> {
    let mut maxima: Vec<u64> = Vec::new();
    // Ascending, so that the i-th largest is the i-th from the end.
    let mut live: Vec<u64> = Vec::new();
    sweep(blocks, |event| match event {
        Event::Birth(block) => live.insert(live.partition_point(|s| *s < block.size_bytes), block.size_bytes),
        Event::Death(block) => {
            live.remove(live.partition_point(|s| *s < block.size_bytes));
        }
        Event::Full(_) => {
            maxima.resize(maxima.len().max(live.len()), 0);
            for (maximum, size) in maxima.iter_mut().zip(live.iter().rev()) {
                *maximum = (*maximum).max(*size);
            }
        }
    });
    maxima
}

/// The sharpest bound known for the sum of `arenas` arena sizes, and the argument behind it.
///
/// Every offset is a multiple of the smallest alignment, so all live blocks but the topmost of an arena
/// take a multiple of it; that counts where there is one arena.
pub(crate) fn lower_bound(problem: &Problem, arenas: usize) -> (u64, Proof) {
    let resolved = resolve(problem, Merging::None);
    let pinned = resolved.blocks.iter().filter_map(|b| b.pin.map(|pin| pin + b.size_bytes)).max();
    let mut best = (max_load(problem), Proof::MaxLoad);
    let common = resolved.blocks.iter().map(|b| b.align_bytes).min().unwrap_or(1);
    if arenas <= 1 && common > 1 {
        best = sharper(best, (aligned_load(problem, &resolved, common), Proof::AlignedLoad));
    }
    sharper(best, (pinned.unwrap_or(0), Proof::Pins))
}

/// The plainer argument of two that say the same.
fn sharper(plain: (u64, Proof), other: (u64, Proof)) -> (u64, Proof) {
    if other.0 > plain.0 { other } else { plain }
}

fn peak_load(problem: &Problem) -> (u64, Option<u32>) {
    let resolved = resolve(problem, Merging::None);
    let savings = savings(problem, &resolved, 1);
    let (mut live, mut highest, mut at) = (0u64, 0u64, None);
    sweep(&resolved.blocks, |event| match event {
        Event::Birth(block) => live += block.size_bytes,
        Event::Death(block) => live -= block.size_bytes,
        Event::Full(step) => {
            let load = live - savings.get(&step).copied().unwrap_or(0);
            if load > highest {
                (highest, at) = (load, Some(step));
            }
        }
    });
    (highest, at)
}

fn aligned_load(problem: &Problem, resolved: &Resolved, align_bytes: u64) -> u64 {
    let savings = savings(problem, resolved, align_bytes);
    let (mut live, mut highest) = (0u64, 0u64);
    let mut paddings: BTreeMap<u64, usize> = BTreeMap::new();
    sweep(&resolved.blocks, |event| match event {
        Event::Birth(block) => {
            let aligned = align_up(block.size_bytes, align_bytes);
            live += aligned;
            *paddings.entry(aligned - block.size_bytes).or_default() += 1;
        }
        Event::Death(block) => {
            let aligned = align_up(block.size_bytes, align_bytes);
            live -= aligned;
            if let Some(count) = paddings.get_mut(&(aligned - block.size_bytes)) {
                *count -= 1;
                if *count == 0 {
                    paddings.remove(&(aligned - block.size_bytes));
                }
            }
        }
        Event::Full(step) => {
            let unpadded_top = paddings.last_key_value().map_or(0, |(padding, _)| *padding);
            let saved = savings.get(&step).copied().unwrap_or(0);
            highest = highest.max((live - saved).saturating_sub(unpadded_top));
        }
    });
    highest
}

/// Per step, the most bytes that in-place permissions can save there, with sizes rounded up to `align_bytes`.
fn savings(problem: &Problem, resolved: &Resolved, align_bytes: u64) -> BTreeMap<u32, u64> {
    /// Outputs born at a step with their sizes; inputs dying there with the most an output saves in each.
    #[derive(Default)]
    struct AtStep {
        outputs: BTreeMap<usize, u64>,
        inputs: BTreeMap<usize, u64>,
    }
    let mut steps: BTreeMap<u32, AtStep> = BTreeMap::new();
    for (i, tensor) in problem.tensors().iter().enumerate() {
        for input in &tensor.in_place {
            let (Some((out, _)), Some((inp, _))) = (resolved.slots[i], resolved.slots[input.index()]) else {
                continue;
            };
            let (output, input) = (&resolved.blocks[out], &resolved.blocks[inp]);
            if out == inp || input.last != output.first {
                continue;
            }
            let step = steps.entry(output.first).or_default();
            let out_bytes = align_up(output.size_bytes, align_bytes);
            let saved = out_bytes.min(align_up(input.size_bytes, align_bytes));
            step.outputs.insert(out, out_bytes);
            let most = step.inputs.entry(inp).or_default();
            *most = (*most).max(saved);
        }
    }
    steps
        .into_iter()
        .map(|(step, at)| (step, at.outputs.values().sum::<u64>().min(at.inputs.values().sum())))
        .collect()
}

enum Event<'a> {
    Birth(&'a Block),
    Death(&'a Block),
    /// All births of that step are in, and everything that ended before it is out. Only these steps can
    /// hold a maximum: between two of them blocks only die.
    Full(u32),
}

fn sweep<'a>(blocks: &'a [Block], mut visit: impl FnMut(Event<'a>)) {
    let mut births: Vec<&Block> = blocks.iter().collect();
    births.sort_by_key(|b| b.first);
    let mut deaths = births.clone();
    deaths.sort_by_key(|b| b.last);
    let mut dead = 0;
    for (i, block) in births.iter().enumerate() {
        while deaths[dead].last < block.first {
            visit(Event::Death(deaths[dead]));
            dead += 1;
        }
        visit(Event::Birth(block));
        if births.get(i + 1).is_none_or(|next| next.first > block.first) {
            visit(Event::Full(block.first));
        }
    }
}
