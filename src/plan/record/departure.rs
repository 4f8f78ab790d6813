//! Allocations and releases that are not what the script says next.

use std::num::NonZeroU64;
use std::sync::Arc;

use super::block::{Place, Turn};
use super::script::{Logged, NEVER};
use super::{ITERATION_BITS, Made, Mode, Recorder, TOO_MANY_REGIONS};
use crate::plan::PlanError;

impl Recorder {
    /// Leaves what it takes in `made`.
    #[cold]
    #[inline(never)]
    pub(super) fn allocate_elsewhere(&mut self, label: &str, size_bytes: u64) -> Result<(), Box<PlanError>> {
        let limit_bytes = self.regions.max_bytes();
        if size_bytes > limit_bytes {
            let tensor = label.to_owned();
            let refused = PlanError::OverBuffer { tensor, needed_bytes: size_bytes, limit_bytes };
            return Err(Box::new(refused));
        }
        if !self.regions.has_room(1) {
            return Err(Box::new(TOO_MANY_REGIONS));
        }
        self.made = if self.paused || self.mode == Mode::Idle {
            self.totals.outside += 1;
            self.overflow(size_bytes, NEVER)
        } else if let Some(made) = self.other_size(label, size_bytes) {
            made
        } else {
            if self.mode == Mode::OnScript {
                self.leave_script();
            }
            self.allocate_loose(label, size_bytes)
        };
        Ok(())
    }

    /// The next allocation of the script, but for its size; or one that the plan leaves out.
    fn other_size(&mut self, label: &str, size_bytes: u64) -> Option<Made> {
        let index = self.cursor;
        let entry = *self.entries.get(index as usize)?;
        if *self.scripts[self.current].log[index as usize].label != *label {
            return None;
        }
        if entry.released == NEVER {
            self.cursor += 1;
            return Some(self.overflow(size_bytes, index));
        }
        if entry.released != self.released {
            return None;
        }
        self.cursor += 1;
        if size_bytes <= entry.size_bytes {
            if size_bytes == 0 {
                // What has no bytes lives nowhere.
                self.elsewhere.push((index, 0));
            }
            self.departures.smaller += 1;
            return Some(Made { place: entry.place, turn: entry.turn });
        }
        self.departures.overflowed += 1;
        self.departures.overflowed_bytes += size_bytes;
        self.elsewhere.push((index, size_bytes));
        Some(self.overflow(size_bytes, index))
    }

    fn overflow(&mut self, size_bytes: u64, index: u32) -> Made {
        let (region, taken) = self.regions.take(size_bytes);
        Made { place: Place::overflow(region, taken.offset_bytes), turn: Turn::overflow(index, taken.node) }
    }

    /// From here on every place is checked: writes down what the iteration did so far, and what lives.
    fn leave_script(&mut self) {
        self.departures.reordered = true;
        if !self.paused {
            self.parked = std::mem::take(&mut self.entries);
        }
        self.on_script = None;
        self.mode = Mode::Loose;
        self.loose.restart(self.cursor as usize);
        let mut moved = self.elsewhere.drain(..).peekable();
        let script = &self.scripts[self.current];
        for (i, entry) in self.parked.iter().enumerate().take(self.cursor as usize) {
            let Logged { label, mut size_bytes, .. } = script.log[i].clone();
            let elsewhere = moved.next_if(|(index, _)| *index as usize == i);
            size_bytes = elsewhere.map_or(size_bytes, |(_, other)| other.max(size_bytes));
            let index = self.loose.note(label, size_bytes);
            if self.done[i] == self.stamp.get() {
                self.loose.log[i].due = entry.turn.due();
            } else if elsewhere.is_none() {
                // Left out of the plan, or in its planned place, where nothing else can be.
                self.loose.occupy(entry, entry.size_bytes, index);
            }
        }
    }

    fn allocate_loose(&mut self, label: &str, size_bytes: u64) -> Made {
        let script = &self.scripts[self.current].log;
        let found = self.loose.follow(label, script);
        let name = found.map_or_else(|| Arc::from(label), |i| script[i].label.clone());
        let index = self.loose.note(name, size_bytes);
        if let Some(i) = found {
            let entry = self.parked[i];
            if self.loose.occupy(&entry, size_bytes, index) {
                return Made { place: entry.place, turn: Turn::planned(index, NEVER) };
            }
            self.departures.overflowed += 1;
        } else {
            self.departures.extra += 1;
        }
        self.departures.overflowed_bytes += size_bytes;
        self.overflow(size_bytes, index)
    }

    /// Takes a block in its parts, in registers: as a whole it would be copied first, also on script.
    #[cold]
    #[inline(never)]
    pub(super) fn release_elsewhere(
        &mut self,
        place: Place,
        size_bytes: u64,
        stamp: NonZeroU64,
        turn: Turn,
    ) -> Result<(), Box<PlanError>> {
        if stamp.get() >> ITERATION_BITS != self.stamp.get() >> ITERATION_BITS {
            return Err(Box::new(PlanError::ForeignBlock { size_bytes }));
        }
        let index = turn.index();
        let running = self.mode != Mode::Idle && stamp == self.stamp && index != NEVER;
        if !place.is_planned() || !running && size_bytes > 0 {
            self.regions.give_back(place, turn.node());
        }
        if !running {
            return Ok(());
        }
        if self.mode == Mode::OnScript {
            let entries = if self.paused { &self.parked } else { &self.entries };
            let due = entries[index as usize].turn.due();
            if due == self.cursor {
                self.done[index as usize] = stamp.get();
                self.released += 1;
            }
            let left_out = due == NEVER;
            if due == self.cursor || left_out {
                return Ok(());
            }
            self.leave_script();
        }
        self.loose.note_release(index);
        if place.is_planned() {
            self.loose.vacate(place, index);
        }
        Ok(())
    }
}
