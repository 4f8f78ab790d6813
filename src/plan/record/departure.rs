//! Allocations and releases that are not what the script says next.

use std::sync::Arc;

use super::block::{Extent, Place, Ticket};
use super::script::{Entry, Logged, NEVER};
use super::{Made, Mode, Recorder, TOO_MANY_REGIONS};
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
            let outside = Ticket::new(self.next.recorder());
            self.overflow(size_bytes, outside)
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
            return Some(self.overflow(size_bytes, self.ticket(index)));
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
            return Some(self.planned(&entry, size_bytes, index));
        }
        self.departures.overflowed += 1;
        self.departures.overflowed_bytes += size_bytes;
        self.elsewhere.push((index, size_bytes));
        Some(self.overflow(size_bytes, self.ticket(index)))
    }

    /// The ticket of an allocation of this iteration.
    fn ticket(&self, index: u32) -> Ticket {
        self.next.after(u64::from(index))
    }

    fn planned(&self, entry: &Entry, size_bytes: u64, index: u32) -> Made {
        Made { place: entry.place, size: Extent::planned(size_bytes), ticket: self.ticket(index) }
    }

    fn overflow(&mut self, size_bytes: u64, ticket: Ticket) -> Made {
        let (region, taken) = self.regions.take(size_bytes);
        Made {
            place: Place::overflow(region, taken.offset_bytes, taken.node),
            size: Extent::overflow(size_bytes, taken.node),
            ticket: ticket.in_overflow(),
        }
    }

    /// From here on every place is checked: writes down what the iteration did so far, and what lives.
    fn leave_script(&mut self) {
        self.departures.reordered = true;
        if !self.paused {
            self.park();
        }
        self.mode = Mode::Loose;
        self.loose.restart(self.cursor as usize);
        let mut moved = self.elsewhere.drain(..).peekable();
        let script = &self.scripts[self.current];
        for (i, entry) in self.parked.0.iter().enumerate().take(self.cursor as usize) {
            let Logged { label, mut size_bytes, .. } = script.log[i].clone();
            let elsewhere = moved.next_if(|(index, _)| *index as usize == i);
            size_bytes = elsewhere.map_or(size_bytes, |(_, other)| other.max(size_bytes));
            let index = self.loose.note(label, size_bytes);
            if script.release_of[i] < self.released {
                // A release that came early was let pass until now.
                self.loose.log[i].due = script.log[i].due.min(self.cursor);
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
            let entry = self.parked.0[i];
            if self.loose.occupy(&entry, size_bytes, index) {
                return self.planned(&entry, size_bytes, index);
            }
            self.departures.overflowed += 1;
        } else {
            self.departures.extra += 1;
        }
        self.departures.overflowed_bytes += size_bytes;
        self.overflow(size_bytes, self.ticket(index))
    }

    /// Takes a block in its parts, in registers: as a whole it would be copied first, also on script.
    #[cold]
    #[inline(never)]
    pub(super) fn release_elsewhere(
        &mut self,
        place: Place,
        size: Extent,
        ticket: Ticket,
    ) -> Result<(), Box<PlanError>> {
        let size_bytes = size.bytes();
        let recorder = ticket.recorder();
        if recorder != self.next.recorder() && !self.former.contains(&recorder) {
            return Err(Box::new(PlanError::ForeignBlock { size_bytes }));
        }
        let made = match self.mode {
            Mode::Idle => 0,
            Mode::OnScript => u64::from(self.cursor),
            Mode::Loose => self.loose.log.len() as u64,
        };
        let behind = ticket.serial().checked_sub(self.next.serial()).filter(|behind| *behind < made);
        let of_this = behind.filter(|_| recorder == self.next.recorder());
        if !ticket.is_planned() || of_this.is_none() && size_bytes > 0 {
            self.regions.give_back(place.region(), size.node(place));
        }
        let Some(index) = of_this.map(|index| index as u32) else { return Ok(()) };
        if self.mode == Mode::OnScript {
            let script = &mut self.scripts[self.current];
            match script.log[index as usize].due {
                // Left out of the plan.
                NEVER => return Ok(()),
                due if due == self.cursor => {
                    let releases = if self.paused { &mut self.parked.1 } else { &mut self.releases };
                    script.release_next(releases, self.released, index);
                    self.released += 1;
                    return Ok(());
                }
                _ => {}
            }
            self.leave_script();
        }
        self.loose.note_release(index);
        if ticket.is_planned() {
            self.loose.vacate(place, index);
        }
        Ok(())
    }
}
