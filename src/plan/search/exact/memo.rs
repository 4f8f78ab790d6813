//! States that are known to have no packing, and why.

use super::section_set::SectionSet;

/// A bounded table of hashes of failed states. Where two states want one place, the later one stays.
///
/// Hashes have 128 bits: among a thousand million states the chance that two share one is below 10^-20.
#[derive(Debug)]
pub(super) struct Memo {
    hashes: Vec<u128>,
    /// Per place the sections the failure depends on.
    whys: Vec<u64>,
    /// Words of one such set.
    words: usize,
    filled: usize,
    /// Most places, a power of two.
    largest: usize,
}

const SMALLEST: usize = 1 << 10;
const LARGEST_BYTES: usize = 1 << 26;

impl Memo {
    pub fn new(sections: usize) -> Self {
        let words = SectionSet::new(sections).words().len();
        let places = LARGEST_BYTES / (16 + 8 * words);
        let largest = SMALLEST.max(1 << places.ilog2());
        Memo { hashes: vec![0; SMALLEST], whys: vec![0; SMALLEST * words], words, filled: 0, largest }
    }

    /// Whether a state is known to fail; sets `why` if so.
    pub fn recall(&self, hash: u128, why: &mut SectionSet) -> bool {
        let place = self.place(hash);
        if self.hashes[place] != hash {
            return false;
        }
        why.set_words(&self.whys[place * self.words..(place + 1) * self.words]);
        true
    }

    pub fn insert(&mut self, hash: u128, why: &SectionSet) {
        if self.filled * 2 > self.hashes.len() && self.hashes.len() < self.largest {
            self.grow();
        }
        let place = self.place(hash);
        self.filled += usize::from(self.hashes[place] == 0);
        self.put(place, hash, why.words());
    }

    fn grow(&mut self) {
        let places = (self.hashes.len() * 4).min(self.largest);
        let hashes = std::mem::replace(&mut self.hashes, vec![0; places]);
        let whys = std::mem::replace(&mut self.whys, vec![0; places * self.words]);
        for (hash, why) in hashes.into_iter().zip(whys.chunks_exact(self.words)) {
            if hash != 0 {
                self.put(self.place(hash), hash, why);
            }
        }
    }

    fn put(&mut self, place: usize, hash: u128, why: &[u64]) {
        self.hashes[place] = hash;
        self.whys[place * self.words..(place + 1) * self.words].copy_from_slice(why);
    }

    fn place(&self, hash: u128) -> usize {
        (hash >> 64) as usize & (self.hashes.len() - 1)
    }
}
