//! Colours: by operator where the operators are known, else so that neighbours in the list differ.

use std::collections::BTreeMap;

use super::Picture;

/// Fills that dark text is legible on, on white and on black paper.
pub(super) const FILLS: [&str; 10] = [
    "#7aa6d8", "#f2a65a", "#7fbf7b", "#e58a8a", "#7cc5c0", "#e8cf6a", "#b99ad0", "#f0a6c0", "#b8977e",
    "#a9b0b8",
];

/// The same a little darker, so that neighbours of one class can be told apart.
pub(super) const DARKER: [&str; 10] = [
    "#6d95c2", "#d99551", "#72ab6e", "#ce7c7c", "#6fb1ac", "#d0ba5f", "#a68abb", "#d895ac", "#a58771",
    "#989ea5",
];

/// A class per tensor, an index into [`FILLS`], and the names of the classes where they have one.
pub(super) struct Classes {
    pub of: Vec<u8>,
    pub names: Vec<String>,
}

/// The operators that write the most bytes get a colour each, all others share the last.
pub(super) fn classes(picture: &Picture) -> Classes {
    let records = &picture.records;
    if picture.steps.is_empty() {
        return Classes {
            of: (0..records.len()).map(|i| (i % FILLS.len()) as u8).collect(),
            names: Vec::new(),
        };
    }
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    for record in records {
        let total = bytes.entry(picture.op(record.first).unwrap_or("other")).or_default();
        *total = total.saturating_add(record.size_bytes);
    }
    let mut ranked: Vec<(&str, u64)> = bytes.into_iter().collect();
    ranked.sort_by_key(|(op, bytes)| (std::cmp::Reverse(*bytes), *op));
    let own = if ranked.len() > FILLS.len() { FILLS.len() - 1 } else { ranked.len() };
    let mut names: Vec<String> = ranked[..own].iter().map(|(op, _)| (*op).to_owned()).collect();
    let class = |op: &str| ranked[..own].iter().position(|(name, _)| *name == op).unwrap_or(FILLS.len() - 1);
    let of = records.iter().map(|r| class(picture.op(r.first).unwrap_or("other")) as u8).collect();
    if own < ranked.len() {
        names.push("other operators".to_owned());
    }
    Classes { of, names }
}
