//! Sets of sections: which sections a failure depends on.

/// A set of sections of one model, as bits. Sets that are compared have the same number of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SectionSet {
    words: Vec<u64>,
}

impl SectionSet {
    pub fn new(sections: usize) -> Self {
        SectionSet { words: vec![0; sections.div_ceil(64)] }
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn set_words(&mut self, words: &[u64]) {
        self.words.copy_from_slice(words);
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    pub fn insert(&mut self, section: u32) {
        self.words[section as usize / 64] |= 1 << (section % 64);
    }

    /// Inserts a closed range.
    pub fn insert_range(&mut self, first: u32, last: u32) {
        for_words(first, last, |word, mask| {
            self.words[word] |= mask;
            false
        });
    }

    /// Whether a section of a closed range is in the set.
    pub fn meets(&self, first: u32, last: u32) -> bool {
        for_words(first, last, |word, mask| self.words[word] & mask != 0)
    }

    /// Whether nothing outside a closed range is in the set.
    pub fn is_within(&self, first: u32, last: u32) -> bool {
        let last_section = self.words.len() as u32 * 64 - 1;
        !(first > 0 && self.meets(0, first - 1) || last < last_section && self.meets(last + 1, last_section))
    }

    pub fn union(&mut self, other: &SectionSet) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }
}

/// Visits words and masks of a closed range until `visit` says true, and returns whether it did.
fn for_words(first: u32, last: u32, mut visit: impl FnMut(usize, u64) -> bool) -> bool {
    let (from, to) = (first as usize / 64, last as usize / 64);
    (from..=to).any(|word| {
        let low = if word == from { u64::MAX << (first % 64) } else { u64::MAX };
        let high = if word == to { u64::MAX >> (63 - last % 64) } else { u64::MAX };
        visit(word, low & high)
    })
}
