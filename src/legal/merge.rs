//! Rewrites a kernel so that several of its bindings become one: a lawful shader out of a plain one.

use super::Partition;
use naga::{AddressSpace, Expression, Handle, Module, StorageAccess};

/// A kernel that cannot be merged as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// The text is not WGSL.
    #[error("kernel '{kernel}' does not parse: {what}")]
    Parse {
        /// The kernel.
        kernel: String,
        /// naga's diagnosis.
        what: String,
    },
    /// The text does not declare the storage bindings the partition speaks of.
    #[error("kernel '{kernel}' declares {found} storage bindings, the dispatch has {wanted}")]
    Count {
        /// The kernel.
        kernel: String,
        /// Storage bindings in the text.
        found: usize,
        /// Storage bindings of the dispatch.
        wanted: usize,
    },
    /// Two bindings that must become one hold different element types.
    #[error(
        "kernel '{kernel}': '{a_name}' (binding {a}) and '{b_name}' (binding {b}) must become one binding \
         but hold different types; declare both as the same array type (and bitcast), or keep the two in \
         different buffers"
    )]
    Types {
        /// The kernel.
        kernel: String,
        /// The binding that would go.
        a: u32,
        /// Its variable.
        a_name: String,
        /// The binding that would stay.
        b: u32,
        /// Its variable.
        b_name: String,
    },
    /// Two operands overlap without being the same bytes, and the kernel cannot start inside a binding.
    #[error(
        "kernel '{kernel}': '{a}' {a_bytes:?} and '{b}' {b_bytes:?} overlap and must share one \
         binding, but the kernel indexes from its start; add a base offset to its indices, or plan \
         the two apart"
    )]
    NeedsBase {
        /// The kernel.
        kernel: String,
        /// One operand.
        a: String,
        /// Its bytes.
        a_bytes: std::ops::Range<u64>,
        /// The other.
        b: String,
        /// Its bytes.
        b_bytes: std::ops::Range<u64>,
    },
    /// An operand starts where the device cannot bind, and the kernel cannot start inside a binding.
    #[error(
        "kernel '{kernel}': '{tensor}' starts at byte {offset_bytes}, the device binds at multiples of \
         {alignment_bytes}; add a base offset to the kernel's indices, or plan with that alignment"
    )]
    Unaligned {
        /// The kernel.
        kernel: String,
        /// The operand.
        tensor: String,
        /// Its first byte.
        offset_bytes: u64,
        /// What the device asks for.
        alignment_bytes: u64,
    },
    /// What the kernel writes cannot be moved to rows.
    #[error("kernel '{kernel}' cannot write in rows: {what}")]
    Rows {
        /// The kernel.
        kernel: String,
        /// Why.
        what: &'static str,
    },
    /// naga cannot print the module.
    #[error("the merged kernel cannot be written as WGSL: {what}")]
    Print {
        /// naga's words.
        what: String,
    },
}

/// Parses `wgsl` and applies `partition` to its storage bindings, taken in the order of their binding
/// numbers in group 0: access becomes as stated, each merged binding's uses point at its survivor, and what
/// is no longer used disappears. Survivors keep their binding numbers.
///
/// # Errors
/// The text does not parse, declares another number of storage bindings, or merged bindings differ in type.
pub fn merge(kernel: &str, wgsl: &str, partition: &Partition) -> Result<Module, MergeError> {
    apply(kernel, parse(kernel, wgsl)?, partition)
}

/// Reads WGSL.
pub(super) fn parse(kernel: &str, wgsl: &str) -> Result<Module, MergeError> {
    naga::front::wgsl::parse_str(wgsl)
        .map_err(|e| MergeError::Parse { kernel: kernel.to_owned(), what: e.emit_to_string(wgsl) })
}

/// Prints WGSL that any implementation of WebGPU takes.
pub(super) fn print(module: &Module) -> Result<String, MergeError> {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let refused = |what: String| MergeError::Print { what };
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(module)
        .map_err(|e| refused(e.emit_to_string("")))?;
    naga::back::wgsl::write_string(module, &info, naga::back::wgsl::WriterFlags::empty())
        .map_err(|e| refused(e.to_string()))
}

/// Storage bindings of group 0, by binding number.
pub(super) fn storage_bindings(module: &Module) -> Vec<(u32, Handle<naga::GlobalVariable>)> {
    let mut storage: Vec<(u32, Handle<naga::GlobalVariable>)> = module
        .global_variables
        .iter()
        .filter(|(_, v)| matches!(v.space, AddressSpace::Storage { .. }))
        .filter_map(|(handle, v)| v.binding.as_ref().map(|b| (b.binding, handle)))
        .collect();
    storage.sort_unstable_by_key(|(binding, _)| *binding);
    storage
}

/// Applies a partition to a module's storage bindings.
pub(super) fn apply(kernel: &str, mut module: Module, partition: &Partition) -> Result<Module, MergeError> {
    let storage = storage_bindings(&module);
    if storage.len() != partition.survivor.len() {
        let (found, wanted) = (storage.len(), partition.survivor.len());
        return Err(MergeError::Count { kernel: kernel.to_owned(), found, wanted });
    }
    for (i, (binding, handle)) in storage.iter().enumerate() {
        let (other, survivor) = storage[partition.survivor[i]];
        let same = module.global_variables[*handle].ty == module.global_variables[survivor].ty;
        if !same {
            let name = |handle: Handle<_>| module.global_variables[handle].name.clone().unwrap_or_default();
            let (a_name, b_name) = (name(*handle), name(survivor));
            return Err(MergeError::Types {
                kernel: kernel.to_owned(),
                a: *binding,
                a_name,
                b: other,
                b_name,
            });
        }
        let access = match partition.writable[i] {
            true => StorageAccess::LOAD | StorageAccess::STORE,
            false => StorageAccess::LOAD,
        };
        module.global_variables.get_mut(*handle).space = AddressSpace::Storage { access };
    }
    let stands_for = |handle: Handle<naga::GlobalVariable>| {
        let i = storage.iter().position(|(_, h)| *h == handle)?;
        Some(storage[partition.survivor[i]].1)
    };
    let redirect = |function: &mut naga::Function| {
        for (_, expression) in function.expressions.iter_mut() {
            if let Expression::GlobalVariable(handle) = expression
                && let Some(survivor) = stands_for(*handle)
            {
                *handle = survivor;
            }
        }
    };
    module.functions.iter_mut().for_each(|(_, function)| redirect(function));
    module.entry_points.iter_mut().for_each(|entry| redirect(&mut entry.function));
    naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = "
        struct Params { a_base: u32, b_base: u32, out_base: u32, count: u32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read> a: array<f32>;
        @group(0) @binding(2) var<storage, read> b: array<f32>;
        @group(0) @binding(3) var<storage, read_write> out: array<f32>;
        fn first(i: u32) -> f32 { return a[p.a_base + i]; }
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < p.count { out[p.out_base + id.x] = first(id.x) + b[p.b_base + id.x]; }
        }";

    fn text(module: &Module) -> String {
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::empty(),
        );
        let info = validator.validate(module).expect("the merged kernel validates");
        naga::back::wgsl::write_string(module, &info, naga::back::wgsl::WriterFlags::empty()).expect("prints")
    }

    #[test]
    fn three_bindings_become_one_writable_window() {
        let partition = Partition { survivor: vec![2, 2, 2], writable: vec![true; 3] };
        let wgsl = text(&merge("add", ADD, &partition).unwrap());
        assert_eq!(wgsl.matches("var<storage").count(), 1, "{wgsl}");
        assert!(wgsl.contains("@binding(3)") && wgsl.contains("var<storage, read_write>"), "{wgsl}");
    }

    #[test]
    fn access_follows_the_partition_where_nothing_merges() {
        let partition = Partition { survivor: vec![0, 1, 2], writable: vec![true, false, true] };
        let wgsl = text(&merge("add", ADD, &partition).unwrap());
        assert_eq!(wgsl.matches("var<storage, read_write>").count(), 2, "{wgsl}");
        assert_eq!(
            wgsl.matches("var<storage>").count() + wgsl.matches("var<storage, read>").count(),
            1,
            "{wgsl}"
        );
    }

    #[test]
    fn other_types_and_counts_are_refused_by_name() {
        let mixed = ADD
            .replace("b: array<f32>", "b: array<u32>")
            .replace("b[p.b_base + id.x]", "f32(b[p.b_base + id.x])");
        let partition = Partition { survivor: vec![2, 2, 2], writable: vec![true; 3] };
        assert!(matches!(merge("add", &mixed, &partition), Err(MergeError::Types { a: 2, b: 3, .. })));
        let short = Partition { survivor: vec![0], writable: vec![true] };
        assert!(matches!(merge("add", ADD, &short), Err(MergeError::Count { found: 3, wanted: 1, .. })));
        assert!(matches!(merge("add", "nonsense", &partition), Err(MergeError::Parse { .. })));
    }
}
