//! Usage records as a stream of allocations and releases.

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// That many bytes are allocated, and what stands for them is put into the slot.
    Allocate(u32, u64),
    /// What the slot holds is released.
    Release(u32),
}

/// A stream in step order: at each step first what died before it is released, then what it uses first is
/// allocated.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Tensors: allocations, and as many releases.
    pub pairs: usize,
    /// Slots of the engine: one for each tensor that lives, used again when it is released.
    pub slots: usize,
    /// What happens, in order.
    pub events: Vec<Event>,
    records: Vec<(u64, u32, u32)>,
}

impl Trace {
    /// The stream of records (bytes, first step, last step).
    pub fn new(records: &[(u64, u32, u32)]) -> Self {
        // Releases of a step come before its allocations, and a tensor is released at the step after its
        // last.
        let mut order: Vec<(u64, bool, u32)> = Vec::with_capacity(2 * records.len());
        for (i, (_, first, last)) in records.iter().enumerate() {
            order.push((u64::from(*first), true, i as u32));
            order.push((u64::from(*last) + 1, false, i as u32));
        }
        order.sort_unstable();
        let (mut free, mut slots, mut slot_of) = (Vec::new(), 0u32, vec![0; records.len()]);
        let event = |(_, is_birth, tensor): &(u64, bool, u32)| {
            let slot: &mut u32 = &mut slot_of[*tensor as usize];
            if !is_birth {
                free.push(*slot);
                return Event::Release(*slot);
            }
            *slot = free.pop().unwrap_or_else(|| {
                slots += 1;
                slots - 1
            });
            Event::Allocate(*slot, records[*tensor as usize].0)
        };
        let events = order.iter().map(event).collect();
        Trace { pairs: records.len(), slots: slots as usize, events, records: records.to_vec() }
    }

    /// A place for each slot.
    pub fn hands<T>(&self) -> Vec<Option<T>> {
        (0..self.slots).map(|_| None).collect()
    }

    /// The same with other sizes: `percent` of them, evenly spread, up to a quarter larger.
    pub fn with_larger(&self, percent: u64) -> Self {
        let chosen = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let larger = |(i, (size, first, last)): (usize, &(u64, u32, u32))| match chosen(i) % 100 < percent {
            true => (size + size / 4 * (chosen(i) / 100 % 100) / 100 + 1, *first, *last),
            false => (*size, *first, *last),
        };
        Trace::new(&self.records.iter().enumerate().map(larger).collect::<Vec<_>>())
    }

    /// Most live bytes, with sizes rounded up to `unit_bytes`.
    pub fn load_bytes(&self, unit_bytes: u64) -> u64 {
        let (mut live, mut most) = (0u64, 0);
        let mut sizes = vec![0; self.slots];
        for event in &self.events {
            match event {
                Event::Allocate(slot, size) => {
                    sizes[*slot as usize] = size.next_multiple_of(unit_bytes);
                    live += sizes[*slot as usize];
                }
                Event::Release(slot) => live -= sizes[*slot as usize],
            }
            most = most.max(live);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::{Event::*, Trace};

    #[test]
    fn records_become_a_stream() {
        let trace = Trace::new(&[(10, 0, 1), (20, 1, 2), (30, 2, 2)]);
        let expected =
            [Allocate(0, 10), Allocate(1, 20), Release(0), Allocate(0, 30), Release(1), Release(0)];
        assert_eq!((trace.events.as_slice(), trace.load_bytes(1)), (expected.as_slice(), 50));
        assert_eq!((trace.load_bytes(16), trace.pairs, trace.slots), (64, 3, 2));
        let larger = Trace::new(&[(1000, 0, 1); 1000]).with_larger(10);
        let sizes = larger.events.iter().filter_map(|event| match event {
            Allocate(_, size) => Some(*size),
            Release(_) => None,
        });
        let changed = sizes.clone().filter(|size| *size > 1000).count();
        assert!((80..120).contains(&changed) && sizes.clone().all(|s| s <= 1250), "{changed}");
        assert_eq!((sizes.count(), larger.slots), (1000, 1000));
    }
}
