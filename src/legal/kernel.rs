//! Anybody's kernel made lawful: plain WGSL with one storage binding a tensor, and the places of its tensors.

use super::merge::{MergeError, apply, storage_bindings};
use super::{Access, BoundRange, Partition, Wanted, Window, WindowLimits, windows};
use std::ops::Range;

/// WGSL with one binding a tensor, written without a thought of arenas. All storage bindings are in group 0.
#[derive(Debug, Clone)]
pub struct PlainKernel {
    name: String,
    module: naga::Module,
    /// Binding number, name, and whether the kernel writes it, by binding number.
    storage: Vec<(u32, String, bool)>,
    bases: bool,
}

/// Where a tensor lies that is to be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// Which buffer; equal numbers mean the same buffer.
    pub buffer: usize,
    /// Its bytes.
    pub bytes: Range<u64>,
}

/// A kernel whose bindings break no rule for the operands it was made for.
#[derive(Debug, Clone)]
pub struct LawfulKernel {
    /// The module, for a shader source that takes naga's IR.
    pub module: naga::Module,
    /// Which bindings were merged; a pipeline serves every dispatch of the same kernel and partition.
    pub partition: Partition,
    /// Window of each storage binding, in the order of binding numbers; merged ones share theirs.
    pub windows: Vec<Window>,
    bindings: Vec<(u32, String, usize)>,
}

impl PlainKernel {
    /// Reads a kernel that knows nothing of base offsets: its tensors start where their bindings start.
    ///
    /// # Errors
    /// The text is not WGSL.
    pub fn new(name: &str, wgsl: &str) -> Result<Self, MergeError> {
        let module = super::merge::parse(name, wgsl)?;
        let storage = storage_bindings(&module)
            .into_iter()
            .map(|(binding, handle)| {
                let variable = &module.global_variables[handle];
                let writes = match variable.space {
                    naga::AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
                    _ => false,
                };
                (binding, variable.name.clone().unwrap_or_default(), writes)
            })
            .collect();
        Ok(PlainKernel { name: name.to_owned(), module, storage, bases: false })
    }

    /// Says that the kernel adds a base offset (in elements of 4 bytes) to every index, one for each
    /// storage binding, taken from parameters that the caller fills with [`Window::base_len`].
    pub fn with_bases(mut self) -> Self {
        self.bases = true;
        self
    }

    /// What the kernel would bind as it stands, for [`super::check`].
    pub fn plain_ranges(&self, operands: &[Operand]) -> Vec<BoundRange> {
        let one = |((_, name, writes), operand): (&(u32, String, bool), &Operand)| BoundRange {
            buffer: operand.buffer,
            bytes: operand.bytes.clone(),
            buffer_bytes: None,
            access: if *writes { Access::ReadWrite } else { Access::Read },
            tensor: name.clone(),
        };
        self.storage.iter().zip(operands).map(one).collect()
    }

    /// Makes the kernel lawful for operands given in the order of binding numbers: what shares a buffer
    /// with something written becomes `read_write`, and what would collide becomes one binding.
    ///
    /// # Errors
    /// Another number of operands than storage bindings; merged bindings of different types; or a kernel
    /// without base offsets whose colliding operands are not the very same bytes, which says which two and
    /// why.
    pub fn lawful(&self, operands: &[Operand], limits: &WindowLimits) -> Result<LawfulKernel, MergeError> {
        if operands.len() != self.storage.len() {
            let (found, wanted) = (self.storage.len(), operands.len());
            return Err(MergeError::Count { kernel: self.name.clone(), found, wanted });
        }
        let written = |buffer| {
            self.storage.iter().zip(operands).any(|((_, _, writes), o)| *writes && o.buffer == buffer)
        };
        let want = |o: &Operand| Wanted {
            buffer: o.buffer,
            bytes: o.bytes.clone(),
            window: o.bytes.clone(),
            writable: written(o.buffer),
        };
        let wanted: Vec<Wanted> = operands.iter().map(want).collect();
        // Without bases only equal ranges can merge, so merging to save slots is out of reach.
        let max_windows = if self.bases { limits.max_windows } else { usize::MAX };
        let (partition, windows) = windows(&wanted, &WindowLimits { max_windows, ..*limits });
        if !self.bases {
            self.refuse_bases(operands, &partition, &windows, limits.alignment_bytes)?;
        }
        let module = apply(&self.name, self.module.clone(), &partition)?;
        let bindings =
            self.storage.iter().zip(operands).map(|((b, name, _), o)| (*b, name.clone(), o.buffer)).collect();
        Ok(LawfulKernel { module, partition, windows, bindings })
    }

    /// Says what a kernel without base offsets cannot be given.
    fn refuse_bases(
        &self,
        operands: &[Operand],
        partition: &Partition,
        windows: &[Window],
        alignment_bytes: u64,
    ) -> Result<(), MergeError> {
        for (i, (operand, window)) in operands.iter().zip(windows).enumerate() {
            if operand.bytes == window.bytes {
                continue;
            }
            let name = |i: usize| self.storage[i].1.clone();
            let survivor = partition.survivor[i];
            let partner = (0..operands.len()).find(|j| *j != i && partition.survivor[*j] == survivor);
            return Err(match partner {
                Some(j) => MergeError::NeedsBase {
                    kernel: self.name.clone(),
                    a: name(i),
                    a_bytes: operand.bytes.clone(),
                    b: name(j),
                    b_bytes: operands[j].bytes.clone(),
                },
                None => MergeError::Unaligned {
                    kernel: self.name.clone(),
                    tensor: name(i),
                    offset_bytes: operand.bytes.start,
                    alignment_bytes,
                },
            });
        }
        Ok(())
    }
}

impl LawfulKernel {
    /// What to bind: binding number in group 0, and the range with its access.
    pub fn ranges(&self) -> Vec<(u32, BoundRange)> {
        let one = |i: usize| {
            let (binding, name, buffer) = &self.bindings[i];
            let access = if self.partition.writable[i] { Access::ReadWrite } else { Access::Read };
            let (buffer, bytes) = (*buffer, self.windows[i].bytes.clone());
            (*binding, BoundRange { buffer, bytes, buffer_bytes: None, access, tensor: name.clone() })
        };
        self.partition.survivors().map(one).collect()
    }

    /// The kernel as WGSL, for engines in other places.
    ///
    /// # Errors
    /// naga cannot print the module.
    pub fn wgsl(&self) -> Result<String, MergeError> {
        super::merge::print(&self.module)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: WindowLimits =
        WindowLimits { alignment_bytes: 256, max_window_bytes: 1 << 20, max_windows: 8 };
    const ADD: &str = "
        @group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read> b: array<f32>;
        @group(0) @binding(4) var<storage, read_write> sum: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < arrayLength(&sum) { sum[id.x] = a[id.x] + b[id.x]; }
        }";

    fn at(buffer: usize, bytes: Range<u64>) -> Operand {
        Operand { buffer, bytes }
    }

    #[test]
    fn the_same_operand_twice_in_place_becomes_one_binding() {
        let kernel = PlainKernel::new("add", ADD).unwrap();
        let lawful = kernel.lawful(&[at(0, 256..512), at(0, 256..512), at(0, 256..512)], &LIMITS).unwrap();
        let ranges = lawful.ranges();
        assert_eq!(ranges.len(), 1);
        assert_eq!(
            (ranges[0].0, ranges[0].1.access, ranges[0].1.bytes.clone()),
            (4, Access::ReadWrite, 256..512)
        );
        assert_eq!(lawful.wgsl().unwrap().matches("var<storage").count(), 1);
    }

    #[test]
    fn other_buffers_stay_read_only() {
        let kernel = PlainKernel::new("add", ADD).unwrap();
        let lawful = kernel.lawful(&[at(0, 0..256), at(1, 0..256), at(1, 256..512)], &LIMITS).unwrap();
        let access: Vec<Access> = lawful.ranges().into_iter().map(|(_, r)| r.access).collect();
        assert_eq!(access, [Access::Read, Access::ReadWrite, Access::ReadWrite]);
    }

    #[test]
    fn overlapping_operands_of_a_kernel_without_bases_are_refused_by_name_and_range() {
        let kernel = PlainKernel::new("add", ADD).unwrap();
        let operands = [at(0, 0..512), at(0, 256..768), at(0, 1024..1536)];
        let text = kernel.lawful(&operands, &LIMITS).unwrap_err().to_string();
        for part in ["'add'", "'a'", "'b'", "0..512", "256..768", "base"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(kernel.with_bases().lawful(&operands, &LIMITS).is_ok());
        let finer = [at(0, 0..256), at(1, 0..256), at(2, 64..320)];
        let kernel = PlainKernel::new("add", ADD).unwrap();
        let text = kernel.lawful(&finer, &LIMITS).unwrap_err().to_string();
        assert!(text.contains("'sum'") && text.contains("64") && text.contains("256"), "{text}");
    }
}
