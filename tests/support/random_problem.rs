//! Random planning problems with every kind of constraint, from a seed.

use sublet::plan::{Alignment, Problem, TensorId};

/// A small generator of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Which constraints to draw.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    pub alias: bool,
    pub in_place: bool,
    pub separate: bool,
}

/// Draws a problem of 1 to `most` tensors; what the checked constructors refuse is left out.
pub fn draw(random: &mut Random, most: u64, kinds: Kinds) -> Problem {
    let align = if random.once_in(2) { 0 } else { random.below(9) };
    let mut problem = Problem::new(Alignment::new(1 << align).expect("a power of two"));
    let tensors = 1 + random.below(most);
    let steps = 2 + random.below(10);
    for i in 0..tensors {
        let size_bytes = match random.below(20) {
            0 => 0,
            1..=6 => 64 * (1 + random.below(8)),
            _ => 1 + random.below(600),
        };
        let first = random.below(steps) as u32;
        let last = first + random.below(4) as u32;
        problem.tensor(format!("t{i}"), size_bytes, first..=last).expect("a usage interval");
    }
    let ids: Vec<TensorId> = problem.ids().collect();
    let mut pin_end = 0;
    for id in &ids {
        if random.once_in(6) {
            let alignment = Alignment::new(1 << random.below(9)).expect("a power of two");
            problem.set_alignment(*id, alignment).expect("no pin yet");
        }
        // Some over others, which is lawful where they do not live together.
        let pin = if random.once_in(3) { 256 * random.below(4) } else { pin_end };
        if random.once_in(10) && problem.pin(*id, pin).is_ok() {
            let size = problem.tensors()[id.index()].size_bytes();
            pin_end = pin_end.max(pin + size).next_multiple_of(256) + 256 * random.below(2);
        }
        if random.once_in(12) {
            problem.keep(*id).expect("no permission yet");
        }
    }
    constrain_pairs(random, &mut problem, &ids, kinds);
    problem
}

fn constrain_pairs(random: &mut Random, problem: &mut Problem, ids: &[TensorId], kinds: Kinds) {
    let any = |random: &mut Random| ids[random.below(ids.len() as u64) as usize];
    for id in ids {
        if kinds.alias && random.once_in(5) {
            let byte_offset = random.below(200);
            let _ = problem.alias(*id, any(random), byte_offset);
        }
    }
    let separate_first = random.once_in(2);
    for turn in [separate_first, !separate_first] {
        if turn && kinds.separate {
            for _ in 0..random.below(4) {
                let _ = problem.separate(any(random), any(random));
            }
            if random.once_in(3) {
                let outputs = [any(random), any(random)];
                let inputs = [any(random), any(random), any(random)];
                let _ = problem.separate_step_io(&outputs, &inputs);
            }
        }
        if !turn && kinds.in_place {
            for output in ids {
                for input in ids {
                    if !random.once_in(3) {
                        let _ = problem.allow_in_place(*output, *input);
                    }
                }
            }
        }
    }
}
