//! Search for the lowest peak: quick placements first, then the hot core, then the exact search.
//!
//! Time is cut into parts that nothing links; each is planned for itself, the heaviest first, and only as
//! far as it matters for the whole. Work is counted, so that without a deadline the result is the same on
//! every machine and with any number of threads.

mod board;
mod budget;
mod core;
pub(crate) mod exact;
pub(crate) mod index;
pub(crate) mod lower;
mod part;
mod portfolio;
mod repair;
mod sections;
mod split;
#[cfg(test)]
mod tests;

use super::clock::Instant;
use std::sync::atomic::AtomicU64;

use super::ids::align_up;
use super::resolve::Block;
use super::strategy::Strategy;
use budget::Clock;
use core::{CoreSearch, Outcome};
use exact::Effort;
use part::Part;
use portfolio::{RULES, Stop, Way};
use split::{Reduced, heaviest_first};

pub(crate) use super::{Phase, Progress};

/// How hard to try.
#[derive(Debug, Clone)]
pub(crate) struct SearchOptions {
    /// Nodes that the exact searches may look at in all.
    pub nodes: u64,
    /// Whether parts of moderate size go to the exact search at once; else it comes last.
    pub exact_first: bool,
    /// When to stop at the latest; the result then depends on the machine.
    pub deadline: Option<Instant>,
    /// Threads for the quick placements; they never change the result.
    pub threads: usize,
    /// A peak that is good enough.
    pub capacity_goal: Option<u64>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions { nodes: 4_000_000, exact_first: true, deadline: None, threads: 1, capacity_goal: None }
    }
}

/// Why no plan can be lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Proof {
    /// The named lower bound is reached.
    Bound(&'static str),
    /// The space below was searched through.
    Exhausted,
}

/// What found the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    /// No reuse at all: time was up before anything else.
    Naive,
    /// The published strategy.
    Published(Strategy),
    /// Another order of greedy placement.
    Greedy,
    /// The hot core, packed exactly, and the rest filled in.
    Core,
    /// The best plan so far, with what was highest put elsewhere.
    Repair,
    /// The exact search over a whole part.
    Exact,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// One offset a block.
    pub offsets: Vec<u64>,
    pub peak_bytes: u64,
    pub lower_bound_bytes: u64,
    /// Where the peak meets the bound, why the bound holds.
    pub proof: Option<Proof>,
    pub method: Method,
}

/// Placements (blocks times rules) that the quick phase may make on a part before and after the first core.
const PLACEMENTS: (usize, usize) = (300_000, 1_500_000);

/// Rules tried before the first core.
const FIRST_RULES: usize = 3;

/// Parts of at most that many blocks are given to the exact search whole.
const EXACT_BLOCKS: usize = 800;

/// Parts of so many blocks get all nodes that are left; smaller ones a share by the square of their blocks.
const WHOLE_SHARE_BLOCKS: usize = 200;

/// What the exact search of any part gets, where there is as much.
const LEAST_NODES: u64 = 100_000;

/// Nodes that may go into the last bytes, fewer than the alignment.
const NODES_FOR_PADDING: u64 = 100_000;

/// Nodes of a core in the first round; each round doubles them twice.
const FIRST_NODES: u64 = 50_000;

/// Looks for offsets of these blocks in one arena without a limit.
pub(crate) fn search(blocks: &[Block], options: &SearchOptions, progress: &mut dyn FnMut(Progress)) -> Found {
    if blocks.is_empty() {
        let proof = Some(Proof::Bound("max load"));
        return Found {
            offsets: Vec::new(),
            peak_bytes: 0,
            lower_bound_bytes: 0,
            proof,
            method: Method::Naive,
        };
    }
    let reduced = Reduced::new(blocks);
    let mut search = Search::new(&reduced, options, progress);
    search.run();
    let lower_bound_bytes = search.lower * reduced.unit;
    let peak_bytes = search.peak() * reduced.unit;
    let optimal = peak_bytes == lower_bound_bytes;
    let found = Found {
        peak_bytes,
        lower_bound_bytes,
        proof: optimal.then_some(if search.exhausted { Proof::Exhausted } else { search.bound }),
        method: search.method,
        offsets: Vec::new(),
    };
    let offsets = search.offsets.iter().map(|o| o * reduced.unit).collect();
    Found { offsets, ..found }
}

/// State of a search; all bytes in units of the reduced problem.
struct Search<'a> {
    reduced: &'a Reduced,
    options: &'a SearchOptions,
    clock: Clock,
    progress: &'a mut dyn FnMut(Progress),
    /// Per block.
    offsets: Vec<u64>,
    /// Per part.
    peaks: Vec<u64>,
    lower: u64,
    bound: Proof,
    exhausted: bool,
    method: Method,
    nodes: u64,
}

impl<'a> Search<'a> {
    fn new(reduced: &'a Reduced, options: &'a SearchOptions, progress: &'a mut dyn FnMut(Progress)) -> Self {
        let (lower, name) = reduced.lower_bound();
        let offsets = Strategy::Naive.place(&reduced.whole.blocks);
        let peaks = reduced.peaks(&offsets);
        Search {
            reduced,
            options,
            clock: Clock { deadline: options.deadline },
            progress,
            offsets,
            peaks,
            lower,
            bound: Proof::Bound(name),
            exhausted: false,
            method: Method::Naive,
            nodes: options.nodes,
        }
    }

    fn peak(&self) -> u64 {
        self.peaks.iter().copied().max().unwrap_or(0)
    }

    /// What is low enough.
    fn target(&self) -> u64 {
        let goal = self.options.capacity_goal.map_or(0, |bytes| bytes / self.reduced.unit);
        self.lower.max(goal)
    }

    fn tell(&mut self, phase: Phase) {
        let unit = self.reduced.unit;
        let (best_peak_bytes, lower_bound_bytes) = (self.peak() * unit, self.lower * unit);
        (self.progress)(Progress { phase, best_peak_bytes, lower_bound_bytes });
    }

    fn run(&mut self) {
        self.greedy_over_all();
        let mut parts = heaviest_first(&self.peaks);
        // What one part cannot do without, no other need undercut.
        let mut floor = self.target();
        while let Some(number) = parts.pop() {
            if self.peaks[number] <= floor || self.clock.is_late() {
                continue;
            }
            let (ids, part) = self.reduced.part(number);
            self.improve(number, &ids, &part, floor);
            floor = floor.max(self.peaks[number]);
        }
        self.tell(Phase::Done);
    }

    /// The first rules over all parts at once: most are done with them.
    fn greedy_over_all(&mut self) {
        self.tell(Phase::Greedy);
        let whole = &self.reduced.whole;
        let rules = (PLACEMENTS.0 / whole.blocks.len()).clamp(1, FIRST_RULES);
        for (at, rule) in RULES[..rules].iter().enumerate() {
            // The first one stands in for a plan however little time there is.
            let stop = Stop { best_bytes: &AtomicU64::new(u64::MAX), clock: self.clock, finish: at == 0 };
            if let Some(offsets) = rule.place(whole, &stop) {
                self.adopt_over_all(&offsets, rule.method());
            }
            if self.peak() <= self.target() {
                break;
            }
        }
        self.tell(Phase::Greedy);
    }

    /// Takes over every part that came out lower.
    fn adopt_over_all(&mut self, offsets: &[u64], method: Method) {
        let before = self.peak();
        let peaks = self.reduced.peaks(offsets);
        for (i, offset) in offsets.iter().enumerate() {
            let part = self.reduced.part_of(i);
            if peaks[part] < self.peaks[part] {
                self.offsets[i] = *offset;
            }
        }
        self.peaks.iter_mut().zip(peaks).for_each(|(old, new)| *old = new.min(*old));
        if self.peak() < before {
            self.method = method;
        }
    }

    /// Takes over one part where it came out lower.
    fn adopt(
        &mut self,
        number: usize,
        ids: &[u32],
        part: &Part,
        offsets: &[u64],
        method: Method,
        phase: Phase,
    ) {
        let peak = part.peak(offsets);
        if peak >= self.peaks[number] {
            return;
        }
        let before = self.peak();
        ids.iter().zip(offsets).for_each(|(i, offset)| self.offsets[*i as usize] = *offset);
        self.peaks[number] = peak;
        if self.peak() < before {
            self.method = method;
            self.tell(phase);
        }
    }

    /// Everything that is dearer than a few placements, until the part's peak is at `floor`.
    fn improve(&mut self, number: usize, ids: &[u32], part: &Part, floor: u64) {
        let moderate = part.blocks.len() <= EXACT_BLOCKS;
        if moderate && self.options.exact_first {
            // It needs no better start than the first rules gave.
            return self.exact(number, ids, part, floor);
        }
        let mut core = CoreSearch::new(part, self.clock);
        // Nothing is possible below.
        let low = self.ask(&mut core, number, ids, part, floor, FIRST_NODES).unwrap_or(floor);
        if self.peaks[number] > low {
            self.greedy(number, ids, part, low);
        }
        if moderate {
            self.exact(number, ids, part, low);
        } else {
            self.rounds(&mut core, number, ids, part, low);
        }
    }

    /// Asks for a core under one capacity; a higher floor where that is proven not to be.
    fn ask(
        &mut self,
        core: &mut CoreSearch,
        number: usize,
        ids: &[u32],
        part: &Part,
        capacity: u64,
        nodes: u64,
    ) -> Option<u64> {
        match core.fits(capacity, nodes, &mut self.nodes) {
            Outcome::Fits(offsets) => self.adopt(number, ids, part, &offsets, Method::Core, Phase::Core),
            Outcome::Impossible => {
                self.raise(capacity + 1);
                return Some(capacity + 1);
            }
            Outcome::Unknown => {}
        }
        None
    }

    /// Cores under several capacities between the floor and the peak, each round with more nodes.
    fn rounds(&mut self, core: &mut CoreSearch, number: usize, ids: &[u32], part: &Part, floor: u64) {
        let mut low = floor;
        let mut nodes = FIRST_NODES;
        while self.peaks[number] > low && self.nodes > 0 && !self.clock.is_late() {
            if nearly(part, low, self.peaks[number]) && nodes > NODES_FOR_PADDING {
                break;
            }
            let (before, gap) = (self.nodes, self.peaks[number] - low);
            for eighths in [0, 1, 2, 4] {
                let capacity = low + gap / 8 * eighths;
                if (eighths > 0 && capacity <= low) || capacity >= self.peaks[number] {
                    continue;
                }
                let peak = self.peaks[number];
                low = self.ask(core, number, ids, part, capacity, nodes).unwrap_or(low);
                if self.peaks[number] < peak {
                    break;
                }
            }
            let repaired = self.repair(core, number, ids, part, low);
            nodes *= 4;
            if before == self.nodes && !repaired {
                break;
            }
        }
    }

    /// Repairs of the best plan under capacities between the floor and its peak, for as long as they help;
    /// whether one did.
    fn repair(&mut self, core: &mut CoreSearch, number: usize, ids: &[u32], part: &Part, low: u64) -> bool {
        let before = self.peaks[number];
        // How far towards the floor, in 64ths of the gap.
        let mut far = 32;
        while far > 0 && self.peaks[number] > low && !self.clock.is_late() {
            let capacity = self.peaks[number] - ((self.peaks[number] - low) / 64 * far).max(1);
            let offsets: Vec<u64> = ids.iter().map(|i| self.offsets[*i as usize]).collect();
            let over =
                part.blocks.iter().zip(&offsets).filter(|(b, o)| b.size_bytes + **o > capacity).count();
            match core.repair(offsets, capacity, over) {
                Some(offsets) => self.adopt(number, ids, part, &offsets, Method::Repair, Phase::Core),
                None => far /= 2,
            }
        }
        self.peaks[number] < before
    }

    /// The exact search over a whole part.
    fn exact(&mut self, number: usize, ids: &[u32], part: &Part, floor: u64) {
        if self.peaks[number] <= floor || self.nodes == 0 || self.clock.is_late() {
            return;
        }
        self.tell(Phase::Exact);
        let all: Vec<u32> = (0..ids.len() as u32).collect();
        let items = core::items(part, &all);
        let incumbent: Vec<u64> = ids.iter().map(|i| self.offsets[*i as usize]).collect();
        // Few blocks have few packings: what is not found soon will hardly be found late.
        let share = part.blocks.len().min(WHOLE_SHARE_BLOCKS).pow(2) as u64;
        let fair = (self.nodes / WHOLE_SHARE_BLOCKS.pow(2) as u64 * share).max(LEAST_NODES).min(self.nodes);
        let granted =
            if nearly(part, floor, self.peaks[number]) { fair.min(NODES_FOR_PADDING) } else { fair };
        let mut effort = Effort { nodes: granted, deadline: self.clock.deadline, cancelled: None };
        let mut on_better = |offsets: &[u64], _| {
            self.adopt(number, ids, part, offsets, Method::Exact, Phase::Exact);
        };
        let (_, low) = exact::minimise(&items, &incumbent, floor, &mut effort, &mut on_better);
        self.nodes -= granted - effort.nodes;
        if low > floor {
            self.raise(low);
        }
    }

    /// A part cannot do with less, so nothing can.
    fn raise(&mut self, lower: u64) {
        if lower > self.lower {
            self.lower = lower;
            self.exhausted = true;
        }
    }

    /// The other rules over one part.
    fn greedy(&mut self, number: usize, ids: &[u32], part: &Part, floor: u64) {
        let rules = (PLACEMENTS.1 / part.blocks.len()).min(RULES.len());
        let found = portfolio::best(
            &RULES[..rules],
            part,
            self.peaks[number],
            floor,
            self.clock,
            self.options.threads,
        );
        if let Some((rule, offsets)) = found {
            self.adopt(number, ids, part, &offsets, rule.method(), Phase::Greedy);
        }
    }
}

/// Whether a peak is less than the alignment above a floor: whoever allocates rounds up to it, so what is
/// left is not worth much.
fn nearly(part: &Part, floor: u64, peak: u64) -> bool {
    let align_bytes = part.blocks.iter().map(|b| b.align_bytes).min().unwrap_or(1);
    align_up(floor, align_bytes) >= peak
}

impl portfolio::Rule {
    fn method(self) -> Method {
        match (self.way, self.reversed) {
            (Way::StripPacking, false) => Method::Published(Strategy::StripPacking),
            (Way::Greedy(order, index::Fit::Best), false) => match order {
                portfolio::Order::Size => Method::Published(Strategy::GreedyBySize),
                portfolio::Order::Breadth => Method::Published(Strategy::GreedyByBreadth),
                portfolio::Order::First => Method::Published(Strategy::GreedyInOrder),
                _ => Method::Greedy,
            },
            _ => Method::Greedy,
        }
    }
}
