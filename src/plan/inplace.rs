//! Which in-place permissions pay.
//!
//! Taking the bytes of an input of the same size never adds a live byte. A small output in the bytes of a
//! large input saves its own bytes in the step that the two share, and holds the rest of the input for as
//! long as it lives. So single decisions are turned over at the step where the load is highest, for as long
//! as that lowers the load there and raises it to that height nowhere else.

use super::Problem;
use super::resolve::{Block, Merging, Resolved, resolve};
use super::strategy::load_profile;

/// Tensors resolved anew in all evaluations together.
const TENSORS_TRIED: usize = 400_000;

/// The ways to use the permissions that differ, those of the lowest load first; the last resort, none at
/// all, is always among them.
pub(crate) fn variants(problem: &Problem) -> Vec<Resolved> {
    let plain = resolve(problem, Merging::None);
    if problem.tensors().iter().all(|t| t.in_place().is_empty()) {
        return vec![plain];
    }
    let equal = resolve(problem, Merging::EqualSize);
    let all = resolve(problem, Merging::All);
    let mut tries = (TENSORS_TRIED / problem.len()).clamp(4, 2_000);
    let tuned = [&equal, &all].map(|start| tune(problem, start, &mut tries));
    let mut variants: Vec<Resolved> = Vec::new();
    for variant in tuned.into_iter().chain([equal, all, plain]) {
        if variants.iter().all(|v| v.blocks != variant.blocks || v.slots != variant.slots) {
            variants.push(variant);
        }
    }
    variants.sort_by_key(|v| load_profile(&v.blocks).highest_bytes);
    variants
}

/// Turns over one decision after the other, each the best of those that touch the fullest step.
fn tune(problem: &Problem, start: &Resolved, tries: &mut usize) -> Resolved {
    let mut best = start.clone();
    let mut profile = load_profile(&best.blocks);
    loop {
        let mut better: Option<Resolved> = None;
        for pairs in decisions(problem, &best, profile.first_step) {
            if *tries == 0 {
                return best;
            }
            *tries -= 1;
            let resolved = resolve(problem, Merging::Chosen(&pairs));
            let found = load_profile(&resolved.blocks);
            if found.rank() < profile.rank() {
                (profile, better) = (found, Some(resolved));
            }
        }
        match better {
            Some(resolved) => best = resolved,
            None => return best,
        }
    }
}

/// Every set of pairs that differs in one decision around `step`.
fn decisions(problem: &Problem, now: &Resolved, step: u32) -> Vec<Vec<(u32, u32)>> {
    let tensors = problem.tensors();
    let mut sets = Vec::new();
    for (output, tensor) in tensors.iter().enumerate().filter(|(_, t)| t.first() == step) {
        for input in tensor.in_place() {
            let pair = (output as u32, input.index() as u32);
            if now.taken.binary_search(&pair).is_err() {
                // Neither takes part in another pair: an input's bytes go to one output.
                let apart = |p: &&(u32, u32)| p.0 != pair.0 && p.1 != pair.1;
                let mut pairs: Vec<(u32, u32)> = now.taken.iter().filter(apart).copied().collect();
                pairs.insert(pairs.partition_point(|p| *p < pair), pair);
                sets.push(pairs);
            }
        }
    }
    let holds = |block: &Block| (block.first..=block.last).contains(&step);
    for (at, (output, input)) in now.taken.iter().enumerate() {
        let output = &tensors[*output as usize];
        let lives = now.slots[*input as usize].is_some_and(|(block, _)| holds(&now.blocks[block]));
        if lives && output.size_bytes() < tensors[*input as usize].size_bytes() {
            let mut pairs = now.taken.clone();
            pairs.remove(at);
            sets.push(pairs);
        }
    }
    sets
}
