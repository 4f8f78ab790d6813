//! The regions of a recorder: arenas that plans share, overflow beside them, arenas outlived by a block.

use super::block::{MAX_BYTES, Place};
use super::overflow::Overflow;

/// What a region is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Holds what plans place.
    Arena,
    /// Holds what no plan foresees.
    Overflow,
    /// Was an arena, and still holds blocks that outlived their iteration.
    Retired,
}

/// One region, as whoever backs it with memory needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// What blocks name it by; used again once a region is gone.
    pub index: usize,
    /// Never used again.
    pub serial: u64,
    /// Its bytes.
    pub bytes: u64,
    /// What it is for.
    pub role: Role,
}

#[derive(Debug)]
enum State {
    Arena,
    Overflow(Box<Overflow>),
    Retired { live: usize },
}

#[derive(Debug)]
struct Held {
    serial: u64,
    bytes: u64,
    state: State,
}

/// All regions.
#[derive(Debug)]
pub struct Regions {
    unit_bytes: u64,
    max_bytes: u64,
    first_growth_bytes: u64,
    held: Vec<Option<Held>>,
    arenas: Vec<usize>,
    serial: u64,
    most_bytes: u64,
}

impl Regions {
    pub fn new(unit_bytes: u64) -> Self {
        Regions {
            unit_bytes,
            max_bytes: MAX_BYTES / unit_bytes * unit_bytes,
            first_growth_bytes: 1 << 16,
            held: Vec::new(),
            arenas: Vec::new(),
            serial: 0,
            most_bytes: 0,
        }
    }

    pub fn set_max_bytes(&mut self, bytes: u64) {
        self.max_bytes = bytes.min(MAX_BYTES) / self.unit_bytes * self.unit_bytes;
    }

    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    pub fn set_first_growth_bytes(&mut self, bytes: u64) {
        self.first_growth_bytes = bytes;
    }

    /// Changes whenever a region comes or goes.
    pub fn version(&self) -> u64 {
        self.serial
    }

    pub fn iter(&self) -> impl Iterator<Item = Region> + '_ {
        self.held.iter().enumerate().filter_map(|(index, held)| {
            let Held { serial, bytes, state } = held.as_ref()?;
            let role = match state {
                State::Arena => Role::Arena,
                State::Overflow(_) => Role::Overflow,
                State::Retired { .. } => Role::Retired,
            };
            Some(Region { index, serial: *serial, bytes: *bytes, role })
        })
    }

    pub fn bytes(&self, role: Role) -> u64 {
        self.iter().filter(|region| region.role == role).map(|region| region.bytes).sum()
    }

    /// Most bytes of all regions so far.
    pub fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Whether there is a number for that many regions more.
    pub fn has_room(&self, more: usize) -> bool {
        self.held.iter().flatten().count() + more <= Place::MAX_REGIONS
    }

    /// Regions of the arenas, in the order of plans.
    pub fn arenas(&self) -> &[usize] {
        &self.arenas
    }

    fn add(&mut self, bytes: u64, state: State) -> usize {
        self.serial += 1;
        let held = Some(Held { serial: self.serial, bytes, state });
        let index = match self.held.iter().position(Option::is_none) {
            Some(free) => {
                self.held[free] = held;
                free
            }
            None => {
                self.held.push(held);
                self.held.len() - 1
            }
        };
        self.most_bytes = self.most_bytes.max(self.iter().map(|region| region.bytes).sum());
        index
    }

    fn remove(&mut self, index: usize) {
        self.serial += 1;
        self.held[index] = None;
    }

    /// Makes the arenas at least that large. Nothing may live in them.
    pub fn fit(&mut self, arenas: &[u64]) {
        for (i, bytes) in arenas.iter().enumerate() {
            match self.arenas.get(i).copied() {
                Some(region) if self.held[region].as_ref().is_some_and(|held| held.bytes >= *bytes) => {}
                Some(region) => {
                    self.remove(region);
                    self.arenas[i] = self.add(*bytes, State::Arena);
                }
                None => {
                    let region = self.add(*bytes, State::Arena);
                    self.arenas.push(region);
                }
            }
        }
    }

    /// Makes the arenas exactly that large. Nothing may live in them.
    pub fn shrink(&mut self, arenas: &[u64]) {
        while self.arenas.len() > arenas.len() {
            if let Some(region) = self.arenas.pop() {
                self.remove(region);
            }
        }
        for (i, bytes) in arenas.iter().enumerate() {
            if let Some(region) = self.arenas.get(i).copied()
                && self.held[region].as_ref().is_some_and(|held| held.bytes > *bytes)
            {
                self.remove(region);
                self.arenas[i] = self.add(*bytes, State::Arena);
            }
        }
    }

    /// Leaves the arenas in which blocks live to those, and puts fresh ones in their place.
    pub fn retire(&mut self, live: impl IntoIterator<Item = usize>) {
        for region in live {
            let Some(held) = self.held[region].as_mut() else { continue };
            match &mut held.state {
                State::Retired { live } => *live += 1,
                state => *state = State::Retired { live: 1 },
            }
        }
        for i in 0..self.arenas.len() {
            let region = self.arenas[i];
            if let Some(Held { bytes, state: State::Retired { .. }, .. }) = self.held[region] {
                self.arenas[i] = self.add(bytes, State::Arena);
            }
        }
    }

    /// Takes bytes of the overflow, which grows where it must: by as much again as it has.
    pub fn take(&mut self, size_bytes: u64) -> (usize, super::overflow::Taken) {
        for (index, held) in self.held.iter_mut().enumerate() {
            if let Some(Held { state: State::Overflow(overflow), .. }) = held
                && let Some(taken) = overflow.take(size_bytes)
            {
                return (index, taken);
            }
        }
        let unit = self.unit_bytes;
        let least = size_bytes.div_ceil(unit).max(1) * unit;
        let wanted = self.bytes(Role::Overflow).max(self.first_growth_bytes).min(self.max_bytes);
        let bytes = wanted.max(least).div_ceil(unit) * unit;
        let mut overflow = Box::new(Overflow::new(bytes, unit));
        let taken = overflow.take(size_bytes).expect("the region was made as large as that");
        (self.add(bytes, State::Overflow(overflow)), taken)
    }

    /// Gives back a block of the overflow or of a retired arena.
    pub fn give_back(&mut self, region: usize, node: u32) {
        match self.held.get_mut(region).and_then(Option::as_mut).map(|held| &mut held.state) {
            Some(State::Overflow(overflow)) => overflow.give_back(node),
            Some(State::Retired { live }) => {
                *live -= 1;
                if *live == 0 {
                    self.remove(region);
                }
            }
            Some(State::Arena) | None => {}
        }
    }

    /// Drops overflow in which nothing lives.
    pub fn drop_empty_overflow(&mut self) {
        for index in 0..self.held.len() {
            if let Some(Held { state: State::Overflow(overflow), .. }) = &self.held[index]
                && overflow.is_empty()
            {
                self.remove(index);
            }
        }
    }
}
