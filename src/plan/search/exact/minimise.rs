//! From an incumbent down: which capacities to ask for, and for how long.

use super::model::{self, Built};
use super::{Answer, Effort, Item, fits_beside};

/// Nodes of the first question; every round of questions doubles them.
const FIRST_QUESTION: u64 = 20_000;

/// Lowers the peak of an incumbent as far as the effort goes.
///
/// Returns the best offsets and the highest peak below which it is proven that nothing lies: where that is
/// the peak of the offsets, they are optimal. `on_better` sees every improvement with its peak, bytes.
///
/// The lower bound is asked for first. A capacity that does not fit within the nodes of a question halves
/// the stride below the peak, one that fits lowers the peak and doubles it. Once the smallest stride fails,
/// questions get twice the nodes and the bound is asked for again. So a timeout still lowers the peak.
pub(crate) fn minimise(
    items: &[Item],
    incumbent: &[u64],
    lower_bound: u64,
    effort: &mut Effort,
    on_better: &mut dyn FnMut(&[u64], u64),
) -> (Vec<u64>, u64) {
    let mut best = incumbent.to_vec();
    let mut peak = peak_of(items, &best);
    let mut proven = lower_bound.min(peak);
    let peaks = Peaks::new(items, peak);
    let (mut question, mut salt) = (FIRST_QUESTION, 0);
    // How far below the peak the next question is; the bound comes first.
    let mut stride = peak - proven;
    while proven < peak && effort.nodes > 0 {
        let ask = peaks.before(peak).min(peak - stride.min(peak - proven)).max(proven);
        let mut share = Effort { nodes: question.min(effort.nodes), ..*effort };
        let granted = share.nodes;
        let answer = fits_beside(items, ask, &best, salt, &mut share);
        effort.nodes = if effort.is_over() { 0 } else { effort.nodes - (granted - share.nodes) };
        match answer {
            Answer::Fits(offsets) => {
                best = offsets;
                peak = peak_of(items, &best);
                on_better(&best, peak);
                stride = stride.saturating_mul(2);
            }
            Answer::Impossible => proven = peaks.after(ask).min(peak).max(proven),
            Answer::Unknown => {
                if ask >= peaks.before(peak) {
                    question *= 2;
                    stride = peak - proven;
                } else {
                    stride /= 2;
                }
            }
        }
        salt += 1;
    }
    (best, proven)
}

fn peak_of(items: &[Item], offsets: &[u64]) -> u64 {
    items
        .iter()
        .zip(offsets)
        .filter(|(item, _)| item.size > 0)
        .map(|(item, at)| item.size + at)
        .max()
        .unwrap_or(0)
}

/// The peaks that packings which rest on their floors can have: a multiple of the unit and a size.
struct Peaks {
    /// Units with remainders of sizes.
    classes: Vec<(u64, u64)>,
    /// Ends of pinned items.
    pinned: Vec<u64>,
}

impl Peaks {
    fn new(items: &[Item], capacity: u64) -> Self {
        let mut classes = Vec::new();
        if let Built::Components(models) = model::build(items, capacity) {
            for model in models {
                let size = |p: &model::Piece| items[p.item as usize].size;
                classes.extend(model.pieces.iter().map(|p| (model.unit, size(p) % model.unit)));
            }
        }
        classes.sort_unstable();
        classes.dedup();
        let pinned = items.iter().filter_map(|item| item.pin.map(|pin| pin + item.size)).collect();
        Peaks { classes, pinned }
    }

    /// The lowest possible peak above `peak`.
    fn after(&self, peak: u64) -> u64 {
        let next = self.classes.iter().map(|(unit, rest)| {
            let below = peak + unit - rest;
            below - below % unit + rest
        });
        let pinned = self.pinned.iter().copied().filter(|p| *p > peak);
        next.chain(pinned).min().unwrap_or(peak + 1)
    }

    /// The highest possible peak below `peak`; 0 if there is none.
    fn before(&self, peak: u64) -> u64 {
        let previous = self.classes.iter().filter(|(_, rest)| *rest < peak).map(|(unit, rest)| {
            let above = peak - 1 - rest;
            above - above % unit + rest
        });
        let pinned = self.pinned.iter().copied().filter(|p| *p < peak);
        previous.chain(pinned).max().unwrap_or(0)
    }
}
