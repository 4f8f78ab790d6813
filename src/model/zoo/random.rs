//! Weights from a seed.

/// Generator of Steele, Lea and Flood ("Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Copy)]
pub(super) struct SplitMix64(pub u64);

/// What the state grows by with each number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Leaves out that many numbers.
    pub(super) fn skip(&mut self, len: usize) {
        self.0 = self.0.wrapping_add(STEP.wrapping_mul(len as u64));
    }

    /// That many numbers, uniform in `-bound..bound` about a middle; 24 random bits, so the same floats on
    /// every machine.
    pub(super) fn uniform(mut self, len: usize, middle: f32, bound: f32) -> Vec<f32> {
        let one = |_| {
            let unit = (self.next() >> 40) as f32 / (1u64 << 24) as f32;
            middle + (2.0 * unit - 1.0) * bound
        };
        (0..len).map(one).collect()
    }
}
