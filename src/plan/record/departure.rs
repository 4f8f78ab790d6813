//! Allocations and releases that are not what the script says next.

use std::sync::Arc;

use super::block::{Block, PLANNED};
use super::script::{Logged, NEVER};
use super::{ITERATION_BITS, Mode, NO_STAMP, Recorder};
use crate::plan::PlanError;

impl Recorder {
    #[cold]
    pub(super) fn allocate_elsewhere(&mut self, label: &str, size_bytes: u64) -> Result<Block, PlanError> {
        let limit_bytes = self.regions.max_bytes();
        if size_bytes > limit_bytes {
            let tensor = label.to_owned();
            return Err(PlanError::OverBuffer { tensor, needed_bytes: size_bytes, limit_bytes });
        }
        if self.paused || self.mode == Mode::Idle {
            self.totals.outside += 1;
            return Ok(self.overflow(size_bytes, NEVER, NEVER));
        }
        if self.mode == Mode::OnScript {
            if let Some(block) = self.other_size(label, size_bytes) {
                return Ok(block);
            }
            self.leave_script();
        }
        Ok(self.allocate_loose(label, size_bytes))
    }

    /// The next allocation of the script, but for its size; or one that the plan leaves out.
    fn other_size(&mut self, label: &str, size_bytes: u64) -> Option<Block> {
        let entry = *self.entries.get(self.cursor as usize)?;
        let index = self.cursor;
        if *self.scripts[self.current].log[index as usize].label != *label {
            return None;
        }
        if entry.released == NEVER {
            self.cursor += 1;
            return Some(self.overflow(size_bytes, index, NEVER));
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
            return Some(Block {
                offset_bytes: entry.offset_bytes,
                size_bytes,
                stamp: self.stamp,
                region: entry.region,
                node: PLANNED,
                index,
                due: entry.due,
            });
        }
        self.departures.overflowed += 1;
        self.departures.overflowed_bytes += size_bytes;
        self.elsewhere.push((index, size_bytes));
        Some(self.overflow(size_bytes, index, entry.due))
    }

    fn overflow(&mut self, size_bytes: u64, index: u32, due: u32) -> Block {
        let (region, taken) = self.regions.take(size_bytes);
        let (offset_bytes, node) = (taken.offset_bytes, taken.node);
        Block { offset_bytes, size_bytes, stamp: self.stamp, region: region as u32, node, index, due }
    }

    /// From here on every place is checked: writes down what the iteration did so far, and what lives.
    fn leave_script(&mut self) {
        self.departures.reordered = true;
        if !self.paused {
            self.parked = std::mem::take(&mut self.entries);
        }
        self.on_script = NO_STAMP;
        self.mode = Mode::Loose;
        self.loose.restart(self.cursor as usize);
        let mut moved = self.elsewhere.drain(..).peekable();
        let script = &self.scripts[self.current];
        for (i, entry) in self.parked.iter().enumerate().take(self.cursor as usize) {
            let Logged { label, mut size_bytes, .. } = script.log[i].clone();
            let elsewhere = moved.next_if(|(index, _)| *index as usize == i);
            size_bytes = elsewhere.map_or(size_bytes, |(_, other)| other.max(size_bytes));
            let index = self.loose.note(label, size_bytes);
            if self.done[i] == self.stamp {
                self.loose.log[i].due = entry.due;
            } else if elsewhere.is_none() {
                // Left out of the plan or in its planned place, where nothing else can be: the plan is valid.
                self.loose.occupy(entry, entry.size_bytes, index);
            }
        }
    }

    fn allocate_loose(&mut self, label: &str, size_bytes: u64) -> Block {
        let script = &self.scripts[self.current].log;
        let found = self.loose.follow(label, script);
        let name = found.map_or_else(|| Arc::from(label), |i| script[i].label.clone());
        let index = self.loose.note(name, size_bytes);
        if let Some(i) = found {
            let entry = self.parked[i];
            if self.loose.occupy(&entry, size_bytes, index) {
                return Block {
                    offset_bytes: entry.offset_bytes,
                    size_bytes,
                    stamp: self.stamp,
                    region: entry.region,
                    node: PLANNED,
                    index,
                    due: NEVER,
                };
            }
            self.departures.overflowed += 1;
        } else {
            self.departures.extra += 1;
        }
        self.departures.overflowed_bytes += size_bytes;
        self.overflow(size_bytes, index, NEVER)
    }

    #[cold]
    pub(super) fn release_elsewhere(&mut self, block: Block) -> Result<(), PlanError> {
        if block.stamp >> ITERATION_BITS != self.stamp >> ITERATION_BITS {
            return Err(PlanError::ForeignBlock { size_bytes: block.size_bytes });
        }
        let running = self.mode != Mode::Idle && block.stamp == self.stamp && block.index != NEVER;
        let outlived = block.node == PLANNED && !running && block.size_bytes > 0;
        if block.node != PLANNED || outlived {
            self.regions.give_back(block.region as usize, block.node);
        }
        if !running {
            return Ok(());
        }
        if self.mode == Mode::OnScript {
            if block.due == self.cursor {
                self.done[block.index as usize] = block.stamp;
                self.released += 1;
                return Ok(());
            }
            let left_out = block.due == NEVER;
            if left_out {
                return Ok(());
            }
            self.leave_script();
        }
        self.loose.note_release(block.index);
        if block.node == PLANNED {
            self.loose.vacate(block.region, block.offset_bytes, block.index);
        }
        Ok(())
    }
}
