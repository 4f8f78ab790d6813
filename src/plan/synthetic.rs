//! Made-up usage records of any number, for measuring how planning scales.
//!
//! The three shapes are those that the design notes measured other planners with: inference passes,
//! training steps, and records without any structure. The same seed gives the same records.

use super::{Alignment, PlanError, Problem};

/// A shape of made-up records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Synthetic {
    /// Passes of a transformer over 1, 16, 128 or 512 positions: some nine activations a layer that live for
    /// 1 to 5 steps, a residual a layer, a few caches that live for 10 to 200 steps. About 20 live at once.
    Inference,
    /// Forward and backward passes of 16 to 64 layers with 14 steps each; 45 of 100 activations wait for
    /// their mirrored step. About 440 live at once.
    Training,
    /// Uniform births, log-normal lengths, sizes even in their logarithm from 256 bytes to 64 MiB. About 70
    /// live at once.
    Uniform,
}

impl Synthetic {
    /// Every shape.
    pub const ALL: &'static [Synthetic] = &[Synthetic::Inference, Synthetic::Training, Synthetic::Uniform];

    /// Its name in reports.
    pub fn key(self) -> &'static str {
        match self {
            Synthetic::Inference => "infer",
            Synthetic::Training => "train",
            Synthetic::Uniform => "uni",
        }
    }

    /// A problem of `tensors` records, sizes in multiples of 256 bytes, no alignment asked for.
    ///
    /// # Errors
    /// [`PlanError`] where a problem cannot hold that many.
    pub fn problem(self, tensors: usize, seed: u64) -> Result<Problem, PlanError> {
        let mut problem = Problem::new(Alignment::ONE);
        for (i, record) in self.records(tensors, seed).into_iter().enumerate() {
            problem.tensor(format!("t{i}"), record.size_bytes, record.first..=record.last)?;
        }
        Ok(problem)
    }

    fn records(self, tensors: usize, seed: u64) -> Vec<Record> {
        let mut random = Random(seed);
        match self {
            Synthetic::Inference => inference(tensors, &mut random),
            Synthetic::Training => training(tensors, &mut random),
            Synthetic::Uniform => uniform(tensors, &mut random),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Record {
    size_bytes: u64,
    first: u32,
    /// Inclusive.
    last: u32,
}

fn units(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(256)
}

fn inference(tensors: usize, random: &mut Random) -> Vec<Record> {
    const HIDDEN: [u64; 4] = [512, 768, 1024, 2048];
    // In multiples of the hidden width: attention's projections, the feed-forward block, the rest.
    const WIDTHS: [u64; 9] = [1, 3, 1, 1, 1, 4, 4, 1, 1];
    let mut records = Vec::with_capacity(tensors);
    let mut step = 0u32;
    while records.len() < tensors {
        let positions = [1u64, 16, 128, 512][random.below(4) as usize];
        let hidden = HIDDEN[random.below(4) as usize];
        for _ in 0..12 + random.below(21) {
            let residual = units(positions * hidden * 4);
            records.push(Record { size_bytes: residual, first: step, last: step + WIDTHS.len() as u32 });
            for width in WIDTHS {
                let last = step + 1 + random.below(5) as u32;
                records.push(Record { size_bytes: units(positions * hidden * width * 4), first: step, last });
                step += 1;
            }
            if random.below(4) == 0 {
                let size_bytes = units((1 + random.below(512)) * hidden * 2);
                records.push(Record { size_bytes, first: step, last: step + 10 + random.below(191) as u32 });
            }
        }
    }
    records.truncate(tensors);
    records
}

fn training(tensors: usize, random: &mut Random) -> Vec<Record> {
    const STEPS_A_LAYER: u32 = 14;
    let mut records = Vec::with_capacity(tensors);
    let mut start = 0u32;
    while records.len() < tensors {
        let layers = 16 + random.below(49) as u32;
        let (batch, hidden) = (1 << random.below(6), 256 << random.below(4));
        let widths: Vec<u64> = (0..STEPS_A_LAYER).map(|_| 1 << random.below(4)).collect();
        let forward = layers * STEPS_A_LAYER;
        for at in 0..2 * forward {
            let first = start + at;
            let mirror = start + 2 * forward - 1 - at.min(forward - 1);
            let waits = at < forward && random.below(100) < 45;
            let last = if waits { mirror } else { first + 1 + random.below(3) as u32 };
            let width = widths[(at % STEPS_A_LAYER) as usize];
            records.push(Record { size_bytes: units(batch * hidden * width * 4), first, last });
        }
        start += 2 * forward;
    }
    records.truncate(tensors);
    records
}

fn uniform(tensors: usize, random: &mut Random) -> Vec<Record> {
    (0..tensors)
        .map(|_| {
            let first = random.below(tensors as u64) as u32;
            let length = (2.5 + 1.5 * random.normal()).exp().min(tensors as f64);
            let size_bytes = 256 * (18.0 * random.unit()).exp2() as u64;
            Record { size_bytes, first, last: first + length as u32 }
        })
        .collect()
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// In (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}
