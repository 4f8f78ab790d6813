//! How a round of the corner search decides: which corner next, which piece first.

use super::random::Random;

/// Which of the niches with fewest options is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    LeastSlack,
    LowestFloor,
    Narrowest,
}

/// A point in the family of orders: the score of a piece is width^a * height^b and so on, in logarithms.
///
/// No single order suits all problems, and where one does, it takes few nodes. So rounds are short and every
/// round after the first few has an order drawn at random, with a fixed seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    pub rule: Rule,
    /// Exponent of the number of sections, in 1/16.
    pub width: i64,
    /// Exponent of the height, in 1/16.
    pub height: i64,
    /// Worth of a top level with a wall and of spanning the niche, in 1/16 of a doubling each.
    pub level: i64,
    /// Most that chance adds, in 1/16 of a doubling.
    pub noise: i64,
    /// Weight of lying low in a known packing.
    pub guide: i64,
    /// Weight of what the best tiling of the niche with the piece wastes.
    pub waste: i64,
    /// Whether niches in which the search failed lately come first.
    pub hot: bool,
    /// 0 breaks ties by position, everything else at random.
    pub seed: u64,
}

const RULES: [Rule; 3] = [Rule::LeastSlack, Rule::LowestFloor, Rule::Narrowest];
/// Width, area, height.
const EXPONENTS: [(i64, i64); 3] = [(16, 0), (16, 16), (0, 16)];

impl Style {
    /// The style of a round; rounds of another `salt` are other rounds.
    pub fn of_round(round: u64, salt: u64) -> Self {
        let plain = (RULES.len() * EXPONENTS.len()) as u64;
        if salt == 0 && round < plain {
            let (width, height) = EXPONENTS[round as usize % EXPONENTS.len()];
            let rule = RULES[round as usize / EXPONENTS.len()];
            return Style {
                rule,
                width,
                height,
                level: 12,
                noise: 0,
                guide: 0,
                waste: 0,
                hot: false,
                seed: 0,
            };
        }
        let seed = (salt << 40) + round + 1;
        let mut random = Random(seed);
        let mut draw = |bound: u64| random.below(bound) as i64;
        Style {
            rule: RULES[draw(3) as usize],
            width: draw(25),
            height: draw(25),
            level: draw(25),
            noise: [0, 4, 16, 32][draw(4) as usize],
            guide: [0, 64, 256, 1024][draw(4) as usize],
            waste: [0, 4, 16, 64][draw(4) as usize],
            hot: draw(2) == 1,
            seed,
        }
    }

    /// How early a piece is tried; the highest first.
    pub fn score(&self, merits: &Merits, random: &mut Random) -> i64 {
        let shape = self.width * log2(merits.width) + self.height * log2(merits.height);
        let place =
            self.guide * merits.low + ((self.level * merits.level) << 12) - self.waste * merits.wasted;
        let chance = if self.noise == 0 { 0 } else { random.below((self.noise as u64) << 12) as i64 };
        shape + place + chance
    }
}

/// What an order may look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merits {
    /// Sections.
    pub width: u64,
    /// Units.
    pub height: u64,
    /// How many of these hold: level with the left wall, with the right wall, as wide as the niche.
    pub level: i64,
    /// How low it lies in a known packing, 0 to 4096.
    pub low: i64,
    /// Share of slack, in 1/4096 and summed over sections, that the best tiling with it wastes.
    pub wasted: i64,
}

/// Logarithm to base 2 in 1/4096, linear between powers: the same on every machine.
fn log2(x: u64) -> i64 {
    let whole = x.max(1).ilog2();
    let fraction = if whole >= 12 { (x >> (whole - 12)) & 0xfff } else { (x << (12 - whole)) & 0xfff };
    i64::from(whole << 12) + fraction as i64
}
