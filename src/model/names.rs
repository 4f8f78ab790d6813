//! Names that an importer makes up.

use std::collections::HashSet;

/// The name itself where it is free, else with a number.
pub(super) fn unique(taken: &mut HashSet<String>, wish: String) -> String {
    let mut name = wish.clone();
    let mut count = 2;
    while !taken.insert(name.clone()) {
        name = format!("{wish}#{count}");
        count += 1;
    }
    name
}
