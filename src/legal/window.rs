//! Which bindings of a dispatch must become one, and the byte windows that are bound in the end.

use std::ops::Range;

/// For each storage binding of a kernel (its inputs, then its output): the binding that stands for it after
/// merging, and whether that one is writable. Pipelines are cached by kernel and partition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    /// `survivor[i]` is the index of the binding that shows binding i; survivors name themselves.
    pub survivor: Vec<usize>,
    /// Whether binding i is declared `read_write`; merged bindings agree.
    pub writable: Vec<bool>,
}

impl Partition {
    /// Indices of the bindings that remain.
    pub fn survivors(&self) -> impl Iterator<Item = usize> + '_ {
        self.survivor.iter().enumerate().filter(|(i, s)| i == *s).map(|(i, _)| i)
    }
}

/// What is bound for one storage binding, and where its tensor starts in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Bytes of the buffer to bind (the survivor's window).
    pub bytes: Range<u64>,
    /// Elements of 4 bytes from the window's start to the tensor's start.
    pub base_len: u32,
}

/// A storage range that a dispatch wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Which buffer; equal numbers mean the same buffer.
    pub buffer: usize,
    /// Bytes of the tensor.
    pub bytes: Range<u64>,
    /// Bytes that must be bound at least: the tensor's own, or more (a whole arena, bound once for all
    /// tensors in it).
    pub window: Range<u64>,
    /// Whether the buffer is bound writable in this dispatch.
    pub writable: bool,
}

/// What windows must respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowLimits {
    /// Multiple that a window's start must be of, bytes.
    pub alignment_bytes: u64,
    /// Largest window, bytes.
    pub max_window_bytes: u64,
    /// Most windows of one dispatch.
    pub max_windows: usize,
}

/// Merges every group of overlapping ranges of one writable buffer into one window, and aligns each
/// window's start down to the device's alignment (the base offset carries the rest). The last binding of a
/// group survives, so that an output stays an output. Aligning down can make windows meet; merging goes on
/// until none does.
///
/// Where there are more windows than slots, the two of one buffer that are cheapest to span are merged as
/// well, as long as the limit on a window's size allows. What cannot be mended so is for [`super::check`]
/// to name.
pub fn windows(wanted: &[Wanted], limits: &WindowLimits) -> (Partition, Vec<Window>) {
    let align = |w: &Wanted| w.window.start / limits.alignment_bytes * limits.alignment_bytes..w.window.end;
    let mut groups =
        Groups { wanted, survivor: (0..wanted.len()).collect(), bytes: wanted.iter().map(align).collect() };
    while let Some((a, b)) = groups.collision() {
        groups.merge(a, b);
    }
    while groups.count() > limits.max_windows {
        let Some((a, b)) = groups.cheapest_pair(limits.max_window_bytes) else { break };
        groups.merge(a, b);
        // The wider window may have swallowed the space between; others may lie there.
        while let Some((a, b)) = groups.collision() {
            groups.merge(a, b);
        }
    }
    let Groups { survivor, bytes, .. } = groups;
    let window = |(w, s): (&Wanted, &usize)| Window {
        bytes: bytes[*s].clone(),
        base_len: u32::try_from((w.bytes.start - bytes[*s].start) / 4).unwrap_or(u32::MAX),
    };
    let windows = wanted.iter().zip(&survivor).map(window).collect();
    (Partition { survivor, writable: wanted.iter().map(|w| w.writable).collect() }, windows)
}

/// Bindings on their way to fewer windows.
struct Groups<'a> {
    wanted: &'a [Wanted],
    /// The group of each binding, named after its last member.
    survivor: Vec<usize>,
    /// Window of each group, by its name.
    bytes: Vec<Range<u64>>,
}

impl Groups<'_> {
    /// Pairs of groups of one buffer.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let names = |i: &usize| self.survivor[*i] == *i;
        let all = (0..self.wanted.len()).filter(names);
        all.flat_map(move |a| (a + 1..self.wanted.len()).filter(names).map(move |b| (a, b)))
            .filter(|(a, b)| self.wanted[*a].buffer == self.wanted[*b].buffer)
    }

    /// Two windows that overlap where one is writable.
    fn collision(&self) -> Option<(usize, usize)> {
        self.pairs().find(|(a, b)| {
            let (x, y) = (&self.bytes[*a], &self.bytes[*b]);
            (self.wanted[*a].writable || self.wanted[*b].writable) && x.start < y.end && y.start < x.end
        })
    }

    /// The two windows of one buffer whose span is smallest, if it is small enough.
    fn cheapest_pair(&self, max_window_bytes: u64) -> Option<(usize, usize)> {
        let span = |(a, b): &(usize, usize)| {
            let (x, y) = (&self.bytes[*a], &self.bytes[*b]);
            x.end.max(y.end) - x.start.min(y.start)
        };
        self.pairs().filter(|pair| span(pair) <= max_window_bytes).min_by_key(span)
    }

    fn count(&self) -> usize {
        self.survivor.iter().enumerate().filter(|(i, s)| i == *s).count()
    }

    /// Puts group `from` into the later group `to`.
    fn merge(&mut self, from: usize, to: usize) {
        self.bytes[to] =
            self.bytes[from].start.min(self.bytes[to].start)..self.bytes[from].end.max(self.bytes[to].end);
        self.survivor.iter_mut().filter(|s| **s == from).for_each(|s| *s = to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: WindowLimits =
        WindowLimits { alignment_bytes: 256, max_window_bytes: 1 << 20, max_windows: 8 };

    fn wanted(ranges: &[(usize, Range<u64>, bool)]) -> Vec<Wanted> {
        let one = |(buffer, bytes, writable): &(usize, Range<u64>, bool)| Wanted {
            buffer: *buffer,
            bytes: bytes.clone(),
            window: bytes.clone(),
            writable: *writable,
        };
        ranges.iter().map(one).collect()
    }

    #[test]
    fn the_same_tensor_twice_becomes_one_binding() {
        let wanted = wanted(&[(0, 256..512, true), (0, 256..512, true), (0, 1024..1280, true)]);
        let (partition, windows) = windows(&wanted, &LIMITS);
        assert_eq!(partition.survivor, [1, 1, 2]);
        assert_eq!(windows[0], Window { bytes: 256..512, base_len: 0 });
        assert_eq!(windows[2].bytes, 1024..1280);
    }

    #[test]
    fn overlapping_views_share_a_window_with_base_offsets() {
        let wanted =
            wanted(&[(0, 0..512, true), (0, 256..768, true), (1, 0..512, false), (1, 0..512, false)]);
        let (partition, windows) = windows(&wanted, &LIMITS);
        assert_eq!(partition.survivor, [1, 1, 2, 3], "read-only ranges may overlap");
        assert_eq!(windows[1], Window { bytes: 0..768, base_len: 64 });
        assert_eq!(windows[0], Window { bytes: 0..768, base_len: 0 });
    }

    #[test]
    fn a_start_finer_than_the_alignment_is_carried_by_the_base_and_may_merge_its_neighbour() {
        let wanted = wanted(&[(0, 0..260, true), (0, 264..520, true)]);
        let (partition, windows) = windows(&wanted, &LIMITS);
        assert_eq!(partition.survivor, [1, 1]);
        assert_eq!(windows[1], Window { bytes: 0..520, base_len: 66 });
    }

    #[test]
    fn merging_is_transitive() {
        let wanted = wanted(&[(0, 0..300, true), (0, 512..900, true), (0, 256..600, true)]);
        let (partition, windows) = windows(&wanted, &WindowLimits { alignment_bytes: 4, ..LIMITS });
        assert_eq!(partition.survivor, [2, 2, 2]);
        assert!(windows.iter().all(|w| w.bytes == (0..900)));
    }

    #[test]
    fn eleven_inputs_fit_ten_slots_by_merging_the_nearest_of_one_buffer() {
        let mut ranges: Vec<_> = (0..11).map(|i| (i, 0..256, false)).collect();
        ranges.push((3, 4096..4352, false));
        ranges.push((4, 512..768, false));
        let limits = WindowLimits { max_windows: 12, ..LIMITS };
        let (partition, windows) = windows(&wanted(&ranges), &limits);
        assert_eq!(partition.survivors().count(), 12);
        assert_eq!(partition.survivor[4], 12, "buffer 4 spans less than buffer 3");
        assert_eq!((windows[4].base_len, windows[12].base_len), (0, 128));
        assert_eq!(windows[12].bytes, 0..768);
    }

    #[test]
    fn a_window_over_the_limit_is_not_made() {
        let ranges = wanted(&[(0, 0..256, false), (0, 4096..4352, false), (1, 0..256, true)]);
        let limits = WindowLimits { max_windows: 2, max_window_bytes: 1024, ..LIMITS };
        let (partition, _) = windows(&ranges, &limits);
        assert_eq!(partition.survivors().count(), 3, "left for the check to name");
    }

    #[test]
    fn a_whole_arena_is_one_window_for_all_its_tensors() {
        let mut ranges = wanted(&[(0, 40..80, true), (0, 100..200, true), (1, 0..64, false)]);
        ranges[..2].iter_mut().for_each(|w| w.window = 0..4096);
        let (partition, windows) = windows(&ranges, &LIMITS);
        assert_eq!(partition.survivor, [1, 1, 2]);
        assert_eq!(windows[0], Window { bytes: 0..4096, base_len: 10 });
        assert_eq!(windows[1], Window { bytes: 0..4096, base_len: 25 });
    }
}
