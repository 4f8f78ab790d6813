//! One kernel = one shader file = one registry row = one twin; and every shader keeps the contract of its
//! row.

use std::collections::BTreeSet;
use std::path::Path;
use sublet::kernel::KernelId;

/// Names of the files in a folder with that extension, without it.
fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(&folder).expect("folder exists").map(|f| f.expect("readable").path());
    files
        .filter(|f| f.extension().is_some_and(|e| e == extension))
        .map(|f| f.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect()
}

#[test]
fn every_shader_has_a_row_and_a_twin() {
    let rows: BTreeSet<String> = KernelId::ALL.iter().map(|id| id.kernel().name.to_owned()).collect();
    assert_eq!(rows.len(), KernelId::ALL.len(), "two rows share a name");
    assert_eq!(rows, stems("shaders", "wgsl"), "rows (left) and shaders/ (right)");
    let twins = stems("src/kernel/cpu", "rs");
    let missing: Vec<_> = rows.difference(&twins).collect();
    assert!(missing.is_empty(), "no twin for {missing:?}");
    for twin in twins.difference(&rows) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/kernel/cpu/{twin}.rs"));
        let text = std::fs::read_to_string(path).expect("readable");
        assert!(!text.starts_with("//! Twin of"), "{twin}.rs is a twin of no shader");
    }
}

#[test]
fn rows_are_their_own() {
    for id in KernelId::ALL {
        let kernel = id.kernel();
        assert_eq!(kernel.id, *id);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("shaders/{}.wgsl", kernel.name));
        assert_eq!(kernel.wgsl, std::fs::read_to_string(path).expect("readable"), "{}", kernel.name);
        assert!(kernel.tolerance.relative >= 0.0 && kernel.tolerance.relative < 1e-3, "{}", kernel.name);
        assert!(kernel.tolerance.absolute >= 0.0 && kernel.tolerance.absolute < 1e-3, "{}", kernel.name);
    }
}

#[test]
fn every_shader_says_what_it_is() {
    for id in KernelId::ALL {
        let kernel = id.kernel();
        let header: Vec<&str> = kernel.wgsl.lines().take_while(|line| line.starts_with("//")).collect();
        for word in ["Bindings:", "Dispatch:"] {
            assert!(header.iter().any(|line| line.contains(word)), "{}: header lacks {word}", kernel.name);
        }
        let longest = kernel.wgsl.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(120), "{}: a line of {longest:?} characters", kernel.name);
    }
}

#[cfg(feature = "legal")]
mod wgsl {
    use naga::{AddressSpace, ArraySize, Module, Scalar, StorageAccess, TypeInner};
    use sublet::kernel::{Kernel, KernelId};

    fn parse(kernel: &Kernel) -> Module {
        let module = naga::front::wgsl::parse_str(kernel.wgsl)
            .unwrap_or_else(|e| panic!("{}: {}", kernel.name, e.emit_to_string(kernel.wgsl)));
        let flags = naga::valid::ValidationFlags::all();
        naga::valid::Validator::new(flags, naga::valid::Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|e| panic!("{}: {}", kernel.name, e.emit_to_string(kernel.wgsl)));
        module
    }

    #[test]
    fn shaders_are_valid_and_within_default_limits() {
        for id in KernelId::ALL {
            let kernel = id.kernel();
            let module = parse(kernel);
            assert_eq!(module.entry_points.len(), 1, "{}", kernel.name);
            let entry = &module.entry_points[0];
            assert_eq!(entry.name, "main", "{}", kernel.name);
            assert!(entry.workgroup_size.iter().product::<u32>() <= 256, "{}", kernel.name);
            let shared: u32 = (module.global_variables.iter())
                .filter(|(_, v)| v.space == AddressSpace::WorkGroup)
                .map(|(_, v)| module.types[v.ty].inner.size(module.to_ctx()).next_multiple_of(16))
                .sum();
            assert!(shared <= 16 << 10, "{}: {shared} bytes of workgroup memory", kernel.name);
        }
    }

    /// Name and space of every binding, in order; all are in group 0 and numbered from 0.
    fn bindings<'a>(kernel: &Kernel, module: &'a Module) -> Vec<(&'a str, AddressSpace)> {
        let mut found = Vec::new();
        let mut element = None;
        for (_, variable) in module.global_variables.iter() {
            let Some(binding) = &variable.binding else { continue };
            assert_eq!(binding.group, 0, "{}", kernel.name);
            let name = variable.name.as_deref().expect("globals are named");
            found.push((binding.binding, name, variable.space));
            if variable.space != AddressSpace::Uniform {
                // Bindings are merged into one, which can only be of one type.
                let scalar = plain_array(module, variable.ty);
                assert!(scalar.is_some(), "{}: {name} is no array of words", kernel.name);
                assert_eq!(*element.get_or_insert(scalar), scalar, "{}: {name}", kernel.name);
            }
        }
        found.sort_by_key(|(binding, ..)| *binding);
        for (i, (binding, ..)) in found.iter().enumerate() {
            assert_eq!(*binding as usize, i, "{}", kernel.name);
        }
        found.into_iter().map(|(_, name, space)| (name, space)).collect()
    }

    #[test]
    fn bindings_are_as_the_rows_say() {
        for id in KernelId::ALL {
            let kernel = id.kernel();
            let module = parse(kernel);
            let found = bindings(kernel, &module);
            let mut expected = vec![("p", AddressSpace::Uniform)];
            let read = AddressSpace::Storage { access: StorageAccess::LOAD };
            expected.extend(kernel.inputs.iter().map(|name| (*name, read)));
            // A row leaves the output's name to the shader.
            let (output, rest) = found.split_last().expect("an output");
            assert_eq!(rest, expected, "{}", kernel.name);
            let access = StorageAccess::LOAD | StorageAccess::STORE;
            assert_eq!(output.1, AddressSpace::Storage { access }, "{}", kernel.name);
        }
    }

    /// The element of an unsized array of floats or words.
    fn plain_array(module: &Module, ty: naga::Handle<naga::Type>) -> Option<Scalar> {
        let TypeInner::Array { base, size: ArraySize::Dynamic, .. } = module.types[ty].inner else {
            return None;
        };
        match module.types[base].inner {
            TypeInner::Scalar(scalar) if scalar.width == 4 => Some(scalar),
            _ => None,
        }
    }

    #[test]
    fn parameter_blocks_start_with_the_bases() {
        for id in KernelId::ALL {
            let kernel = id.kernel();
            let module = parse(kernel);
            let (_, variable) = (module.global_variables.iter())
                .find(|(_, v)| v.space == AddressSpace::Uniform)
                .expect("a parameter block");
            let TypeInner::Struct { members, .. } = &module.types[variable.ty].inner else {
                panic!("{}: parameters are no struct", kernel.name)
            };
            let bindings = bindings(kernel, &module);
            for (i, ((name, _), member)) in bindings[1..].iter().zip(members).enumerate() {
                assert_eq!(member.name, Some(format!("{name}_base")), "{}", kernel.name);
                assert_eq!(member.offset, 4 * i as u32, "{}", kernel.name);
                assert_eq!(module.types[member.ty].inner, TypeInner::Scalar(Scalar::U32), "{}", kernel.name);
            }
            assert!(members.len() >= bindings.len(), "{}: a base is missing", kernel.name);
        }
    }

    /// Numbers with the suffix of 32-bit floats.
    fn floats(wgsl: &str) -> Vec<f64> {
        let words = wgsl.split(|c: char| !(c.is_alphanumeric() || c == '.'));
        words.filter_map(|word| word.strip_suffix('f')?.parse().ok()).collect()
    }

    /// naga prints a float in its shortest form. That of the largest one is a little larger than it, and
    /// browsers refuse what no float represents; natively nothing is printed, and nobody notices.
    #[test]
    fn printed_floats_are_in_range() {
        let flags = naga::valid::ValidationFlags::all();
        let mut printed = 0;
        for id in KernelId::ALL {
            let module = parse(id.kernel());
            let info =
                naga::valid::Validator::new(flags, naga::valid::Capabilities::empty()).validate(&module);
            let flags = naga::back::wgsl::WriterFlags::empty();
            let text = naga::back::wgsl::write_string(&module, &info.unwrap(), flags).unwrap();
            for value in floats(&text) {
                assert!(value <= f64::from(f32::MAX), "{}: {value:e}", id.kernel().name);
                printed += 1;
            }
        }
        assert!(printed > 10, "{printed} floats");
        assert!(floats(&format!("-{}f", f32::MAX))[0] > f64::from(f32::MAX), "the control");
    }

    /// What a kernel writes can be moved to rows: the four words follow its block, and it reads nothing that
    /// it wrote but where the lowering says so.
    #[test]
    fn every_kernel_can_write_in_rows_unless_it_reads_what_it_wrote() {
        use naga::Expression::{Access, GlobalVariable, Load};
        let mut reading = Vec::new();
        for id in KernelId::ALL {
            let kernel = id.kernel();
            let module = parse(kernel);
            let count = kernel.inputs.len() + 1;
            let separate = sublet::legal::Partition {
                survivor: (0..count).collect(),
                writable: (0..count).map(|i| i + 1 == count).collect(),
            };
            let moved = sublet::legal::merge_rows(kernel.name, kernel.wgsl, &separate).unwrap();
            let flags = naga::valid::ValidationFlags::all();
            let valid =
                naga::valid::Validator::new(flags, naga::valid::Capabilities::empty()).validate(&moved);
            assert!(valid.is_ok(), "{}: {valid:?}", kernel.name);
            let block = |module: &Module| {
                let block = module.global_variables.iter().find(|(_, v)| v.space == AddressSpace::Uniform);
                let TypeInner::Struct { members, span } = &module.types[block.unwrap().1.ty].inner else {
                    panic!("{}: parameters are no struct", kernel.name)
                };
                (members.last().unwrap().offset, *span)
            };
            let end = block(&module).1.next_multiple_of(16);
            assert_eq!(block(&moved), (end, end + 16), "{}", kernel.name);

            let out = module.global_variables.iter().find(|(_, v)| {
                matches!(v.space, AddressSpace::Storage { access } if access.contains(StorageAccess::STORE))
            });
            let out = out.unwrap().0;
            let functions = module.functions.iter().map(|(_, f)| f);
            let reads = functions.chain(module.entry_points.iter().map(|e| &e.function)).any(|f| {
                f.expressions.iter().any(|(_, expression)| {
                    let Load { pointer } = expression else { return false };
                    let Access { base, .. } = f.expressions[*pointer] else { return false };
                    f.expressions[base] == GlobalVariable(out)
                })
            });
            if reads {
                reading.push(*id);
            }
        }
        use KernelId::{Matmul, Matvec, ScatterElements, ScatterNd, Softmax};
        assert_eq!(reading, [Matmul, Matvec, Softmax, ScatterNd, ScatterElements]);
    }
}
