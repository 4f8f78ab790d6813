//! A whole order from the parts that can be ordered on their own.
//!
//! A node that every other one comes before or after has one place in all orders, so what lies between two of
//! them is a problem of its own. A piece is given to the exact search; where that runs out, a beam search
//! finds an order and exact searches over stretches around its fullest step mend it.

use super::beam;
use super::exact::{Answer, Budget, lowest};
use super::model::Model;

/// The part of what work is left that the search over a piece may take, 1 of so many.
const PIECE: u64 = 6;
/// The same of the search over a stretch.
const STRETCH: u64 = 60;
/// Nodes in a stretch.
const STRETCHES: [usize; 4] = [24, 48, 96, 192];

/// Which pieces are ordered anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// Those that decide the highest load.
    Highest,
    /// All, each to its own lowest.
    Everywhere,
}

/// An order whose peak is nowhere above that of the order given: the numbers of the nodes as they are now.
pub(super) fn order(model: &Model, aim: Aim, work: &mut Budget) -> Vec<u32> {
    let mut order: Vec<u32> = (0..model.len() as u32).collect();
    let floor = model.floor();
    let mut pieces = pieces(model);
    let peaks = peaks(model, &order);
    let peak_of = |p: &std::ops::Range<usize>| peaks[p.clone()].iter().copied().max().unwrap_or(0);
    pieces.sort_by_key(|p| (std::cmp::Reverse(peak_of(p)), p.start));
    // What is known of the highest load: at least this.
    let mut height = floor;
    for piece in pieces {
        let limit = peak_of(&piece);
        let small = part(model, &order, piece.clone());
        let goal = match aim {
            Aim::Highest => height,
            Aim::Everywhere => small.floor(),
        };
        if limit <= goal {
            continue;
        }
        let found = solve(&small, goal, limit, work);
        if let Some(found) = found {
            splice(&mut order, piece.start, &found);
        }
        height = height.max(small.peak(order_of(&order, &piece)));
    }
    order
}

/// Places of a piece's nodes within it, in the order now.
fn order_of(order: &[u32], piece: &std::ops::Range<usize>) -> Vec<u32> {
    order[piece.clone()].iter().map(|node| node - piece.start as u32).collect()
}

/// Puts the nodes from `start` on in the order found.
fn splice(order: &mut [u32], start: usize, found: &[u32]) {
    let nodes = order[start..start + found.len()].to_vec();
    found.iter().enumerate().for_each(|(i, at)| order[start + i] = nodes[*at as usize]);
}

/// A stretch of an order as a model of its own.
fn part(model: &Model, order: &[u32], places: std::ops::Range<usize>) -> Model {
    let before = model.walk(order[..places.start].iter().copied(), |_| {});
    model.piece(&order[places], &before)
}

/// The load at every step of an order.
fn peaks(model: &Model, order: &[u32]) -> Vec<u64> {
    let mut peaks = Vec::with_capacity(order.len());
    model.walk(order.iter().copied(), |load| peaks.push(load));
    peaks
}

/// Stretches of the order given that keep their places in every order; none of a single node.
fn pieces(model: &Model) -> Vec<std::ops::Range<usize>> {
    let cuts = model.cuts();
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in 0..=cuts.len() {
        if at == cuts.len() || cuts[at] {
            pieces.push(start..at);
            start = at + 1;
        }
    }
    pieces.retain(|p| p.len() > 1);
    pieces
}

/// A lower order of a piece than the one it has.
fn solve(piece: &Model, floor: u64, limit: u64, work: &mut Budget) -> Option<Vec<u32>> {
    match bounded(piece, floor, limit, PIECE, work) {
        Answer::Lowest(order) => return Some(order),
        Answer::None => return None,
        Answer::Unknown => {}
    }
    let given: Vec<u32> = (0..piece.len() as u32).collect();
    let mut part = work.part(PIECE);
    let found = beam::search(piece, floor, limit, &mut part);
    work.give_back(part);
    let mended = found.into_iter().chain([given]).map(|start| mend(piece, start, floor, work));
    let best = mended.min_by_key(|order| piece.peak(order.iter().copied()))?;
    (piece.peak(best.iter().copied()) < limit).then_some(best)
}

/// Puts stretches around the fullest step in their lowest order for as long as that lowers the peak there.
fn mend(piece: &Model, mut order: Vec<u32>, floor: u64, work: &mut Budget) -> Vec<u32> {
    'again: loop {
        let peaks = peaks(piece, &order);
        let highest = peaks.iter().copied().max().unwrap_or(0);
        if highest <= floor {
            return order;
        }
        let at = peaks.iter().position(|p| *p == highest).unwrap_or(0);
        for width in STRETCHES {
            // Around the step, mostly before it, mostly after it.
            for ahead in [width / 2, width / 8, width - width / 8] {
                let start = at.saturating_sub(ahead);
                let places = start..(start + width).min(order.len());
                let small = part(piece, &order, places);
                if let Answer::Lowest(found) = bounded(&small, floor, highest, STRETCH, work) {
                    splice(&mut order, start, &found);
                    continue 'again;
                }
            }
        }
        return order;
    }
}

/// An exact search that leaves work for others.
fn bounded(model: &Model, floor: u64, limit: u64, of: u64, work: &mut Budget) -> Answer {
    let mut part = work.part(of);
    let answer = lowest(model, floor, limit, &mut part);
    work.give_back(part);
    answer
}
