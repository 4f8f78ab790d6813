//! Lower bounds of the peak beyond the max load.
//!
//! All of them look at one step at a time: the rectangles that live there are stacked in some order, so that
//! the peak is at least the lowest stack that alignments and pins allow.

use std::collections::BTreeMap;

use super::exact::Item;

/// No peak of these items is below it, bytes; and the argument that gave it.
///
/// `"max load"`: the live sizes of a step summed. `"aligned load"`: all of them but the topmost padded to the
/// alignment that all offsets share. `"pins"`: where a pinned rectangle ends. `"exact fill"`: the sizes
/// that live at a step cannot fill the gaps between its pinned rectangles, and the rest lies above the last.
pub(crate) fn lower_bound(items: &[Item]) -> (u64, &'static str) {
    let mut best = (0, "max load");
    let mut raise = |bound: u64, argument| {
        if bound > best.0 {
            best = (bound, argument);
        }
    };
    let padding = common_padding(items);
    let (mut load, mut padded) = (0u64, 0u64);
    let mut paddings: BTreeMap<u64, usize> = BTreeMap::new();
    sweep(items, |event| match event {
        Event::Birth(item) => {
            let pad = item.size.next_multiple_of(padding) - item.size;
            (load, padded) = (load + item.size, padded + item.size + pad);
            *paddings.entry(pad).or_default() += 1;
        }
        Event::Death(item) => {
            let pad = item.size.next_multiple_of(padding) - item.size;
            (load, padded) = (load - item.size, padded - item.size - pad);
            paddings.entry(pad).and_modify(|count| *count -= 1);
            if paddings.get(&pad) == Some(&0) {
                paddings.remove(&pad);
            }
        }
        Event::Full => {
            raise(load, "max load");
            raise(padded - paddings.last_key_value().map_or(0, |(pad, _)| *pad), "aligned load");
        }
    });
    for item in items.iter().filter(|item| item.size > 0) {
        raise(item.pin.unwrap_or(0) + item.size, if item.pin.is_some() { "pins" } else { "max load" });
    }
    if items.iter().any(|item| item.pin.is_some() && item.size > 0) {
        raise(exact_fill(items, padding), "exact fill");
    }
    best
}

/// All offsets are multiples of it.
fn common_padding(items: &[Item]) -> u64 {
    let offsets = items.iter().filter(|item| item.size > 0).map(|item| item.pin.unwrap_or(item.align.max(1)));
    offsets.fold(0, gcd).max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

enum Event<'a> {
    Birth(&'a Item),
    Death(&'a Item),
    /// What lives at a step is in, what ended before it is out, and something ends next: only here a load can
    /// be highest.
    Full,
}

fn sweep<'a>(items: &'a [Item], mut visit: impl FnMut(Event<'a>)) {
    let mut births: Vec<&Item> = items.iter().filter(|item| item.size > 0).collect();
    births.sort_by_key(|item| item.first);
    let mut deaths = births.clone();
    deaths.sort_by_key(|item| item.last);
    let mut dead = 0;
    for (i, item) in births.iter().enumerate() {
        while deaths[dead].last < item.first {
            visit(Event::Death(deaths[dead]));
            dead += 1;
        }
        visit(Event::Birth(item));
        if births.get(i + 1).is_none_or(|next| next.first > deaths[dead].last) {
            visit(Event::Full);
        }
    }
}

/// Operations that sums of subsets may take in all; gaps after that are taken as fillable.
const MOST_WORK: u64 = 1 << 26;
/// Longest gap, in units, whose sums of subsets are listed.
const LONGEST_GAP: u64 = 1 << 16;

/// The highest, over the steps with pins, of the last pinned end and what does not fit below it.
fn exact_fill(items: &[Item], padding: u64) -> u64 {
    let mut live: Vec<&Item> = Vec::new();
    let (mut highest, mut work) = (0, MOST_WORK);
    sweep(items, |event| match event {
        Event::Birth(item) => live.push(item),
        Event::Death(item) => live.retain(|other| !std::ptr::eq(*other, item)),
        Event::Full => highest = filled(&live, padding, &mut work).max(highest),
    });
    highest
}

/// The least peak of one step: every gap between pins takes at most its best sum of free sizes.
fn filled(live: &[&Item], padding: u64, work: &mut u64) -> u64 {
    let mut pins: Vec<(u64, u64)> =
        live.iter().filter_map(|i| i.pin.map(|pin| (pin, pin + i.size))).collect();
    if pins.is_empty() || pins.len() == live.len() {
        return 0;
    }
    pins.sort_unstable();
    let sizes: Vec<u64> =
        live.iter().filter(|i| i.pin.is_none()).map(|i| i.size.next_multiple_of(padding)).collect();
    let mut left: u64 = sizes.iter().sum();
    let mut below = 0;
    for (pin, end) in pins {
        left = left.saturating_sub(best_sum(&sizes, padding, pin.saturating_sub(below), work));
        below = end.next_multiple_of(padding).max(below);
    }
    // The topmost may do without its padding.
    if left == 0 { 0 } else { below + left - (padding - 1) }
}

/// The highest sum of some of the sizes that is at most `gap`.
fn best_sum(sizes: &[u64], padding: u64, gap: u64, work: &mut u64) -> u64 {
    let unit = sizes.iter().fold(0, |all, size| gcd(all, *size)).max(padding);
    let units = gap / unit;
    let cost = sizes.len() as u64 * (units / 64 + 1);
    if sizes.iter().all(|size| *size > gap) {
        return 0;
    }
    if units > LONGEST_GAP || cost > *work {
        return units * unit;
    }
    *work -= cost;
    // Bit i: some sizes sum to i units.
    let mut sums = vec![0u64; units as usize / 64 + 1];
    sums[0] = 1;
    for size in sizes.iter().map(|size| size / unit).filter(|size| *size <= units) {
        shift_or(&mut sums, size as usize);
    }
    let reached = (0..=units as usize).rev().find(|i| sums[i / 64] >> (i % 64) & 1 != 0);
    reached.map_or(0, |i| i as u64 * unit)
}

/// Sets every bit that is `by` above a set one; bits above the last word are lost.
fn shift_or(bits: &mut [u64], by: usize) {
    let (words, rest) = (by / 64, by % 64);
    for i in (words..bits.len()).rev() {
        let mut moved = bits[i - words] << rest;
        if rest > 0 && i > words {
            moved |= bits[i - words - 1] >> (64 - rest);
        }
        bits[i] |= moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(size: u64, first: u32, last: u32, align: u64, pin: Option<u64>) -> Item {
        Item { size, first, last, align, pin }
    }

    #[test]
    fn the_load_of_the_fullest_step() {
        let items = [item(3, 0, 1, 1, None), item(4, 1, 2, 1, None), item(5, 2, 3, 1, None)];
        assert_eq!(lower_bound(&items), (9, "max load"));
        assert_eq!(lower_bound(&[]), (0, "max load"));
    }

    #[test]
    fn all_but_the_topmost_are_padded() {
        let items = [item(3, 0, 1, 8, None), item(9, 1, 2, 16, None)];
        assert_eq!(lower_bound(&items), (17, "aligned load"));
    }

    #[test]
    fn a_pin_sets_where_it_ends() {
        let items = [item(3, 0, 1, 1, None), item(4, 3, 3, 1, Some(10))];
        assert_eq!(lower_bound(&items), (14, "pins"));
    }

    #[test]
    fn gaps_below_pins_take_whole_sizes() {
        // Neither 4 nor 6 fits into the gap of 3, and 8 holds only one of them.
        let pins = [item(2, 0, 0, 1, Some(3)), item(2, 0, 0, 1, Some(13))];
        let free = [item(4, 0, 0, 1, None), item(6, 0, 0, 1, None)];
        let items = [pins, free].concat();
        assert_eq!(lower_bound(&items), (19, "exact fill"));
    }
}
