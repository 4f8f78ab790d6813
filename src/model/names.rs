//! Names that an importer makes up.

use std::collections::HashSet;

/// The name itself where it is free, else with a number: the one after those that are taken.
pub(super) fn unique(taken: &mut HashSet<String>, wish: String) -> String {
    if taken.insert(wish.clone()) {
        return wish;
    }
    let numbered = |count: usize| format!("{wish}#{count}");
    // Numbers are given out in order, so the taken ones lie below the free ones: doubled, then halved.
    let (mut low, mut high) = (1, 2);
    while taken.contains(&numbered(high)) {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match taken.contains(&numbered(middle)) {
            true => low = middle,
            false => high = middle,
        }
    }
    taken.insert(numbered(high));
    numbered(high)
}
