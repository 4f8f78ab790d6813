//! The rules for the bindings of one dispatch, checked before any driver sees them.

use std::fmt;
use std::ops::Range;

/// How a dispatch uses a bound range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// `var<uniform>`.
    Uniform,
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

/// One binding of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundRange {
    /// Which buffer; equal numbers mean the same buffer.
    pub buffer: usize,
    /// Bytes bound.
    pub bytes: Range<u64>,
    /// Bytes of the whole buffer; where it is not known, no range is refused for reaching past its end.
    pub buffer_bytes: Option<u64>,
    /// How they are used.
    pub access: Access,
    /// The tensor, for the message.
    pub tensor: String,
}

/// What the device allows. All sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindingLimits {
    /// Multiple that the offset of a storage binding must be of.
    pub storage_alignment_bytes: u64,
    /// Multiple that the offset of a uniform binding must be of.
    pub uniform_alignment_bytes: u64,
    /// Largest storage binding.
    pub max_storage_binding_bytes: u64,
    /// Largest uniform binding.
    pub max_uniform_binding_bytes: u64,
    /// Most storage bindings a dispatch may have.
    pub max_storage_bindings: usize,
    /// Largest workgroup count in one dimension.
    pub max_workgroups: u32,
}

/// The rule that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A buffer is read-only (or uniform) and writable in one dispatch.
    WholeBufferUsage,
    /// A writable range overlaps another bound range.
    WritableAliasing,
    /// A binding's offset is not a multiple of the device's alignment.
    OffsetAlignment,
    /// A binding is empty or over the limit, or is a storage binding of no multiple of 4 bytes.
    BindingSize,
    /// A range reaches past the end of its buffer.
    BufferEnd,
    /// More storage bindings than the device has slots.
    BindingCount,
    /// A workgroup count is over the limit.
    DispatchSize,
    /// A copy whose source and destination are one buffer, overlapping or not.
    CopyWithinBuffer,
    /// An offset or the size of a copy is no multiple of 4.
    CopyAlignment,
}

/// A dispatch or a copy that WebGPU refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The dispatch, or the copy.
    pub dispatch: String,
    /// The rule.
    pub rule: Rule,
    /// Tensors and ranges, in words.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} breaks {:?}: {}", self.dispatch, self.rule, self.detail)
    }
}

/// Every rule that a dispatch with these bindings breaks; empty when it is lawful everywhere.
pub fn check(
    dispatch: &str,
    bindings: &[BoundRange],
    workgroups: [u32; 3],
    limits: &BindingLimits,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut broken =
        |rule, detail: String| found.push(Violation { dispatch: dispatch.to_owned(), rule, detail });
    for binding in bindings {
        each(binding, limits, &mut broken);
    }
    for (i, a) in bindings.iter().enumerate() {
        for b in &bindings[i + 1..] {
            pair(a, b, &mut broken);
        }
    }
    let storage = bindings.iter().filter(|b| b.access != Access::Uniform).count();
    if storage > limits.max_storage_bindings {
        broken(
            Rule::BindingCount,
            format!("{storage} storage bindings, the device has {}", limits.max_storage_bindings),
        );
    }
    if let Some(count) = workgroups.iter().find(|n| **n > limits.max_workgroups) {
        broken(
            Rule::DispatchSize,
            format!("{count} workgroups in one dimension, the device allows {}", limits.max_workgroups),
        );
    }
    found
}

fn each(binding: &BoundRange, limits: &BindingLimits, broken: &mut impl FnMut(Rule, String)) {
    let BoundRange { bytes, tensor, .. } = binding;
    let uniform = binding.access == Access::Uniform;
    let (alignment, limit) = match uniform {
        true => (limits.uniform_alignment_bytes, limits.max_uniform_binding_bytes),
        false => (limits.storage_alignment_bytes, limits.max_storage_binding_bytes),
    };
    if bytes.start % alignment != 0 {
        broken(
            Rule::OffsetAlignment,
            format!("'{tensor}' starts at byte {}, not a multiple of {alignment}", bytes.start),
        );
    }
    let size = bytes.end.saturating_sub(bytes.start);
    // Uniform bindings of an odd size are lawful.
    if size == 0 || (!uniform && size % 4 != 0) {
        broken(Rule::BindingSize, format!("'{tensor}' binds {size} bytes, not a positive multiple of 4"));
    }
    if size > limit {
        broken(Rule::BindingSize, format!("'{tensor}' binds {size} bytes, the device binds at most {limit}"));
    }
    past_the_end(tensor, bytes, binding.buffer_bytes, broken);
}

fn past_the_end(
    tensor: &str,
    bytes: &Range<u64>,
    buffer_bytes: Option<u64>,
    broken: &mut impl FnMut(Rule, String),
) {
    if let Some(available) = buffer_bytes.filter(|available| bytes.end > *available) {
        broken(Rule::BufferEnd, format!("'{tensor}' reaches byte {}, its buffer has {available}", bytes.end));
    }
}

fn pair(a: &BoundRange, b: &BoundRange, broken: &mut impl FnMut(Rule, String)) {
    let writable = |x: &BoundRange| x.access == Access::ReadWrite;
    if a.buffer != b.buffer || !(writable(a) || writable(b)) {
        return;
    }
    let both = || {
        format!("'{}' {:?} {:?} and '{}' {:?} {:?}", a.tensor, a.access, a.bytes, b.tensor, b.access, b.bytes)
    };
    if writable(a) != writable(b) {
        broken(Rule::WholeBufferUsage, both());
    }
    if a.bytes.start < b.bytes.end && b.bytes.start < a.bytes.end {
        broken(Rule::WritableAliasing, both());
    }
}

/// One side of a copy between buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyEnd {
    /// Which buffer; equal numbers mean the same buffer.
    pub buffer: usize,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes of the whole buffer, where known.
    pub buffer_bytes: Option<u64>,
    /// The tensor, for the message.
    pub tensor: String,
}

/// Every rule that a copy of `size_bytes` between buffers breaks; empty when it is lawful. A copy of no bytes
/// between two buffers is.
pub fn check_copy(copy: &str, from: &CopyEnd, to: &CopyEnd, size_bytes: u64) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut broken = |rule, detail: String| found.push(Violation { dispatch: copy.to_owned(), rule, detail });
    if from.buffer == to.buffer {
        let what =
            format!("'{}' and '{}' lie in one buffer; copy with a kernel instead", from.tensor, to.tensor);
        broken(Rule::CopyWithinBuffer, what);
    }
    for end in [from, to] {
        let (tensor, start) = (&end.tensor, end.offset_bytes);
        if start % 4 != 0 {
            broken(Rule::CopyAlignment, format!("'{tensor}' starts at byte {start}, not a multiple of 4"));
        }
        past_the_end(tensor, &(start..start.saturating_add(size_bytes)), end.buffer_bytes, &mut broken);
    }
    if !size_bytes.is_multiple_of(4) {
        broken(Rule::CopyAlignment, format!("{size_bytes} bytes are copied, not a multiple of 4"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: BindingLimits = BindingLimits {
        storage_alignment_bytes: 256,
        uniform_alignment_bytes: 256,
        max_storage_binding_bytes: 1 << 20,
        max_uniform_binding_bytes: 1 << 16,
        max_storage_bindings: 8,
        max_workgroups: 65_535,
    };

    fn bound(buffer: usize, bytes: Range<u64>, access: Access) -> BoundRange {
        BoundRange { buffer, bytes, buffer_bytes: Some(1 << 22), access, tensor: format!("t{buffer}") }
    }

    fn rules(bindings: &[BoundRange]) -> Vec<Rule> {
        check("d", bindings, [1; 3], &LIMITS).into_iter().map(|v| v.rule).collect()
    }

    #[test]
    fn disjoint_writable_ranges_of_one_buffer_are_lawful() {
        assert_eq!(rules(&[bound(0, 0..256, Access::ReadWrite), bound(0, 256..512, Access::ReadWrite)]), []);
    }

    /// Case 6 of the collected reports: one part read, another written, in one dispatch.
    #[test]
    fn read_and_write_of_one_buffer_names_both_tensors_and_ranges() {
        let mut bindings = [bound(0, 0..256, Access::Read), bound(0, 256..512, Access::ReadWrite)];
        bindings[0].tensor = "weights".into();
        bindings[1].tensor = "result".into();
        let found = check("add", &bindings, [1; 3], &LIMITS);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].rule, Rule::WholeBufferUsage);
        let text = found[0].to_string();
        for part in ["add", "'weights'", "'result'", "0..256", "256..512"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn writable_overlap_is_found_and_read_only_overlap_is_lawful() {
        let a = |access| [bound(0, 0..512, access), bound(0, 256..768, access)];
        assert_eq!(rules(&a(Access::ReadWrite)), [Rule::WritableAliasing]);
        assert_eq!(rules(&a(Access::Read)), []);
    }

    #[test]
    fn alignment_size_count_and_workgroups() {
        assert_eq!(rules(&[bound(0, 4..256, Access::Read)]), [Rule::OffsetAlignment]);
        assert_eq!(rules(&[bound(0, 256..256, Access::Read)]), [Rule::BindingSize]);
        assert_eq!(rules(&[bound(0, 0..1 << 21, Access::Read)]), [Rule::BindingSize]);
        let many: Vec<_> = (0..9).map(|i| bound(i, 0..256, Access::Read)).collect();
        assert_eq!(rules(&many), [Rule::BindingCount]);
        let wide = check("d", &[], [65_536, 1, 1], &LIMITS);
        assert_eq!(wide[0].rule, Rule::DispatchSize);
    }

    #[test]
    fn a_uniform_may_have_an_odd_size_but_not_any_size() {
        assert_eq!(rules(&[bound(0, 0..18, Access::Uniform)]), []);
        assert_eq!(rules(&[bound(0, 0..18, Access::Read)]), [Rule::BindingSize]);
        assert_eq!(rules(&[bound(0, 0..(1 << 16) + 4, Access::Uniform)]), [Rule::BindingSize]);
        let shared = [bound(0, 0..256, Access::Uniform), bound(0, 256..512, Access::ReadWrite)];
        assert_eq!(rules(&shared), [Rule::WholeBufferUsage]);
    }

    #[test]
    fn a_range_past_the_end_is_found_where_the_size_is_known() {
        let mut one = bound(0, 0..512, Access::Read);
        one.buffer_bytes = Some(511);
        assert_eq!(rules(std::slice::from_ref(&one)), [Rule::BufferEnd]);
        one.buffer_bytes = None;
        assert_eq!(rules(&[one]), []);
    }

    #[test]
    fn copies() {
        let end = |buffer, offset_bytes| CopyEnd {
            buffer,
            offset_bytes,
            buffer_bytes: Some(1024),
            tensor: format!("t{offset_bytes}"),
        };
        let rules = |from: &CopyEnd, to: &CopyEnd, size| -> Vec<Rule> {
            check_copy("copy", from, to, size).into_iter().map(|v| v.rule).collect()
        };
        assert_eq!(rules(&end(0, 0), &end(1, 512), 512), []);
        assert_eq!(rules(&end(0, 0), &end(1, 0), 0), []);
        assert_eq!(rules(&end(0, 0), &end(0, 512), 512), [Rule::CopyWithinBuffer]);
        assert_eq!(rules(&end(0, 2), &end(1, 0), 4), [Rule::CopyAlignment]);
        assert_eq!(rules(&end(0, 0), &end(1, 0), 6), [Rule::CopyAlignment]);
        assert_eq!(rules(&end(0, 0), &end(1, 516), 512), [Rule::BufferEnd]);
        let text = check_copy("move", &end(0, 0), &end(0, 512), 4)[0].to_string();
        for part in ["move", "'t0'", "'t512'"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
