//! An iteration that left its script, or has none: every place is checked against what lives.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::Place;
use super::script::{Entry, Logged, NEVER};

/// How far ahead the script is searched for an allocation of that name.
const WINDOW: usize = 32;

/// What is known of the iteration so far.
#[derive(Debug, Default)]
pub struct Loose {
    /// Every allocation, to be planned at the end.
    pub log: Vec<Logged>,
    /// Planned places in use: to the byte after them and the allocation.
    live: BTreeMap<Place, (u64, u32)>,
    /// Where the script goes on.
    next: usize,
}

impl Loose {
    /// Begins at the entry `next` of the script, with nothing logged.
    pub fn restart(&mut self, next: usize) {
        self.log.clear();
        self.live.clear();
        self.next = next;
    }

    /// The script's entry for an allocation of that name, if one lies near: the thread is found again after
    /// allocations that are new or do not come.
    pub fn follow(&mut self, label: &str, script: &[Logged]) -> Option<usize> {
        let ahead = script.get(self.next..)?.iter().take(WINDOW);
        let found = self.next + ahead.into_iter().position(|logged| &*logged.label == label)?;
        self.next = found + 1;
        Some(found)
    }

    /// Takes a planned place for the allocation `index`, if the bytes are free.
    pub fn occupy(&mut self, entry: &Entry, size_bytes: u64, index: u32) -> bool {
        let place = entry.place;
        let (region, start) = (place.region(), place.offset_bytes());
        let end = start + size_bytes;
        if entry.released == NEVER || size_bytes > entry.size_bytes {
            return false;
        }
        if size_bytes == 0 {
            return true;
        }
        let below = self.live.range(..Place::planned(region, end)).next_back();
        if below.is_some_and(|(other, (other_end, _))| other.region() == region && *other_end > start) {
            return false;
        }
        self.live.insert(place, (end, index));
        true
    }

    /// Frees the planned place of the allocation `index`.
    pub fn vacate(&mut self, place: Place, index: u32) {
        if self.live.get(&place).is_some_and(|(_, holder)| *holder == index) {
            self.live.remove(&place);
        }
    }

    /// Notes an allocation; its number in the iteration.
    pub fn note(&mut self, label: Arc<str>, size_bytes: u64) -> u32 {
        self.log.push(Logged { label, size_bytes, due: NEVER });
        (self.log.len() - 1) as u32
    }

    /// Notes the release of an allocation.
    pub fn note_release(&mut self, index: u32) {
        let due = self.log.len() as u32;
        if let Some(logged) = self.log.get_mut(index as usize) {
            logged.due = due;
        }
    }

    /// Regions of the planned places in use, one for each.
    pub fn regions(&self) -> impl Iterator<Item = usize> + '_ {
        self.live.keys().map(|place| place.region())
    }
}
