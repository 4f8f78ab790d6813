//! Usage records as a stream of allocations and releases.

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The tensor of that number is allocated.
    Allocate(u32),
    /// It is released.
    Release(u32),
}

/// A stream in step order: at each step first what died before it is released, then what it uses first is
/// allocated.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Bytes of every tensor.
    pub sizes: Vec<u64>,
    /// What happens, in order.
    pub events: Vec<Event>,
}

impl Trace {
    /// The stream of records (bytes, first step, last step).
    pub fn new(records: &[(u64, u32, u32)]) -> Self {
        // Releases of a step come before its allocations, and a tensor is released at the step after its
        // last.
        let mut events: Vec<(u64, bool, u32)> = Vec::with_capacity(2 * records.len());
        for (i, (_, first, last)) in records.iter().enumerate() {
            events.push((u64::from(*first), true, i as u32));
            events.push((u64::from(*last) + 1, false, i as u32));
        }
        events.sort_unstable();
        let event = |(_, is_birth, tensor): &(u64, bool, u32)| match is_birth {
            true => Event::Allocate(*tensor),
            false => Event::Release(*tensor),
        };
        Trace {
            sizes: records.iter().map(|(size, ..)| *size).collect(),
            events: events.iter().map(event).collect(),
        }
    }

    /// The same with other sizes: `percent` of them, evenly spread, up to a quarter larger.
    pub fn with_larger(&self, percent: u64) -> Self {
        let chosen = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let larger = |(i, size): (usize, &u64)| match chosen(i) % 100 < percent {
            true => size + size / 4 * (chosen(i) / 100 % 100) / 100 + 1,
            false => *size,
        };
        Trace { sizes: self.sizes.iter().enumerate().map(larger).collect(), events: self.events.clone() }
    }

    /// Most live bytes, with sizes rounded up to `unit_bytes`.
    pub fn load_bytes(&self, unit_bytes: u64) -> u64 {
        let (mut live, mut most) = (0u64, 0);
        for event in &self.events {
            match event {
                Event::Allocate(i) => live += self.sizes[*i as usize].next_multiple_of(unit_bytes),
                Event::Release(i) => live -= self.sizes[*i as usize].next_multiple_of(unit_bytes),
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
        let expected = [Allocate(0), Allocate(1), Release(0), Allocate(2), Release(1), Release(2)];
        assert_eq!((trace.events.as_slice(), trace.load_bytes(1)), (expected.as_slice(), 50));
        assert_eq!(trace.load_bytes(16), 64);
        let larger = Trace::new(&[(1000, 0, 1); 1000]).with_larger(10);
        let changed = larger.sizes.iter().filter(|size| **size > 1000).count();
        assert!((80..120).contains(&changed) && larger.sizes.iter().all(|s| *s <= 1250), "{changed}");
    }
}
