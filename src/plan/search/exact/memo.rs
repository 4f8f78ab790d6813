//! States that are known to have no packing.

/// A bounded table of hashes of failed states. Where two states want one place, the later one stays.
///
/// Hashes have 128 bits: among a thousand million states the chance that two share one is below 10^-20.
#[derive(Debug)]
pub(super) struct Memo {
    slots: Vec<u128>,
    filled: usize,
}

const SMALLEST: usize = 1 << 10;
const LARGEST: usize = 1 << 21;

impl Memo {
    pub fn new() -> Self {
        Memo { slots: vec![0; SMALLEST], filled: 0 }
    }

    pub fn contains(&self, hash: u128) -> bool {
        self.slots[self.slot(hash)] == hash
    }

    pub fn insert(&mut self, hash: u128) {
        if self.filled * 2 > self.slots.len() && self.slots.len() < LARGEST {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![0; old.len() * 4];
            for hash in old.into_iter().filter(|h| *h != 0) {
                let slot = self.slot(hash);
                self.slots[slot] = hash;
            }
        }
        let slot = self.slot(hash);
        self.filled += usize::from(self.slots[slot] == 0);
        self.slots[slot] = hash;
    }

    fn slot(&self, hash: u128) -> usize {
        (hash >> 64) as usize & (self.slots.len() - 1)
    }
}
