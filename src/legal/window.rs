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

/// A storage range that a dispatch wants: buffer, bytes, and whether the buffer is bound writable in this
/// dispatch.
pub type Wanted = (usize, Range<u64>, bool);

/// Merges every group of overlapping ranges of one writable buffer into one window, and aligns each
/// window's start down to the device's alignment (the base offset carries the rest). The last binding of a
/// group survives, so that an output stays an output. Aligning down can make windows meet; merging goes on
/// until none does.
pub fn windows(wanted: &[Wanted], alignment_bytes: u64) -> (Partition, Vec<Window>) {
    let count = wanted.len();
    let mut survivor: Vec<usize> = (0..count).collect();
    let mut bytes: Vec<Range<u64>> = wanted
        .iter()
        .map(|(_, range, _)| range.start / alignment_bytes * alignment_bytes..range.end)
        .collect();
    loop {
        let mut merged = false;
        for a in 0..count {
            for b in a + 1..count {
                let (from, to) = (survivor[a], survivor[b]);
                let collide = wanted[a].0 == wanted[b].0
                    && (wanted[a].2 || wanted[b].2)
                    && bytes[from].start < bytes[to].end
                    && bytes[to].start < bytes[from].end;
                if from == to || !collide {
                    continue;
                }
                let (from, to) = (from.min(to), from.max(to));
                bytes[to] = bytes[from].start.min(bytes[to].start)..bytes[from].end.max(bytes[to].end);
                survivor.iter_mut().filter(|s| **s == from).for_each(|s| *s = to);
                merged = true;
            }
        }
        if !merged {
            break;
        }
    }
    let windows = wanted.iter().zip(&survivor).map(|((_, range, _), s)| Window {
        bytes: bytes[*s].clone(),
        base_len: u32::try_from((range.start - bytes[*s].start) / 4)
            .expect("a binding holds fewer than 2^32 elements"),
    });
    let windows = windows.collect();
    (Partition { survivor, writable: wanted.iter().map(|w| w.2).collect() }, windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_tensor_twice_becomes_one_binding() {
        let wanted = [(0, 256..512, true), (0, 256..512, true), (0, 1024..1280, true)];
        let (partition, windows) = windows(&wanted, 256);
        assert_eq!(partition.survivor, [1, 1, 2]);
        assert_eq!(windows[0], Window { bytes: 256..512, base_len: 0 });
        assert_eq!(windows[2].bytes, 1024..1280);
    }

    #[test]
    fn overlapping_views_share_a_window_with_base_offsets() {
        let wanted = [(0, 0..512, true), (0, 256..768, true), (1, 0..512, false), (1, 0..512, false)];
        let (partition, windows) = windows(&wanted, 256);
        assert_eq!(partition.survivor, [1, 1, 2, 3], "read-only ranges may overlap");
        assert_eq!(windows[1], Window { bytes: 0..768, base_len: 64 });
        assert_eq!(windows[0], Window { bytes: 0..768, base_len: 0 });
    }

    #[test]
    fn a_start_finer_than_the_alignment_is_carried_by_the_base_and_may_merge_its_neighbour() {
        let wanted = [(0, 0..260, true), (0, 264..520, true)];
        let (partition, windows) = windows(&wanted, 256);
        assert_eq!(partition.survivor, [1, 1]);
        assert_eq!(windows[1], Window { bytes: 0..520, base_len: 66 });
    }

    #[test]
    fn merging_is_transitive() {
        let wanted = [(0, 0..300, true), (0, 512..900, true), (0, 256..600, true)];
        let (partition, windows) = windows(&wanted, 4);
        assert_eq!(partition.survivor, [2, 2, 2]);
        assert!(windows.iter().all(|w| w.bytes == (0..900)));
    }
}
